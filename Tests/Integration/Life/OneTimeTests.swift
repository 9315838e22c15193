#if SQLite
import Foundation
import TestSupport
import Testing

/// `ONE_TIME_TOKENS` over processes.
@Suite struct OneTimeTests {
    @Test func aTokenOpensOneSessionHoweverManyProcessesItComesTo() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_ONE_TIME_TOKENS"] = "true"
        // So long that no load of the machine outlasts it.
        site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "60"
        let token = try site.token("--subject", "001.once.1")
        let event = try site.event(token: token)
        let answers = try site.atOnce(Array(repeating: event, count: 6))
        #expect(
            answers.allSatisfy { $0.status == 201 } && Set(answers.map(\.text)).count == 1, "\(answers.map(\.status))")

        let other = try site.send(site.event(token: token, ["deviceInfo": ["platform": "Android"]]))
        #expect(other.status == 401 && other.body["code"] as? String == "invalid_token")
        #expect(other.log[0]["reason"] as? String == "spent")
        #expect(other.body["detail"] as? String == "No se pudo iniciar sesión con Apple. Intenta de nuevo.")

        site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "0"
        let second = try site.event(token: site.token("--subject", "001.once.1"))
        let race = try site.atOnce([second, second, second, second])
        #expect(race.map(\.status).sorted() == [200, 401, 401, 401])
        let id = answers[0].accountID
        #expect(try site.run("accounts", "sessions", id).text.split(separator: "\n").count == 2)
    }
}
#endif
