internal import Accounts
internal import AppleID
internal import AuthFunction
internal import JOSE
internal import OpenSSLCrypto
internal import UserStores

/// `auth-apple outbox`: grants of deleted accounts that Apple is still to be told of.
enum OutboxCommand {
    /// Carries out all that is due, for a timer. Ends early when Apple does not answer or does not know us.
    static func run() -> Int32 {
        withAPI { api, store throws(StoreError) in
            let revocations = AppleRevocations(server: api.server, sealing: api.sealing, grants: store)
            var (revoked, failed) = (0, 0)
            while let outcome = try revocations.carryOutNext(at: System.now()) {
                Report.logRevocation(outcome)
                guard let failure = outcome.failure else {
                    revoked += 1
                    continue
                }
                failed += 1
                if failure.concernsAll { break }
            }
            let waiting = try store.revocations(limit: countLimit).count
            Descriptor.print("Revoked \(revoked) at Apple, \(failed) failed; \(count(waiting)) waiting.")
            return failed == 0 ? ExitStatus.success : ExitStatus.tryLater
        }
    }

    /// What waits, without anything that could be presented.
    static func show() -> Int32 {
        StoreCommand.withStore { store throws(StoreError) in
            let waiting = try store.revocations(limit: countLimit)
            guard !waiting.isEmpty else { return "The outbox is empty." }
            let due = waiting.count { $0.isDue(at: System.now()) }
            let oldest = waiting.map(\.grant.obtainedAt).min() ?? System.now()
            let lines = waiting.prefix(linesLimit).map { entry in
                """
                \(entry.grant.accountID)  \(entry.grant.clientID)  tried \(entry.attempts) time(s)  \
                due \(entry.dueAt.rfc3339)  key \(entry.grant.keyID)
                """
            }
            let more = waiting.count > linesLimit ? ["and \(count(waiting.count - linesLimit)) more"] : []
            let head = "\(count(waiting.count)) waiting, \(due) due now; the oldest grant is of \(oldest.rfc3339)."
            return ([head] + lines + more).joined(separator: "\n")
        }
    }

    private static let countLimit = 10_000
    private static let linesLimit = 50

    private static func count(_ number: Int) -> String {
        number == countLimit ? "\(number) or more" : "\(number)"
    }

    /// Needs less than a request does: no audience, and no key of ours.
    private static func withAPI(_ work: (AppleAPI, any UserStore) throws(StoreError) -> Int32) -> Int32 {
        let cryptography = OpenSSLCryptography()
        var reader = ConfigurationReader(environment: System.environment())
        let mode = reader.mode()
        let caBundle = reader.text("CA_BUNDLE")
        let settings = reader.appleServer(mode: mode, using: cryptography, judgedBy: AppleHTTP.fault)
        if settings == nil, reader.environment.problems.isEmpty {
            reader.environment.report(
                "TEAM_ID", "is not set, so that Apple cannot be told",
                remedy:
                    "set AUTH_APPLE_TEAM_ID, AUTH_APPLE_KEY_ID, AUTH_APPLE_PRIVATE_KEY and AUTH_APPLE_ENCRYPTION_KEYS")
        }
        guard let settings, reader.environment.problems.isEmpty else {
            return Report.configuration(reader.environment.problems)
        }
        let http = AppleHTTP(mode: mode, caBundle: caBundle, deadline: Deadline())
        let api = AppleAPI(settings, http: http, cryptography: cryptography)
        return StoreCommand.running { store throws(StoreError) in try work(api, store) }
    }
}
