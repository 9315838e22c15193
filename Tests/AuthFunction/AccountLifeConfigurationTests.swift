import Accounts
import AppleID
import AuthFunction
import JOSE
import TestSupport
import Testing

/// The variables of an account's life: all of it is off until it is set, and half of it is refused.
struct AccountLifeConfigurationTests {
    private static let key = OpenSSLKeys.shared["p8"]
    private static let encryptionKeys = "2026-11:" + String(repeating: "A", count: 43)
    private static let server = [
        "TEAM_ID": "TEAM123456", "KEY_ID": "ABC123DEFG", "PRIVATE_KEY": key, "ENCRYPTION_KEYS": encryptionKeys,
    ]

    private func setting(_ changes: [String: String?] = [:]) -> Setting {
        Setting(Self.server.mapValues { $0 }.merging(changes) { $1 })
    }

    @Test func `Everything is off until it is set`() throws {
        let configuration = try Setting().read()
        #expect(configuration.accountLife.server == nil)
        #expect(configuration.accountLife.deletionSeconds == nil && !configuration.accountLife.takesNotifications)
        #expect(configuration.signInPolicy.codes == nil && !configuration.signInPolicy.isOneTime)
    }

    @Test func `Four variables turn Apple's API on, at Apple's addresses`() throws {
        let configuration = try setting().read()
        let server = try #require(configuration.accountLife.server)
        #expect(server.credentials.teamID == "TEAM123456" && server.credentials.keyID == "ABC123DEFG")
        #expect(server.encryptionKeys.sealingID == "2026-11")
        #expect(server.endpoints.token == "https://appleid.apple.com/auth/token")
        #expect(server.endpoints.revocation == "https://appleid.apple.com/auth/revoke")
        #expect(server.endpoints.migration == "https://appleid.apple.com/auth/usermigrationinfo")
        #expect(configuration.signInPolicy.codes == .refused)
    }

    @Test(arguments: ["TEAM_ID", "KEY_ID", "PRIVATE_KEY", "ENCRYPTION_KEYS"])
    func `Three of the four are refused, and the fourth is named with its remedy`(_ name: String) throws {
        let problems = setting([name: nil]).problems
        try #require(problems.count == 1, "\(problems)")
        #expect(problems[0].hasPrefix("AUTH_APPLE_\(name) is not set: "))
        #expect(
            setting([name: nil, name + "_FILE": "/none"]).problems.first?.hasPrefix("AUTH_APPLE_\(name)_FILE ") == true)
    }

    @Test func `Secrets come from files that are closed to others, and the key as it is pasted`() throws {
        var setting = setting([
            "PRIVATE_KEY": nil, "PRIVATE_KEY_FILE": "/key", "ENCRYPTION_KEYS": nil,
            "ENCRYPTION_KEYS_FILE": "/keys",
        ])
        setting.files = ["/key": Array((Self.key + "\n").utf8), "/keys": Array((Self.encryptionKeys + "\n").utf8)]
        setting.secretFiles = ["/key", "/keys"]
        #expect(try setting.read().accountLife.server != nil)
        setting.secretFiles = []
        #expect(setting.problems.count == 2)
        #expect(
            try self.setting(["PRIVATE_KEY": Self.key.replacing("\n", with: "\\n")]).read().accountLife.server != nil)
    }

    private static let bad: [(String, String)] = [
        ("TEAM_ID", "canary"), ("TEAM_ID", "team123456"), ("KEY_ID", "AuthKey_ABC123DEFG.p8"),
        ("PRIVATE_KEY", "canary"),
        ("PRIVATE_KEY", OpenSSLKeys.shared["rsa"]), ("ENCRYPTION_KEYS", "canary"), ("ENCRYPTION_KEYS", "canary:AAAA"),
        ("TOKEN_URL", "http://canary.example/"), ("REVOKE_URL", "canary"), ("MIGRATION_URL", "ftp://canary.example/"),
        ("CODE_MISMATCH", "canary"), ("DELETION_SESSION_SECONDS", "59"), ("DELETION_SESSION_SECONDS", "31536001"),
        ("DELETION_SESSION_SECONDS", "canary"), ("NOTIFICATIONS", "yes"), ("ONE_TIME_TOKENS", "canary"),
    ]

    @Test(arguments: bad.indices)
    func `What is malformed is refused by its name, and not repeated`(_ index: Int) throws {
        let (name, value) = Self.bad[index]
        let problems = setting([name: value]).problems
        try #require(problems.count == 1, "\(problems)")
        #expect(problems[0].hasPrefix("AUTH_APPLE_\(name) ") && !problems[0].contains("canary"))
    }

    @Test func `Apple's addresses may be loopback in development, but no file`() throws {
        for name in ["TOKEN_URL", "REVOKE_URL", "MIGRATION_URL"] {
            let loopback = ["MODE": "development", name: "http://127.0.0.1:8410/x"]
            #expect(setting(loopback).problems.isEmpty)
            #expect(setting([name: "http://127.0.0.1:8410/x"]).problems.count == 1)
            let file = setting(["MODE": "development", name: "file:///tmp/x"]).problems
            #expect(file.count == 1 && file.first?.contains("set it to an https URL, or an http URL") == true)
        }
    }

    /// It once said that unsetting gave the least number: who did so had turned deletion off.
    @Test func `The remedy for a number says what unsetting it does`() throws {
        let problem = try #require(setting(["DELETION_SESSION_SECONDS": "1"]).problems.first)
        #expect(problem.hasSuffix("set it to one, or unset it, so that people cannot delete accounts"))
        #expect(setting(["ACCESS_TOKEN_SECONDS": "1"]).problems.first?.hasSuffix("or unset it for 900") == true)
    }

    @Test func `Codes are looked at where they are exchanged, or where it is said what to do about them`() throws {
        #expect(try setting(["CODE_MISMATCH": "ignore"]).read().signInPolicy.codes == .ignored)
        #expect(try Setting(["CODE_MISMATCH": "refuse"]).read().signInPolicy.codes == .refused)
    }

    @Test func `Deletion, notifications and one-time tokens are on when they are set`() throws {
        let configuration = try Setting([
            "DELETION_SESSION_SECONDS": "600", "NOTIFICATIONS": "true", "ONE_TIME_TOKENS": "true",
        ]).read()
        #expect(configuration.accountLife.deletionSeconds == 600 && configuration.accountLife.takesNotifications)
        #expect(configuration.signInPolicy.isOneTime && configuration.accountLife.server == nil)
    }
}
