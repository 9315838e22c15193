#if SQLite
import Foundation
import TestSupport
import Testing

/// A store of yesterday, put back by the commands of `deploy/operating.md`: what becomes of people is what its table says.
@Suite struct OperatingRestoreTests {
    @Test func anOldStoreDoesToPeopleWhatThePageSays() throws {
        let commands = try OperatingPage().commands("SQLite")
        try #require(commands.count == 3)
        let site = try FunctionSite()
        let state = site.folder.appending(path: "state").path()
        func run(_ index: Int) throws -> String {
            let ran = try OperatingPage.run(
                [commands[index]], in: ["/var/lib/auth-apple": state], environment: site.environment)
            #expect(ran.status == 0, "\(ran.text)")
            return ran.text
        }
        func signIn(_ name: String) throws -> FunctionSite.Answer {
            try site.send(site.event(token: site.token("--subject", "001.\(name).1")))
        }
        func reason(_ answer: FunctionSite.Answer) -> String? {
            #expect(answer.status == 401)
            return answer.log.first?["reason"] as? String
        }

        let (quiet, rotated, ended, deleted) = try (
            signIn("quiet"), signIn("rotated"), signIn("ended"), signIn("deleted")
        )
        _ = try run(0)
        for name in try FileManager.default.contentsOfDirectory(atPath: state) {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(state)/\(name)")[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name) is open to others")
        }
        let newer = try site.refresh(rotated.refreshToken)
        _ = try site.send(FunctionSite.event("POST", "/auth/logout", body: ["refresh_token": ended.refreshToken]))
        #expect(try site.run("accounts", "delete", deleted.accountID).status == 0)
        let (began, made) = try (signIn("quiet"), signIn("made"))

        #expect(try run(1).contains("ok    store"))
        #expect(try site.refresh(quiet.refreshToken).status == 200)
        #expect(try reason(site.refresh(newer.refreshToken)) == "refresh_reused")
        #expect(try reason(site.refresh(rotated.refreshToken)) == "session_unknown", "it was ended")
        #expect(try reason(site.refresh(began.refreshToken)) == "session_unknown")
        #expect(try site.refresh(ended.refreshToken).status == 200, "it lives again")
        #expect(try site.run("accounts", "show", deleted.accountID).status == 0)
        #expect(try site.run("accounts", "show", made.accountID).status == 66)

        // Who is new comes over, with all sessions.
        _ = try run(2)
        #expect(try site.refresh(made.refreshToken).status == 200)
        #expect(try signIn("made").accountID == made.accountID)
        #expect(try reason(site.refresh(began.refreshToken)) == "session_unknown", "of who was there before, nothing")
    }

    @Test func whoComesAgainBeforeThatIsSomebodyElse() throws {
        let site = try FunctionSite()
        let token = try site.token("--subject", "001.again.1")
        let first = try site.send(site.event(token: token))
        let file = String((site.environment["AUTH_APPLE_STORE"] ?? "").dropFirst("sqlite:".count))
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) }
        let second = try site.send(site.event(token: token))
        #expect(second.status == 201 && second.accountID != first.accountID)
    }
}
#endif
