#if SQLite
import Foundation
import TestSupport
import Testing

/// The life of a login through the program itself: each request a process of its own, one database.
@Suite(.serialized) struct SessionTests {
    /// Events that a client of the plain doorway writes.
    private static func event(
        _ method: String, _ path: String, accessToken: String? = nil, refreshToken: String? = nil
    ) throws -> Data {
        var event: [String: Any] = ["method": method, "path": path]
        if let accessToken { event["headers"] = ["authorization": "Bearer \(accessToken)"] }
        if let refreshToken {
            event["headers"] = ["content-type": "application/json"]
            event["body"] = #"{"refresh_token":"\#(refreshToken)"}"#
        }
        return try JSONSerialization.data(withJSONObject: event)
    }

    private static func refresh(_ site: FunctionSite, _ token: String) throws -> FunctionSite.Answer {
        try site.send(event("POST", "/auth/refresh", refreshToken: token))
    }

    private static func audit(_ site: FunctionSite, of account: String) throws -> [[String: Any]] {
        let ran = try site.run("accounts", "export", account)
        #expect(ran.status == 0, "\(ran.text)")
        let json = try #require(JSONSerialization.jsonObject(with: ran.output) as? [String: Any])
        return try #require(json["audit"] as? [[String: Any]])
    }

    private static func events(_ site: FunctionSite, of account: String) throws -> [String] {
        try audit(site, of: account).compactMap { $0["event"] as? String }
    }

    /// A rotation of our keys, as time would bring it.
    private static func rotate(_ site: FunctionSite) throws {
        try site.letPass(seconds: 4 * 3600)
        #expect(try site.run("keys", "rotate").text.contains("Rotated"))
    }

    @Test func signInRefreshMeSessionsLogout() throws {
        let site = try FunctionSite()
        let signIn = try site.send(site.event(token: site.token("--subject", "001.life.1"), ["full_name": "Ana"]))
        let other = try site.send(
            site.event(token: site.token("--subject", "001.life.1"), ["deviceInfo": ["name": "iPad de Ana"]]))
        #expect(signIn.status == 201 && other.status == 200)
        let refreshed = try Self.refresh(site, signIn.refreshToken)
        #expect(refreshed.status == 200 && refreshed.sessionID == signIn.sessionID)
        #expect(refreshed.refreshToken != signIn.refreshToken)
        #expect(refreshed.body["user"] as? [String: AnyHashable] == signIn.body["user"] as? [String: AnyHashable])

        let me = try site.send(Self.event("GET", "/auth/me", accessToken: refreshed.accessToken))
        #expect(me.status == 200 && (me.body["user"] as? [String: Any])?["id"] as? String == signIn.accountID)

        let list = try site.send(Self.event("GET", "/auth/sessions", accessToken: refreshed.accessToken))
        let sessions = try #require(list.body["sessions"] as? [[String: Any]])
        #expect(sessions.map { $0["id"] as? String } == [other.sessionID, signIn.sessionID])
        #expect(sessions.map { $0["current"] as? Bool } == [false, true])
        #expect((sessions[0]["device"] as? [String: Any])?["name"] as? String == "iPad de Ana")

        let path = "/auth/sessions/\(other.sessionID)"
        #expect(try site.send(Self.event("DELETE", path, accessToken: refreshed.accessToken)).status == 204)
        #expect(try Self.refresh(site, other.refreshToken).status == 401)
        #expect(try site.send(Self.event("DELETE", path, accessToken: refreshed.accessToken)).status == 404)

        for _ in 0..<2 {
            let out = try site.send(Self.event("POST", "/auth/logout", refreshToken: refreshed.refreshToken))
            #expect(out.status == 204 && out.text.isEmpty)
        }
        #expect(try Self.refresh(site, refreshed.refreshToken).status == 401)
        #expect(try site.send(Self.event("GET", "/auth/me", accessToken: refreshed.accessToken)).status == 401)
        #expect(
            try Self.events(site, of: signIn.accountID) == [
                "account_created", "signed_in", "signed_in", "session_ended", "logged_out",
            ])
    }

    @Test func aLostAnswerIsGivenAgainAndReuseEndsTheSessionAndIsInTheAudit() throws {
        let site = try FunctionSite()
        // So long that no load of the machine outlasts it; so the grace's end is not waited for here.
        site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "60"
        let signIn = try site.send(site.event(token: site.token("--subject", "001.reuse.1")))
        let first = try Self.refresh(site, signIn.refreshToken)
        let again = try Self.refresh(site, signIn.refreshToken)
        #expect(again.status == 200 && again.refreshToken == first.refreshToken)
        let second = try Self.refresh(site, first.refreshToken)
        #expect(second.status == 200)

        let reused = try Self.refresh(site, signIn.refreshToken)
        #expect(reused.status == 401 && reused.body["code"] as? String == "invalid_token")
        #expect(reused.log.first?["reason"] as? String == "refresh_reused")
        #expect(try Self.refresh(site, second.refreshToken).status == 401)
        #expect(try site.send(Self.event("GET", "/auth/me", accessToken: second.accessToken)).status == 401)
        let last = try #require(try Self.audit(site, of: signIn.accountID).last)
        #expect(last["event"] as? String == "refresh_reused" && last["session"] as? String == signIn.sessionID)
        #expect(last["request_id"] as? String == reused.body["request_id"] as? String)
    }

    @Test func withoutAGraceTheSameTokenTwiceIsReuse() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "0"
        let signIn = try site.send(site.event(token: site.token("--subject", "001.grace.1")))
        #expect(try Self.refresh(site, signIn.refreshToken).status == 200)
        #expect(try Self.refresh(site, signIn.refreshToken).log.first?["reason"] as? String == "refresh_reused")
        #expect(try Self.events(site, of: signIn.accountID).last == "refresh_reused")
    }

    @Test func manyRefreshesAtOnceGetOneSuccessorAndEveryClientLivesOn() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "60"
        var token = try site.send(site.event(token: site.token("--subject", "001.at-once.1"))).refreshToken
        for count in [2, 2, 16] {
            let event = try Self.event("POST", "/auth/refresh", refreshToken: token)
            let answers = try site.atOnce(Array(repeating: event, count: count))
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers.map(\.status))")
            #expect(Set(answers.map(\.refreshToken)).count == 1)
            for answer in answers {
                let me = try site.send(Self.event("GET", "/auth/me", accessToken: answer.accessToken))
                #expect(me.status == 200)
            }
            token = answers[0].refreshToken
        }
    }

    @Test func logoutAgainstRefreshesAtOnceLeavesNoSession() throws {
        let site = try FunctionSite()
        let signIn = try site.send(site.event(token: site.token("--subject", "001.logout-race.1")))
        var events = try (0..<10).map { _ in
            try Self.event("POST", "/auth/refresh", refreshToken: signIn.refreshToken)
        }
        events.insert(try Self.event("POST", "/auth/logout", refreshToken: signIn.refreshToken), at: 5)
        let answers = try site.atOnce(events)
        #expect(answers[5].status == 204)
        for answer in answers where answer.status == 200 {
            #expect(try Self.refresh(site, answer.refreshToken).status == 401)
            #expect(try site.send(Self.event("GET", "/auth/me", accessToken: answer.accessToken)).status == 401)
        }
        #expect(answers.allSatisfy { [200, 204, 401].contains($0.status) })
        #expect(try site.run("accounts", "sessions", signIn.accountID).text == "no sessions\n")
    }

    @Test func theOperatorSeesDisablesEnablesExportsAndDeletesAnAccount() throws {
        let site = try FunctionSite()
        let more: [String: Any] = [
            "full_name": "Ana Pérez", "deviceInfo": ["name": "iPhone de Ana", "other": ["a": 1]],
        ]
        let token = try site.token("--subject", "001.operator.1", "--email", "ana@example.com")
        let signIn = try site.send(site.event(token: token, more))
        let id = signIn.accountID
        let show = try site.run("accounts", "show", id)
        #expect(show.status == 0)
        for text in [id, "001.operator.1", "Ana Pérez", "ana@example.com", "active"] {
            #expect(show.text.contains(text), "\(text)")
        }
        let sessions = try site.run("accounts", "sessions", id).text
        #expect(sessions.contains(signIn.sessionID) && sessions.contains("iPhone de Ana"))

        let export = try site.run("accounts", "export", id)
        let json = try #require(JSONSerialization.jsonObject(with: export.output) as? [String: Any])
        #expect(Set(json.keys) == ["account", "sessions", "apple_grants", "audit"])
        #expect((json["account"] as? [String: Any])?["full_name"] as? String == "Ana Pérez")
        let device = (json["sessions"] as? [[String: Any]])?.first?["device_info"] as? [String: Any]
        #expect((device?["other"] as? [String: Int]) == ["a": 1])
        #expect(!export.text.contains(signIn.refreshToken.suffix(40)))

        #expect(try site.run("accounts", "disable", id).text == "done: account_disabled\n")
        #expect(try site.run("accounts", "show", id).text.contains("disabled since 20"))
        #expect(try site.run("accounts", "sessions", id).text == "no sessions\n")
        #expect(try Self.refresh(site, signIn.refreshToken).status == 401)
        let refused = try site.send(site.event(token: token, more))
        #expect(refused.status == 403 && refused.body["code"] as? String == "account_disabled")

        #expect(try site.run("accounts", "enable", id).text == "done: account_enabled\n")
        #expect(try Self.refresh(site, signIn.refreshToken).status == 401, "what was ended stays ended")
        #expect(try site.send(site.event(token: token, more)).status == 200)
        #expect(
            try Self.events(site, of: id) == [
                "account_created", "signed_in", "account_disabled", "sign_in_refused", "account_enabled", "signed_in",
            ])
        #expect(try site.run("accounts", "delete", id).text == "done: account_deleted\n")
        for action in ["show", "export", "sessions", "disable", "enable", "delete"] {
            let ran = try site.run("accounts", action, id)
            #expect(ran.status == 66 && ran.output.isEmpty, "\(action)")
        }
        let again = try site.send(site.event(token: token, more))
        #expect(again.status == 201 && again.accountID != id)
    }

    @Test func anAccountCommandThatIsWrittenWrongDoesNothingAndSaysHow() throws {
        let site = try FunctionSite()
        let id = try site.send(site.event(token: site.token("--subject", "001.usage.1"))).accountID
        let wrong = [
            ["accounts"], ["accounts", "show"], ["accounts", "drop", id], ["accounts", "show", id, id],
            ["accounts", "show", id.uppercased()], ["accounts", "delete", "001.usage.1"], ["accounts", "delete", "%"],
            ["accounts", "delete", ""], ["accounts", "DELETE", id],
        ]
        for words in wrong {
            let ran = try Ran([Programs.built("auth-apple").path()] + words, environment: site.environment)
            #expect(ran.status == 64 && ran.output.isEmpty && !ran.errors.isEmpty, "\(words)")
        }
        #expect(try site.run("accounts", "show", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f").status == 66)
        #expect(try site.run("accounts", "show", id).status == 0)
        site.environment["AUTH_APPLE_STORE"] = "sqlite:/proc/none/accounts.sqlite"
        let unreachable = try site.run("accounts", "show", id).status
        #expect([75, 78].contains(unreachable))
        site.environment["AUTH_APPLE_STORE"] = "nothing:"
        #expect(try site.run("accounts", "show", id).status == 78)
    }

    @Test func theRepetitionOfASignInGetsTheSameBytesFromAnotherProcess() throws {
        let site = try FunctionSite()
        let token = try site.token("--subject", "001.idempotent.1")
        let headers = ["Idempotency-Key": "canary-8e03978e-40d5"]
        let first = try site.send(site.event(token: token, headers: headers))
        #expect(first.status == 201)
        let event = try site.event(token: token, headers: headers)
        for answer in try site.atOnce(Array(repeating: event, count: 8)) {
            #expect(answer.status == 201 && answer.text == first.text)
        }
        // Our keys may rotate meanwhile.
        try Self.rotate(site)
        #expect(try site.send(event).text == first.text)
        #expect(try Self.events(site, of: first.accountID) == ["account_created", "signed_in"])
        #expect(try site.send(site.event(token: token)).sessionID != first.sessionID)

        // The first of many at once, none of which has an answer yet.
        let race = try site.event(token: site.token("--subject", "001.idempotent.2"), headers: headers)
        let answers = try site.atOnce(Array(repeating: race, count: 12))
        #expect(Set(answers.map(\.text)).count == 1)
        #expect(answers.allSatisfy { $0.status == 201 })
        #expect(try Self.events(site, of: answers[0].accountID) == ["account_created", "signed_in"])

        // On disk there is neither a token nor the client's key.
        let files = try #require(FileManager.default.enumerator(at: site.folder, includingPropertiesForKeys: nil))
        var looked = 0
        for case let file as URL in files where file.path().contains("/state/") && !file.hasDirectoryPath {
            let data = try Data(contentsOf: file)
            looked += data.count
            for secret in ["canary", first.accessToken, first.refreshToken, String(first.accessToken.suffix(40))] {
                #expect(data.range(of: Data(secret.utf8)) == nil, "\(file.lastPathComponent)")
            }
        }
        #expect(looked > 10_000)
    }

    /// Who pipes an event writes all of it. In whatever runtime's shape it comes, an address in it is nobody's word; what the
    /// client calls itself is shown as what it is, a text.
    @Test func anAddressInAPipedEventIsNobodysWord() throws {
        let site = try FunctionSite()
        let plain = try site.event(
            token: site.token("--subject", "001.address.1"), headers: ["User-Agent": "Finnova/1.4"])
        let inner = try #require(JSONSerialization.jsonObject(with: plain) as? [String: Any])
        let context: [String: Any] = [
            "http": ["method": "POST", "path": "/auth/apple", "sourceIp": "192.0.2.99", "userAgent": "Finnova/1.5"],
            "stage": "$default", "requestId": "forged",
        ]
        let gateway: [String: Any] = [
            "version": "2.0", "routeKey": "$default", "rawPath": "/auth/apple", "rawQueryString": "",
            "headers": inner["headers"] ?? [:], "body": inner["body"] ?? "", "isBase64Encoded": false,
            "requestContext": context,
        ]
        let first = try site.send(plain)
        #expect(try site.send(JSONSerialization.data(withJSONObject: gateway)).status == 200)
        let export = try site.run("accounts", "export", first.accountID)
        let json = try #require(JSONSerialization.jsonObject(with: export.output) as? [String: Any])
        let audit = try #require(json["audit"] as? [[String: Any]])
        #expect(audit.count == 3 && audit.allSatisfy { $0["source_address"] is NSNull })
        #expect(!export.text.contains("192.0.2.99"))
        let sessions = try #require(json["sessions"] as? [[String: Any]])
        #expect(sessions.map { $0["user_agent"] as? String } == ["Finnova/1.5", "Finnova/1.4"])
    }

    @Test func ofFortySignInsAtOnceExactlyAsManyPassAsTheLimitSays() throws {
        let site = try FunctionSite()
        // A window that ends in this minute ends for nobody else than a test at midnight.
        site.environment["AUTH_APPLE_RATE_LIMITS"] = "sign-in=7/86400"
        let event = try site.event(token: site.token("--subject", "001.limit.1"))
        let answers = try site.atOnce(Array(repeating: event, count: 40))
        #expect(answers.count { $0.status < 300 } == 7)
        let refused = answers.filter { $0.status == 429 }
        #expect(refused.count == 33)
        for answer in refused {
            let seconds = Int(answer.headers["retry-after"] ?? "") ?? 0
            #expect((1...86_400).contains(seconds))
            #expect(answer.headers["ratelimit-policy"] == #""sign-in";q=7;w=86400"#)
            #expect(answer.headers["ratelimit"] == #""sign-in";r=0;t=\#(seconds)"#)
        }
        // Off again, by one variable.
        site.environment["AUTH_APPLE_RATE_LIMITS"] = "off"
        #expect(try site.send(event).status == 200)
    }

    @Test func refreshesAreLimitedBySessionOverAllProcesses() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_RATE_LIMITS"] = "refresh=5/86400"
        site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "60"
        let one = try site.send(site.event(token: site.token("--subject", "001.limit.2"))).refreshToken
        let two = try site.send(site.event(token: site.token("--subject", "001.limit.2"))).refreshToken
        let event = try Self.event("POST", "/auth/refresh", refreshToken: one)
        let answers = try site.atOnce(Array(repeating: event, count: 20))
        #expect(answers.count { $0.status == 200 } == 5)
        #expect(answers.count { $0.status == 429 } == 15)
        #expect(try Self.refresh(site, two).status == 200)
    }

    @Test func throughRotationsOfOurKeysEverySessionAndEveryLivingAccessTokenStaysGood() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "60"
        let signIn = try site.send(site.event(token: site.token("--subject", "001.keys.1")))
        let untouched = try site.send(site.event(token: site.token("--subject", "001.keys.1"))).refreshToken
        var token = signIn.refreshToken
        var access = signIn.accessToken
        for step in 1...3 {
            let first = try Self.refresh(site, token)
            try Self.rotate(site)
            // Signed before the rotation, and still good; made before, and made again.
            #expect(try site.send(Self.event("GET", "/auth/me", accessToken: first.accessToken)).status == 200)
            #expect(try Self.refresh(site, token).refreshToken == first.refreshToken, "step \(step)")
            let second = try Self.refresh(site, first.refreshToken)
            #expect(second.status == 200)
            (token, access) = (second.refreshToken, second.accessToken)
        }
        #expect(try site.send(Self.event("GET", "/auth/me", accessToken: access)).status == 200)
        #expect(try Self.refresh(site, untouched).status == 200)
        // Of the key that signed the first token nothing is published any more.
        #expect(try site.send(Self.event("GET", "/auth/me", accessToken: signIn.accessToken)).status == 401)
    }
}
#endif
