#if SQLite
import Foundation
import TestSupport
import Testing

/// The life of a session through the program itself: a process each, one database.
@Suite(.serialized) struct SessionTests {
    private let site: FunctionSite

    init() throws {
        site = try FunctionSite()
    }

    private func signIn(_ subject: String, headers: [String: String] = [:]) throws -> FunctionSite.Answer {
        let answer = try site.send(site.event(token: site.token("--subject", subject), headers: headers))
        try #require(answer.status < 300)
        return answer
    }

    private func refresh(_ token: String) throws -> FunctionSite.Answer {
        try site.send(FunctionSite.event("POST", "/auth/refresh", body: ["refresh_token": token]))
    }

    private func get(_ path: String, _ method: String = "GET", by answer: FunctionSite.Answer) throws
        -> FunctionSite.Answer
    {
        try site.send(
            FunctionSite.event(method, path, body: [:], headers: ["authorization": "Bearer \(answer.access)"]))
    }

    @Test func aSessionIsRefreshedLookedAtAndEnded() throws {
        let first = try signIn("001.life.1")
        let second = try refresh(first.refresh)
        #expect(second.status == 200 && second.body["is_new"] as? Bool == false)
        #expect(second.refresh != first.refresh && second.session == first.session)
        let me = try get("/auth/me", by: second)
        #expect((me.body["user"] as? [String: Any])?["id"] as? String == second.account)
        let other = try signIn("001.life.1")
        let list = try get("/auth/sessions", by: other).body["sessions"] as? [[String: Any]] ?? []
        #expect(list.count == 2)
        #expect(list.filter { $0["current"] as? Bool == true }.map { $0["id"] as? String } == [other.session])
        #expect(try get("/auth/sessions/\(first.session)", "DELETE", by: other).status == 204)
        #expect(try refresh(second.refresh).status == 401)
        #expect(try get("/auth/me", by: second).status == 401)
        #expect(try get("/auth/sessions/\(first.session)", "DELETE", by: other).status == 404)
        for _ in 0..<2 {
            let body = ["refresh_token": other.refresh]
            #expect(try site.send(FunctionSite.event("POST", "/auth/logout", body: body)).status == 204)
        }
        #expect(try get("/auth/me", by: other).status == 401)
    }

    @Test func aLostAnswerIsGivenAgainAndAnOldTokenEndsTheSession() throws {
        let first = try signIn("001.reuse.1")
        let second = try refresh(first.refresh)
        #expect(try refresh(first.refresh).refresh == second.refresh)
        site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "0"
        Thread.sleep(forTimeInterval: 0.01)
        #expect(try refresh(first.refresh).status == 401)
        #expect(try refresh(second.refresh).status == 401)
        let export = try site.run("accounts", "export", first.account)
        #expect(export.status == 0 && export.text.contains(#""event":"refresh_reused""#))
        #expect(!export.text.contains(first.refresh))
    }

    @Test func twoRefreshesAtOnceHaveOneSuccessorAndBothLiveOn() throws {
        let first = try signIn("001.race.1")
        let event = try FunctionSite.event("POST", "/auth/refresh", body: ["refresh_token": first.refresh])
        let answers = try SignInTests.atOnce(8, site) { _ in event }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(Set(answers.map(\.refresh)).count == 1)
        for answer in answers.prefix(2) { #expect(try get("/auth/me", by: answer).status == 200) }
        #expect(try refresh(answers[0].refresh).status == 200)
    }

    @Test func theSameRequestAgainGetsTheSameAnswer() throws {
        let token = try site.token("--subject", "001.again.1")
        let event = try site.event(token: token, headers: ["Idempotency-Key": "a1b2"])
        let answers = try SignInTests.atOnce(8, site) { _ in event }
        #expect(answers.allSatisfy { $0.status == 201 })
        #expect(Set(answers.map(\.text)).count == 1)
        #expect(try site.send(site.event(token: token, headers: ["Idempotency-Key": "a1b3"])).status == 200)
    }

    @Test func limitsHoldAcrossProcesses() throws {
        site.environment["AUTH_APPLE_RATE_LIMITS"] = "refresh=5/86400"
        let first = try signIn("001.limit.1")
        let event = try FunctionSite.event("POST", "/auth/refresh", body: ["refresh_token": first.refresh])
        let answers = try SignInTests.atOnce(20, site) { _ in event }
        #expect(answers.count { $0.status == 200 } == 5)
        let refused = try #require(answers.first { $0.status == 429 })
        #expect(answers.count { $0.status == 429 } == 15)
        #expect(Int(refused.headers["retry-after"] ?? "") ?? 0 > 0)
        #expect(refused.headers["ratelimit"]?.hasPrefix("\"refresh\";r=0;t=") == true)
    }

    @Test func theOperatorSeesDisablesEnablesAndForgets() throws {
        let signedIn = try signIn("001.operator.1")
        #expect(try site.run("accounts", "show", signedIn.account).text.contains("001.operator.1"))
        #expect(try site.run("accounts", "sessions", signedIn.account).text.contains(signedIn.session))
        #expect(try site.run("accounts", "disable", signedIn.account).status == 0)
        #expect(try refresh(signedIn.refresh).status == 401)
        let refused = try site.send(site.event(token: site.token("--subject", "001.operator.1")))
        #expect(refused.status == 403 && refused.body["code"] as? String == "account_disabled")
        #expect(try site.run("accounts", "enable", signedIn.account).status == 0)
        #expect(try signIn("001.operator.1").status == 200)
        #expect(try site.run("accounts", "delete", signedIn.account).status == 0)
        #expect(try site.run("accounts", "show", signedIn.account).status == 66)
        #expect(try signIn("001.operator.1").status == 201)
        #expect(try site.run("accounts", "show", "nobody").status == 64)
        #expect(try site.run("accounts", "drop", signedIn.account).status == 64)
    }

    @Test func tokensSignedBeforeARotationStayGood() throws {
        let signedIn = try signIn("001.keys.1")
        for _ in 0..<2 {
            try site.letPass(seconds: 4 * 3600)
            #expect(try site.run("keys", "rotate").text.contains("Rotated"))
            // A rotation later its key is no longer published: by then its tokens have long expired.
            let current = try refresh(signedIn.refresh)
            if current.status == 200 { #expect(try get("/auth/me", by: current).status == 200) }
        }
        let before = try signIn("001.keys.2")
        try site.letPass(seconds: 4 * 3600)
        #expect(try site.run("keys", "rotate").text.contains("Rotated"))
        #expect(try get("/auth/me", by: before).status == 200)
        #expect(try refresh(before.refresh).status == 200)
    }
}

extension FunctionSite.Answer {
    fileprivate var refresh: String { body["refresh_token"] as? String ?? "" }
    fileprivate var access: String { body["access_token"] as? String ?? "" }
    fileprivate var session: String { (body["session"] as? [String: Any])?["id"] as? String ?? "" }
    fileprivate var account: String { (body["user"] as? [String: Any])?["id"] as? String ?? "" }
}
#endif
