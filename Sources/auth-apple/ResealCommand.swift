internal import Accounts
internal import AuthFunction
internal import JOSE
internal import OpenSSLCrypto
internal import UserStores

/// `auth-apple keys reseal`: all of Apple's tokens under the first of ENCRYPTION_KEYS, so that the others can be taken away.
enum ResealCommand {
    static func run() -> Int32 {
        var reader = ConfigurationReader(environment: System.environment())
        guard let keys = reader.encryptionKeys(), reader.environment.problems.isEmpty else {
            return Report.configuration(reader.environment.problems)
        }
        let sealing = AppleGrantSealing(keys: keys, cryptography: OpenSSLCryptography())
        return StoreCommand.running { store throws(StoreError) in
            var tally = Tally()
            var last: UUIDv7?
            while let page = try store.accounts(after: last, limit: 200).nonEmpty {
                for account in page {
                    for grant in try store.grants(of: account.id) { try reseal(grant, sealing, store, &tally) }
                }
                last = page.last?.id
            }
            for entry in try store.revocations(limit: 1_000_000) { try reseal(entry.grant, sealing, store, &tally) }
            return tally.report(keyID: keys.sealingID)
        }
    }

    private static func reseal(
        _ grant: AppleGrant, _ sealing: AppleGrantSealing, _ store: any UserStore, _ tally: inout Tally
    ) throws(StoreError) {
        let outcome: AppleGrantSealing.Resealing
        do throws(CryptographyError) {
            outcome = try sealing.resealing(grant)
        } catch {
            // The old one stays as it is.
            tally.failed += 1
            return
        }
        switch outcome {
        case .current: tally.current += 1
        case .lost: tally.lost.append(grant)
        case .resealed(let new):
            try store.replace(grant, by: new)
            tally.resealed += 1
        }
    }

    private struct Tally {
        var resealed = 0
        var current = 0
        var failed = 0
        var lost: [AppleGrant] = []

        func report(keyID: String) -> Int32 {
            Descriptor.print("Sealed \(resealed) token(s) anew under \(keyID); \(current) had it already.")
            for grant in lost {
                Descriptor.print(
                    "  \(grant.accountID)  \(grant.clientID)  cannot be opened: it wants key \(grant.keyID)")
            }
            guard lost.isEmpty, failed == 0 else {
                if failed > 0 {
                    Descriptor.printError("auth-apple: the cryptographic library failed \(failed) time(s)")
                }
                return ExitStatus.dataError
            }
            Descriptor.print(
                "Once no process has another first key, run this again; then the other keys can be taken away.")
            return ExitStatus.success
        }
    }
}

extension Array {
    fileprivate var nonEmpty: Self? { isEmpty ? nil : self }
}
