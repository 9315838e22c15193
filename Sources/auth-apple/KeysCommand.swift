internal import Accounts
internal import AuthFunction
internal import JOSE
internal import OpenSSLCrypto

/// `auth-apple keys`: the signing keys in the file that AUTH_APPLE_SIGNING_KEYS_FILE names.
enum KeysCommand {
    private static let variable = "AUTH_APPLE_SIGNING_KEYS_FILE"

    static func new() -> Int32 {
        withFile { file, cryptography in
            let keys = SigningKeySet(
                current: try newKey(using: cryptography), next: try newKey(using: cryptography), at: System.now())
            try file.create(keys.secretJSON.serialized() + [0x0A])
            Descriptor.print("Created the signing keys in \(file.path)")
            Descriptor.print("  signs now:  \(keys.current.keyID)")
            Descriptor.print("Keep a copy of the file in a safe place: it is the only one.")
        }
    }

    /// One step of the rotation.
    static func rotate() -> Int32 {
        var reader = ConfigurationReader(environment: System.environment())
        let accessTokenSeconds = reader.number("ACCESS_TOKEN_SECONDS", 60...86_400, default: 900)
        guard reader.environment.problems.isEmpty else { return Report.configuration(reader.environment.problems) }
        return withFile { file, cryptography in
            let candidate = try newKey(using: cryptography)
            // Said when it is true: the file may turn out not to be writable.
            var outcome = ""
            try file.update { old in
                var keys = try SigningKeySet(parsing: old[...], using: cryptography)
                switch keys.rotate(next: candidate, at: System.now(), accessTokenSeconds: accessTokenSeconds) {
                case .announced:
                    outcome = """
                        Published the next key \(candidate.keyID); it can sign after the announcement:
                        run keys rotate again in \(SigningKeySet.announcementSeconds) seconds or later.
                        """
                case .rotated:
                    outcome = "Rotated: \(keys.current.keyID) signs now, and \(candidate.keyID) is published as next."
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
    static func replace() -> Int32 {
        withFile { file, cryptography in
            let keys = SigningKeySet(
                current: try newKey(using: cryptography), next: try newKey(using: cryptography), at: System.now())
            try file.update { old in
                // What is no key file is not overwritten.
                _ = try SigningKeySet(parsing: old[...], using: cryptography)
                return keys.secretJSON.serialized() + [0x0A]
            }
            Descriptor.print("Replaced every key: \(keys.current.keyID) signs now.")
            Descriptor.print("Access tokens of the old keys are refused wherever the key set is fetched again, within")
            Descriptor.print("\(SigningKeySet.publicMaxAgeSeconds) seconds where its max-age is kept. Sessions stay.")
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

    private static func newKey(using cryptography: any Cryptography) throws(CryptographyError) -> SigningKey {
        let key = try cryptography.generateKey(for: .es256)
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
            Descriptor.printError("auth-apple: the cryptographic library failed")
            return ExitStatus.software
        }
    }
}
