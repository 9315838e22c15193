#if SQLite
import Foundation
import TestSupport
import Testing

/// Nothing that opens something or names somebody comes into a log, an error, an argument or the store's files in clear, on any
/// way through an account's life, whether things go well or not.
@Suite struct LifeCanaryTests {
    @Test func noSecretAndNothingPersonalIsSeenOnAnyOfTheseWays() throws {
        try LifeSite.run { life in
            let canaria: [String: Any] = [
                "first_name": "Canaria", "last_name": "Zafiro", "email": "canaria.zafiro@example.com",
            ]
            var secrets: [String] = []
            var seen: [(String, Data)] = []

            func note(_ what: String, _ answer: FunctionSite.Answer) {
                let log = answer.log.map { (try? JSONSerialization.data(withJSONObject: $0)) ?? Data() }
                seen.append((what, log.reduce(Data(), +)))
            }
            func person(_ name: Any) throws -> [String: Any] {
                let signIn = try life.person(name)
                for member in ["code", "identity_token"] { secrets.append(try #require(signIn[member] as? String)) }
                secrets.append(try #require(signIn["sub"] as? String))
                return signIn
            }
            func signIn(_ what: String, _ signIn: [String: Any], _ more: [String: Any] = [:]) throws
                -> FunctionSite.Answer
            {
                let name = ["full_name": "Canaria Zafiro", "nonce": NSNull()] as [String: Any]
                let answer = try life.site.send(LifeSite.event(signIn, name.merging(more) { $1 }))
                secrets += [answer.accessToken, answer.refreshToken].filter { !$0.isEmpty }
                note(what, answer)
                return answer
            }
            func command(_ words: String...) throws {
                let ran = try Ran([Programs.built("auth-apple").path()] + words, environment: life.site.environment)
                seen.append((words.joined(separator: " "), ran.output + ran.errors))
            }

            let made = try person(canaria)
            let id = try #require(made["person"] as? String)
            let sub = try #require(made["sub"] as? String)
            _ = try signIn("good", made)
            _ = try signIn("code again", made)
            _ = try signIn("mixed", made, ["authorization_code": try person("luis")["code"] ?? ""])
            _ = try signIn("long", try person(id), ["authorization_code": String(repeating: "canary", count: 300)])
            _ = try signIn("array", try person(id), ["authorization_code": ["canary"]])
            for status in [400, 500, 302] {
                try life.fail("/auth/token", status: status)
                _ = try signIn("token \(status)", try person(id))
            }
            try life.repair()
            for words in [
                ["--type", "email-disabled", "--sub", sub, "--email", "canaria.zafiro@example.com"],
                ["--type", "email-enabled", "--sub", sub], ["--type", "consent-revoked", "--sub", "001.canary"],
                ["--type", "account-delete", "--sub", sub, "--bad", "bad-signature"],
            ] {
                let ran = try Ran(
                    [Programs.built("apple-simulator").path(), "notification"] + words,
                    environment: life.site.environment)
                let body = try #require(try JSONSerialization.jsonObject(with: ran.output) as? [String: Any])
                secrets.append(try #require(body["payload"] as? String))
                note(
                    words[1],
                    try life.site.send(FunctionSite.event("POST", "/auth/apple/notifications", body: body)))
            }
            let last = try signIn("last", try person(id))
            try life.fail("/auth/revoke", status: 500)
            let deleted = try life.delete(last.accessToken)
            #expect(deleted.status == 204)
            note("delete", deleted)
            note("delete again", try life.delete(last.accessToken))
            try command("outbox", "show")
            try command("outbox", "run")
            try life.letOutboxPass(seconds: 3600)
            try command("outbox", "run")
            try command("keys", "reseal")
            try command("check")
            try command("transfer", "export", "--client", LifeSite.client, "--to", LifeSite.newTeam)
            life.site.environment["AUTH_APPLE_KEY_ID"] = "WRONG12345"
            try life.letOutboxPass(seconds: 7200)
            try command("outbox", "run")
            try command("check")
            // Values that are wrong are not repeated.
            for (name, value) in [
                ("PRIVATE_KEY", "canary-key"), ("ENCRYPTION_KEYS", "canary:canary"), ("TEAM_ID", "canary"),
                ("KEY_ID", "canary"), ("CODE_MISMATCH", "canary"), ("DELETION_SESSION_SECONDS", "canary"),
                ("NOTIFICATIONS", "canary"), ("TOKEN_URL", "http://canary.example/"),
            ] {
                var environment = life.site.environment
                environment["AUTH_APPLE_\(name)_FILE"] = nil
                environment["AUTH_APPLE_\(name)"] = value
                let ran = try Ran(try Programs.built("auth-apple").path(), "check", environment: environment)
                #expect(ran.status == 78 && ran.text.contains("AUTH_APPLE_\(name) "), "\(name): \(ran.text)")
                seen.append((name, ran.output + ran.errors))
            }

            let key = OpenSSLKeys.shared["p8"].split(separator: "\n").filter { !$0.hasPrefix("-----") }.map(String.init)
            secrets += key + ["KKKKKKKK", "Canaria", "Zafiro", "zafiro", "canary", "eyJ"]
            for (what, text) in seen {
                for secret in secrets {
                    // The line of an account that could not be moved names the account, and `check` the store.
                    #expect(text.range(of: Data(secret.utf8)) == nil, "\(what) shows \(secret.prefix(12))")
                }
            }
            // Of Apple's tokens the store has none in clear, and of who was deleted nothing at all.
            let folder = URL(filePath: life.file).deletingLastPathComponent()
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path()) {
                let bytes = try Data(contentsOf: folder.appending(path: name))
                for secret in secrets where secret.count > 5 {
                    let isLog = name.hasSuffix("-wal") || name.hasSuffix("-shm")
                    let isPersonal = ["Canaria", "Zafiro", "zafiro", sub].contains(secret)
                    if isLog && isPersonal { continue }
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name) has \(secret.prefix(12))")
                }
            }
        }
    }
}
#endif
