internal import Accounts
internal import AppleID
internal import AuthFunction
internal import JOSE

/// Does at Apple what is left to do after an answer, with a line of the log for each.
struct Errands {
    private let exchange: AppleCodeExchange
    private let revocations: AppleRevocations
    private let cryptography: any Cryptography

    /// So many old entries of the outbox are carried out on the way: Apple answers just now.
    private static let entriesOnTheWay = 3

    init(
        _ api: AppleAPI, configuration: Configuration, store: any AppleGrantRepository, appleKeys: any AppleKeySource,
        cryptography: any Cryptography
    ) {
        exchange = AppleCodeExchange(
            server: api.server, sealing: api.sealing, grants: store,
            verifier: AppleTokenVerifier(policy: configuration.policy, cryptography: cryptography),
            appleKeys: appleKeys)
        revocations = AppleRevocations(server: api.server, sealing: api.sealing, grants: store)
        self.cryptography = cryptography
    }

    func carryOut(_ errands: [Errand]) {
        for errand in errands {
            switch errand {
            case .exchange(let code): exchange(code)
            case .revoke: revoke()
            }
        }
    }

    private func exchange(_ code: AuthorizationCode) {
        do throws(CodeExchangeFailure) {
            try exchange(code, at: System.now())
            log(of: code, "kept")
        } catch {
            log(of: code, error.word, detail: error.detail)
            return
        }
        revoke()
    }

    /// Ends early where the next entry would fail as well.
    private func revoke() {
        for _ in 0..<Self.entriesOnTheWay {
            do throws(StoreError) {
                guard let outcome = try revocations.carryOutNext(at: System.now()) else { return }
                Report.logRevocation(outcome)
                if outcome.failure?.concernsAll == true { return }
            } catch {
                return Report.logOutbox(error)
            }
        }
    }

    private func log(of code: AuthorizationCode, _ word: String, detail: String? = nil) {
        Report.logExchange(
            subjectHash: LogLine.subjectHash(of: code.subject, using: cryptography), clientID: code.clientID, word,
            detail: detail)
    }
}

extension Report {
    /// What became of a code, after the answer. `sub_hash` is that of the request's own line.
    fileprivate static func logExchange(subjectHash: String, clientID: String, _ word: String, detail: String?) {
        var line: JSON.Object = [
            "time": .string(System.now().rfc3339), "outcome": "apple_exchange", "reason": .string(word),
        ]
        if let detail { line["detail"] = .string(detail) }
        line["client_id"] = .string(clientID)
        line["sub_hash"] = .string(subjectHash)
        Descriptor.printError(JSON.object(line).text)
    }

    /// What became of an entry of the outbox.
    static func logRevocation(_ outcome: AppleRevocations.Outcome) {
        let revocation = outcome.revocation
        var line: JSON.Object = [
            "time": .string(System.now().rfc3339), "outcome": "apple_revoke",
            "reason": .string(outcome.failure?.word ?? "revoked"),
        ]
        if let detail = outcome.failure?.detail { line["detail"] = .string(detail) }
        if let remedy = outcome.failure?.remedy { line["remedy"] = .string(remedy) }
        line["account"] = .string(revocation.grant.accountID.description)
        line["client_id"] = .string(revocation.grant.clientID)
        line["attempt"] = .integer(Int64(revocation.attempts) + 1)
        Descriptor.printError(JSON.object(line).text)
    }

    /// The outbox could not be read or written.
    static func logOutbox(_ error: StoreError) {
        let detail =
            switch error {
            case .unavailable(let reason), .unusable(let reason): reason
            }
        let line: JSON = [
            "time": .string(System.now().rfc3339), "outcome": "apple_revoke", "reason": "store_unavailable",
            "detail": .string(detail),
        ]
        Descriptor.printError(line.text)
    }
}
