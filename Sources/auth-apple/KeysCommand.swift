internal import Accounts
internal import AuthFunction
internal import JOSE
internal import OpenSSLCrypto

/// `auth-apple keys`: the signing keys in the file that AUTH_APPLE_SIGNING_KEYS_FILE names.
enum KeysCommand {
    private static let variable = "AUTH_APPLE_SIGNING_KEYS_FILE"

    /// - Parameter algorithm: ES256, or RS256 for the gateways that verify nothing else. Rotations keep to it.
    static func new(_ algorithm: SignatureAlgorithm = .es256) -> Int32 {
        withFile { file, cryptography in
            let keys = SigningKeySet(
                current: try newKey(for: algorithm, using: cryptography),
                next: try newKey(for: algorithm, using: cryptography), at: System.now())
            try file.create(keys.secretJSON.serialized() + [0x0A])
            Descriptor.print("Created the signing keys in \(file.path)")
            Descriptor.print("  signs now:  \(keys.current.keyID)")
            Descriptor.print("Keep a copy of the file in a safe place: it is the only one.")
        }
    }

    /// One step: announce the next key, or let it sign.
    static func rotate() -> Int32 {
        var reader = ConfigurationReader(environment: System.environment())
        let accessTokenSeconds = reader.number("ACCESS_TOKEN_SECONDS", 60...86_400, default: 900)
        guard reader.environment.problems.isEmpty else { return Report.configuration(reader.environment.problems) }
        return withFile { file, cryptography in
            // Said when it is true: the file may turn out not to be writable.
            var outcome = ""
            try file.update { old in
                var keys = try SigningKeySet(parsing: old[...], using: cryptography)
                let candidate = try newKey(for: keys.current.privateKey.algorithm, using: cryptography)
                switch keys.rotate(next: candidate, at: System.now(), accessTokenSeconds: accessTokenSeconds) {
                case .announced:
                    outcome = """
                        Published the next key \(candidate.keyID); it can sign after the announcement:
                        run keys rotate again in \(SigningKeySet.announcementSeconds) seconds or later.
                        """
                case .rotated:
                    outcome = "Rotated: \(keys.current.keyID) signs now, and \(candidate.keyID) is published as next."
                case .tooEarly where keys.entries.contains { $0.since > System.now().adding(seconds: 60) }:
                    throw OwnFile.Problem(
                        reason: """
                            has a key of a time to come, so nothing was changed: was the clock ahead when it was made? \
                            Once the clock is right, write the present (date +%s) as its "since"
                            """)
                case .tooEarly(let seconds):
                    outcome = """
                        Nothing was changed: verifiers may not know the next key yet.
                        Run keys rotate again in \(seconds) seconds or later; after a leak add --force.
                        """
                    return nil
                }
                return keys.secretJSON.serialized() + [0x0A]
            }
            Descriptor.print(outcome)
        }
    }

    /// After a leak. Whoever read the file has the next key as well as the current one, and a key that is published is one
    /// whose tokens verify: so none of them stays, not even as previous.
    static func replaceAll() -> Int32 {
        withFile { file, cryptography in
            var currentID = ""
            try file.update { old in
                var keys = try SigningKeySet(parsing: old[...], using: cryptography)
                let algorithm = keys.current.privateKey.algorithm
                keys.replaceAll(
                    current: try newKey(for: algorithm, using: cryptography),
                    next: try newKey(for: algorithm, using: cryptography), at: System.now())
                currentID = keys.current.keyID
                return keys.secretJSON.serialized() + [0x0A]
            }
            Descriptor.print("Replaced every key: \(currentID) signs now.")
            Descriptor.print(
                "Access tokens of the old keys are refused here from now on, and by others once they read the new set:")
            Descriptor.print(
                "within \(SigningKeySet.publicMaxAgeSeconds) seconds where Cache-Control is kept to. Where one remembers"
            )
            Descriptor.print("longer, have it forget now. Refresh tokens stay good: apps get new tokens by them.")
        }
    }

    static func show() -> Int32 {
        var reader = ConfigurationReader(environment: System.environment())
        let keys = reader.signingKeys(using: OpenSSLCryptography())
        guard let keys, reader.environment.problems.isEmpty else {
            return Report.configuration(reader.environment.problems)
        }
        Descriptor.print(keys.publicKeys.json.text)
        return ExitStatus.success
    }

    private static func newKey(
        for algorithm: SignatureAlgorithm, using cryptography: any Cryptography
    ) throws(CryptographyError) -> SigningKey {
        let key = try cryptography.generateKey(for: algorithm)
        return SigningKey(keyID: key.publicKey.thumbprint(using: cryptography), privateKey: key)
    }

    private static func withFile(_ work: (OwnFile, any Cryptography) throws -> Void) -> Int32 {
        var environment = System.environment()
        guard let path = environment.path("SIGNING_KEYS") else {
            environment.report("SIGNING_KEYS_FILE", "is not set", remedy: "set it to the path of the key file")
            return Report.configuration(environment.problems)
        }
        do {
            try work(OwnFile(path: path), OpenSSLCryptography())
            return ExitStatus.success
        } catch let problem as OwnFile.Problem {
            Descriptor.printError("auth-apple: the file that \(variable) names \(problem.reason)")
            return ExitStatus.cannotCreate
        } catch let refusal as SigningKeySet.Refusal {
            Descriptor.printError(
                "auth-apple: the file that \(variable) names \(refusal.reason); restore it from a copy")
            return ExitStatus.configuration
        } catch {
            let reason = (error as? CryptographyError)?.reason ?? "unknown"
            Descriptor.printError("auth-apple: the cryptographic library failed (\(reason)); nothing was changed")
            return ExitStatus.software
        }
    }
}
