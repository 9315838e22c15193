#if SQLite
import Foundation
import TestSupport
import Testing

/// The keys, rotated and restored by the commands of `deploy/operating.md`, and what it costs people.
@Suite struct OperatingKeysTests {
    @Test func signingKeysAreRotatedReplacedAndMadeAnew() throws {
        let page = try OperatingPage()
        let site = try FunctionSite()
        let commands = try page.commands("Our signing keys")
        try #require(commands.count == 2)
        var answer = try site.send(site.event(token: site.token("--subject", "001.operating.1")))

        let rotated = try OperatingPage.run([commands[0]], environment: site.environment)
        #expect(rotated.status == 0 && rotated.text.contains(/1080\d seconds/), "\(rotated.text)")
        #expect(try me(site, answer).status == 200)

        let replaced = try OperatingPage.run([commands[1]], environment: site.environment)
        #expect(replaced.status == 0 && replaced.text.contains("Replaced every key"), "\(replaced.text)")
        try expectOnlyAccessTokensAreLost(site, &answer)

        // Now the file itself.
        try FileManager.default.removeItem(atPath: site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"] ?? "")
        let lost = try site.send(FunctionSite.event("GET", "/health", body: [:]))
        #expect(lost.status == 500 && lost.log.first?["outcome"] as? String == "not_configured")
        let made = try OperatingPage.run(page.commands("Lost signing keys"), environment: site.environment)
        #expect(made.status == 0, "\(made.text)")
        try expectOnlyAccessTokensAreLost(site, &answer)
    }

    /// The access token is refused by the reason that the page names; the refresh token gives another.
    private func expectOnlyAccessTokensAreLost(_ site: FunctionSite, _ answer: inout FunctionSite.Answer) throws {
        let refused = try me(site, answer)
        #expect(refused.status == 401 && refused.log.first?["reason"] as? String == "access_token_key")
        answer = try site.refresh(answer.refreshToken)
        #expect(answer.status == 200)
        #expect(try me(site, answer).status == 200)
    }

    private func me(_ site: FunctionSite, _ answer: FunctionSite.Answer) throws -> FunctionSite.Answer {
        try site.send(
            FunctionSite.event("GET", "/auth/me", body: [:], headers: ["authorization": "Bearer \(answer.accessToken)"])
        )
    }

    @Test func encryptionKeysAreRotatedAndSeenToBeLost() throws {
        let commands = try OperatingPage().commands("`ENCRYPTION_KEYS`")
        try #require(commands.count == 2)
        try LifeSite.run { life in
            let site = life.site
            let places = ["/etc/auth-apple": site.folder.path()]
            let answer = try life.signIn("ana")
            #expect(answer.reason("apple_exchange") == "kept")
            let old = try String(contentsOf: site.folder.appending(path: "encryption-keys"), encoding: .utf8)

            let added = try OperatingPage.run([commands[0]], in: places, environment: site.environment)
            #expect(added.status == 0, "\(added.text)")
            #expect(added.text.contains("Sealed 1 token(s) anew") && added.text.contains("Sealed 0 token(s) anew"))
            let cut = try OperatingPage.run([commands[1]], in: places, environment: site.environment)
            #expect(cut.status == 0 && cut.text.contains("seals, 1 open"), "\(cut.text)")
            let new = try String(contentsOf: site.folder.appending(path: "encryption-keys"), encoding: .utf8)
            #expect(!new.contains(old.trimmingCharacters(in: .newlines)))

            // With none of the keys that sealed it, Apple cannot be told, and the outbox keeps what is owed.
            let third = "2027-01:" + String(repeating: "L", count: 42) + "A"
            try LifeSite.write(third, to: site.folder.appending(path: "encryption-keys").path())
            let lost = try site.run("keys", "reseal")
            #expect(lost.status == 65 && lost.text.contains("cannot be opened"), "\(lost.text)")
            let deleted = try life.delete(answer.accessToken)
            #expect(deleted.status == 204 && deleted.reason("apple_revoke") == "cannot_be_opened")
            try LifeSite.write(
                third + "," + new.trimmingCharacters(in: .newlines),
                to: site.folder.appending(path: "encryption-keys").path())
            try life.letOutboxPass(seconds: 3600)
            #expect(try site.run("outbox", "run").text.contains("Revoked 1 at Apple, 0 failed; 0 waiting."))
        }
    }

    /// The order matters: an id without its key is one that Apple does not know.
    @Test func applesKeyChangesWithItsIDAndNotWithout() throws {
        try LifeSite.run { life in
            let site = life.site
            #expect(try life.signIn("ana").reason("apple_exchange") == "kept")
            site.environment["AUTH_APPLE_KEY_ID"] = "OTHERKEY01"
            #expect(try life.signIn("luis").reason("apple_exchange") == "apple_invalid_client")
            let check = try site.run("check")
            #expect(check.status == 78 && check.text.contains("Apple does not know us"))
            site.environment["AUTH_APPLE_KEY_ID"] = LifeSite.keyID
            #expect(try site.run("check").text.contains("Apple knows the team and its key"))
        }
    }
}

extension FunctionSite {
    func refresh(_ token: String) throws -> Answer {
        try send(Self.event("POST", "/auth/refresh", body: ["refresh_token": token]))
    }
}
#endif
