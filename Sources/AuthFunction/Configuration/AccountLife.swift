package import Accounts
package import AppleID
package import JOSE

/// What is configured of an account's life after its first sign-in. All of it is off until it is set.
package struct AccountLife: Sendable {
    /// How Apple's server API is spoken to and what it gives is kept; nil where no code is exchanged.
    package let server: AppleServerSettings?
    /// How old the sign-in of a session may be that deletes its account; nil where accounts are not deleted by their owners.
    package let deletionSeconds: Int64?
    package let takesNotifications: Bool
}

/// Apple's server API: who we are there, where it is, and under what its refresh tokens are sealed.
package struct AppleServerSettings: Sendable {
    package let credentials: AppleCredentials
    package let endpoints: AppleServer.Endpoints
    package let encryptionKeys: EncryptionKeys
}

extension ConfigurationReader {
    /// - Parameter judge: what the edge says of a URL.
    mutating func accountLife(
        mode: Configuration.Mode, using cryptography: any Cryptography,
        judgedBy judge: (_ url: String, Configuration.Mode) -> EdgeJudgement.Fault?
    ) -> AccountLife {
        AccountLife(
            server: appleServer(mode: mode, using: cryptography, judgedBy: judge),
            deletionSeconds: number(
                "DELETION_SESSION_SECONDS", 60...31_536_000, unset: "unset it, so that people cannot delete accounts"),
            takesNotifications: flag("NOTIFICATIONS"))
    }

    private static let serverVariables = ["TEAM_ID", "KEY_ID", "PRIVATE_KEY", "ENCRYPTION_KEYS"]

    /// All four or none: with some of them nothing works, and somebody believes that it does.
    package mutating func appleServer(
        mode: Configuration.Mode, using cryptography: any Cryptography,
        judgedBy judge: (_ url: String, Configuration.Mode) -> EdgeJudgement.Fault?
    ) -> AppleServerSettings? {
        let endpoints = appleEndpoints(mode: mode, judgedBy: judge)
        let isAnySet = Self.serverVariables.map { environment.isSet($0) }.contains(true)
        guard isAnySet else { return nil }
        let credentials = appleCredentials(using: cryptography)
        let keys = encryptionKeys()
        guard let credentials, let keys else { return nil }
        return AppleServerSettings(credentials: credentials, endpoints: endpoints, encryptionKeys: keys)
    }

    package mutating func appleEndpoints(
        mode: Configuration.Mode, judgedBy judge: (_ url: String, Configuration.Mode) -> EdgeJudgement.Fault?
    ) -> AppleServer.Endpoints {
        var endpoints = AppleServer.Endpoints()
        endpoints.token = serverURL("TOKEN_URL", default: endpoints.token, mode: mode, judgedBy: judge)
        endpoints.revocation = serverURL("REVOKE_URL", default: endpoints.revocation, mode: mode, judgedBy: judge)
        endpoints.migration = serverURL("MIGRATION_URL", default: endpoints.migration, mode: mode, judgedBy: judge)
        return endpoints
    }

    /// Like the address of Apple's keys, and no file: something is sent there.
    private mutating func serverURL(
        _ name: String, default defaultValue: String, mode: Configuration.Mode,
        judgedBy judge: (_ url: String, Configuration.Mode) -> EdgeJudgement.Fault?
    ) -> String {
        guard text(name) != nil else { return defaultValue }
        let url = appleURL(name, default: defaultValue, mode: mode)
        self.judge(name, judge(url, mode))
        return url
    }

    /// What Apple knows us by. Each part that is missing is named.
    package mutating func appleCredentials(using cryptography: any Cryptography) -> AppleCredentials? {
        let teamID = identifier(
            "TEAM_ID", remedy: "set it to the ten characters under Membership details at developer.apple.com")
        let keyID = identifier("KEY_ID", remedy: "set it to the ten characters in the file's name AuthKey_….p8")
        guard let text = environment.value("PRIVATE_KEY", isSecret: true) else {
            environment.reportUnset(
                "PRIVATE_KEY", remedy: "let AUTH_APPLE_PRIVATE_KEY_FILE name the file AuthKey_….p8 that Apple gave")
            return nil
        }
        do throws(PrivateKeyRefusal) {
            let key = try PastedPrivateKey.read(text, using: cryptography)
            return teamID.flatMap { teamID in
                keyID.flatMap { AppleCredentials(teamID: teamID, keyID: $0, privateKey: key) }
            }
        } catch {
            environment.report("PRIVATE_KEY", error.reason, remedy: error.remedy)
            return nil
        }
    }

    private mutating func identifier(_ name: String, remedy: String) -> String? {
        guard let text = text(name) else {
            environment.reportUnset(name, remedy: remedy)
            return nil
        }
        guard AppleCredentials.isIdentifier(text) else {
            environment.report(name, "is not ten capital letters and digits", remedy: remedy)
            return nil
        }
        return text
    }

    package mutating func encryptionKeys() -> EncryptionKeys? {
        let remedy = "set it to a name, a colon and 32 random bytes: 2026-11:$(openssl rand -base64 32)"
        guard let text = text("ENCRYPTION_KEYS", isSecret: true) else {
            environment.reportUnset("ENCRYPTION_KEYS", remedy: remedy)
            return nil
        }
        do throws(EncryptionKeys.Refusal) {
            return try EncryptionKeys(parsing: text)
        } catch {
            environment.report("ENCRYPTION_KEYS", error.reason, remedy: remedy)
            return nil
        }
    }

    /// Codes are looked at where they are exchanged, and where it is said what to do about a wrong one.
    mutating func codeMismatch(isExchanging: Bool) -> CodeMismatch? {
        let isSet = environment.isSet("CODE_MISMATCH")
        let value = choice("CODE_MISMATCH", [.refused, .ignored], default: CodeMismatch.refused)
        return isExchanging || isSet ? value : nil
    }
}
