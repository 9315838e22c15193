import Accounts
import AppleID
import AuthFunction
import JOSE
import TestSupport
import Testing
import UserStores

/// `DELETE /auth/me`, `POST /auth/apple/notifications` and the code of a sign-in, from the outside.
struct AccountLifeRouteTests {
    private static let code = "c0.canary-code"

    private static func body(_ changes: [String: JSON?] = [:]) -> [String: JSON?] {
        let hash = TokenHash.text(of: code, algorithm: .rs256, using: TokenForge.cryptography)
        let token = TokenForge().with(["c_hash": .string(hash)]).token
        return ["identity_token": .string(token), "authorization_code": .string(code)].merging(changes) { $1 }
    }

    private func clients(_ answer: Answer) -> [String] {
        answer.errands.map { errand in
            switch errand {
            case .exchange(let code): "\(code.clientID) \(String(decoding: code.code.bytes, as: UTF8.self))"
            case .revoke: "revoke"
            }
        }
    }

    @Test func `What is off is not there`() throws {
        let doorway = Doorway()
        let deleted = try doorway.send("DELETE", "/auth/me", accessToken: doorway.signIn().accessToken)
        #expect(deleted.status == 405 && deleted.headers["allow"] == "GET, HEAD")
        #expect(try doorway.answer("POST", "/auth/apple/notifications", body: "{}").status == 404)
        for code: JSON in ["c0.code", .integer(1), ""] {
            let answer = try doorway.signIn(["authorization_code": code])
            #expect(answer.status < 300 && answer.errands.isEmpty)
        }
    }

    @Test(arguments: ["authorization_code", "authorizationCode"])
    func `The code goes to Apple after the answer, in either spelling`(_ name: String) throws {
        var body = Self.body(["authorization_code": JSON?.none])
        body[name] = .string(Self.code)
        let answer = try Doorway(codes: .refused).signIn(body)
        #expect(answer.status == 201 && clients(answer) == ["\(TokenForge.audience) \(Self.code)"])
        #expect(!answer.eventText.contains("canary") && !answer.log.text.contains("canary"))
    }

    @Test(
        arguments: ["", .integer(1), .array([]), .bool(true), .string(String(repeating: "c", count: 1025))] as [JSON])
    func `A code that can be none is an error of its field`(_ code: JSON) throws {
        let answer = try Doorway(codes: .refused).signIn(Self.body(["authorization_code": code]))
        #expect(answer.status == 400)
        #expect(answer.errors == ["authorization_code: not_a_string_of_1_to_1024_bytes"])
    }

    @Test func `Null is no code, and both spellings at once are one too many`() throws {
        let doorway = Doorway(codes: .refused)
        #expect(try doorway.signIn(Self.body(["authorization_code": .null])).errands.isEmpty)
        #expect(
            try doorway.signIn(Self.body(["authorizationCode": "c1"])).errors == ["authorization_code: duplicate"])
    }

    @Test func `Another token's code: 401 and the log says why, or it is dropped`() throws {
        let body = Self.body(["authorization_code": "c0.canary-other"])
        let refused = try Doorway(codes: .refused).signIn(body)
        #expect(refused.status == 401 && refused.code == "invalid_token" && refused.errands.isEmpty)
        #expect(refused.log["reason"] == "code_mismatch")
        let dropped = try Doorway(codes: .ignored).signIn(body)
        #expect(dropped.status == 201 && dropped.errands.isEmpty && dropped.log["reason"] == "code_dropped")
        #expect(!refused.log.text.contains("canary") && !dropped.log.text.contains("canary"))
    }

    @Test func `DELETE /auth/me: 204 with a grant, and Apple is told after the answer`() throws {
        let users = MemoryUserStore()
        let doorway = Doorway(users: users, codes: .refused, deletionSeconds: 600)
        let signIn = try doorway.signIn()
        let id = try #require(signIn.accountID)
        try users.keep(AppleGrant(accountID: id, clientID: "c", keyID: "k", sealed: [1], obtainedAt: TokenForge.now))
        let answer = try doorway.send("DELETE", "/auth/me", accessToken: signIn.accessToken)
        #expect(answer.status == 204 && answer.body.isEmpty && clients(answer) == ["revoke"])
        #expect(answer.headers["cache-control"] == "no-store")
        #expect(answer.log["route"] == "DELETE /auth/me" && answer.log["sub_hash"] == signIn.log["sub_hash"])
        #expect(try doorway.send("GET", "/auth/me", accessToken: signIn.accessToken).status == 401)
    }

    @Test(arguments: ["es", "en"])
    func `DELETE /auth/me: 200 without a grant, and how to revoke by hand`(_ language: String) throws {
        let doorway = Doorway(deletionSeconds: 600)
        let token = try doorway.signIn().accessToken
        let answer = try doorway.answer(
            "DELETE", "/auth/me",
            headers: ["authorization": .string("Bearer \(token)"), "accept-language": .string(language)])
        #expect(answer.status == 200 && answer.code == "revoke_by_hand" && answer.errands.isEmpty)
        #expect(answer.json["url"] == "https://account.apple.com")
        #expect(answer.headers["content-language"] == .string(language))
        let phrase = language == "es" ? "Ajustes › tu nombre › Iniciar sesión con Apple" : "Settings › your name"
        #expect(answer.json["detail"]?.string?.contains(phrase) == true)
    }

    @Test func `DELETE /auth/me: 403 when the sign-in is too long ago, and the session stays`() throws {
        let doorway = Doorway(deletionSeconds: 60)
        let signIn = try doorway.signIn()
        doorway.now = TokenForge.now.adding(seconds: 61)
        let answer = try doorway.send("DELETE", "/auth/me", accessToken: signIn.accessToken)
        #expect(answer.status == 403 && answer.code == "reauthentication_required")
        #expect(
            answer.headers["www-authenticate"]
                == #"Bearer error="insufficient_user_authentication", max_age="60""#)
        #expect(try doorway.send("GET", "/auth/me", accessToken: signIn.accessToken).status == 200)
        #expect(try doorway.answer("DELETE", "/auth/me", headers: nil).status == 401)
        #expect(
            try Doorway(users: FailingUsers(error: .unavailable(reason: "down")), deletionSeconds: 60)
                .send("DELETE", "/auth/me", accessToken: signIn.accessToken).status == 503)
    }

    private static func notification(_ type: String, claims: [String: JSON?] = [:]) -> JSON {
        let event: JSON = [
            "type": .string(type), "sub": .string(TokenForge.subject),
            "event_time": .integer(TokenForge.now.milliseconds), "email": "canary@privaterelay.appleid.com",
        ]
        var forge = TokenForge()
        forge.claims = [
            "iss": .string(TokenForge.issuer), "aud": .string(TokenForge.audience), "jti": "canary-jti",
            "iat": .integer(TokenForge.now.seconds), "exp": .integer(TokenForge.now.seconds + 86_400),
            "events": .string(event.text),
        ]
        return ["payload": .string(forge.with(claims).token)]
    }

    private func hear(_ doorway: Doorway, _ body: JSON) throws -> Answer {
        try doorway.answer("POST", "/auth/apple/notifications", body: body.text)
    }

    @Test func `A notification is answered 200 and an empty object, and the log says what came of it`() throws {
        let doorway = Doorway(takesNotifications: true)
        let signIn = try doorway.signIn()
        for reason in ["consent_revoked", "repeated"] {
            let answer = try hear(doorway, Self.notification("consent-revoked"))
            #expect(answer.status == 200 && answer.body == "{}" && answer.errands.isEmpty)
            #expect(answer.log["outcome"] == "ok" && answer.log["reason"] == .string(reason))
            #expect(answer.log["route"] == "POST /auth/apple/notifications")
            #expect(answer.log["sub_hash"] == signIn.log["sub_hash"])
            #expect(!answer.log.text.contains("canary"))
        }
        #expect(try doorway.send("GET", "/auth/me", accessToken: signIn.accessToken).status == 401)
        let back = try doorway.signIn()
        #expect(back.status == 200 && back.accountID == signIn.accountID)
        let unknown = try hear(doorway, Self.notification("account-merged"))
        #expect(unknown.status == 200 && unknown.log["reason"] == "unknown_type: account-merged")
        #expect(try hear(doorway, Self.notification("canary@example.com")).log["reason"] == "unknown_type")
    }

    private static let bad: [(JSON, Int, String)] = [
        ([:], 400, "payload: required"), (["payload": .null], 400, "payload: required"),
        (["payload": .integer(1)], 400, "payload: not_a_string"), ([], 400, "body: not_a_json_object"),
        (["payload": "canary"], 401, "malformed"), (["payload": ""], 401, "malformed"),
        (notification("account-delete", claims: ["aud": "com.stranger.app"]), 401, "audience"),
        (notification("account-delete", claims: ["events": .null]), 400, "payload: not_a_notification_events"),
        (["payload": .string(TokenForge().token)], 400, "payload: not_a_notification_jti"),
    ]

    @Test(arguments: bad.indices)
    func `What is no notification of Apple's for us: 400 or 401, and nothing changes`(_ index: Int) throws {
        let (body, status, reason) = Self.bad[index]
        let doorway = Doorway(takesNotifications: true)
        let signIn = try doorway.signIn()
        let answer = try hear(doorway, body)
        #expect(answer.status == status && answer.log["reason"] == .string(reason), "\(answer.log.text)")
        #expect(!answer.eventText.contains("canary") && !answer.log.text.contains("canary"))
        #expect(try doorway.send("GET", "/auth/me", accessToken: signIn.accessToken).status == 200)
    }

    @Test func `An outage is 503, so that Apple tries again`() throws {
        let down = Doorway(users: FailingUsers(error: .unavailable(reason: "down")), takesNotifications: true)
        let store = try hear(down, Self.notification("consent-revoked"))
        #expect(store.status == 503 && store.code == "store_unavailable" && store.headers["retry-after"] == "5")
        let keyless = Doorway(
            keys: FixedKeys(unavailable: KeysUnavailable(reason: "down", retryAfter: 1)), takesNotifications: true)
        #expect(try hear(keyless, Self.notification("consent-revoked")).code == "keys_unavailable")
    }
}
