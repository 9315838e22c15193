import Accounts
import AuthFunction
import JOSE
import TestSupport
import Testing

/// `/auth/refresh`, `/auth/logout`, `/auth/me` and `/auth/sessions` from the outside.
struct SessionRouteTests {
    private let doorway = Doorway()
    private static let over = "La sesión ya no es válida. Inicia sesión de nuevo."

    @Test func `POST /auth/refresh: 200, and the same members as a sign-in`() throws {
        let signIn = try doorway.signIn(["full_name": "Ana"])
        for (name, body) in [("refresh_token", signIn.refreshToken), ("refreshToken", signIn.refreshToken)] {
            let answer = try doorway.answer(
                "POST", "/auth/refresh", body: ([name: .string(body)] as JSON).text)
            #expect(answer.status == 200)
            #expect(answer.json.object?.members.map(\.name) == signIn.json.object?.members.map(\.name))
            #expect(answer.json["is_new"] == .bool(false))
            #expect(answer.json["user"] == signIn.json["user"])
            #expect(answer.sessionID == signIn.sessionID)
            #expect(answer.headers["cache-control"] == "no-store")
            #expect(answer.log["route"] == "POST /auth/refresh")
            #expect(answer.log["sub_hash"] == signIn.log["sub_hash"])
        }
    }

    private static let bodies: [(String, String)] = [
        ("{}", "refresh_token: required"), (#"{"refresh_token":null}"#, "refresh_token: required"),
        (#"{"refresh_token":1}"#, "refresh_token: not_a_string"),
        (#"{"refresh_token":["x"]}"#, "refresh_token: not_a_string"),
        (#"{"refresh_token":"x","refreshToken":"y"}"#, "refresh_token: duplicate"), ("[]", "body: not_a_json_object"),
        ("x", "body: not_json"), (#"{"refresh_token":"x","refresh_token":"y"}"#, "body: not_json"),
    ]

    @Test(arguments: bodies, ["/auth/refresh", "/auth/logout"])
    func `400: a body that names no token is told what is missing`(_ body: (String, String), _ path: String) throws {
        let answer = try doorway.answer("POST", path, body: body.0)
        #expect(answer.status == 400)
        #expect(answer.code == "invalid_request")
        #expect(answer.errors == [body.1])
        #expect(answer.json["detail"] == "La solicitud no es válida. Revisa los campos indicados.")
        #expect(try doorway.answer("POST", path, headers: ["content-type": "text/plain"], body: body.0).status == 415)
    }

    @Test func `Null in one spelling is absent, and the other counts`() throws {
        let token = try doorway.signIn().refreshToken
        let body: JSON = ["refresh_token": .null, "refreshToken": .string(token)]
        #expect(try doorway.answer("POST", "/auth/refresh", body: body.text).status == 200)
    }

    @Test func `401: a refresh token that is none, is used up, or is of nobody; one answer for all`() throws {
        let signIn = try doorway.signIn()
        let first = try doorway.send("/auth/refresh", refreshToken: signIn.refreshToken).refreshToken
        _ = try doorway.send("/auth/refresh", refreshToken: first)
        let unknown = RefreshToken(
            sessionID: UUIDv7(at: TokenForge.now, random: [UInt8](repeating: 1, count: 10)),
            secret: SecretBytes([UInt8](repeating: 1, count: 32)), salt: [1], using: TokenForge.cryptography)
        let madeUp = RefreshToken(
            sessionID: try #require(UUIDv7(signIn.sessionID)), secret: unknown.secret, salt: [1],
            using: TokenForge.cryptography)
        var answers: Set<String> = []
        for (token, reason) in [
            ("", "refresh_malformed"), ("x", "refresh_malformed"), (unknown.text, "session_unknown"),
            (madeUp.text, "refresh_unknown"), (signIn.refreshToken, "refresh_reused"), (first, "session_unknown"),
        ] {
            let answer = try doorway.send("/auth/refresh", refreshToken: token)
            #expect(answer.status == 401)
            #expect(answer.code == "invalid_token")
            #expect(answer.headers["www-authenticate"] == #"Bearer error="invalid_token""#)
            #expect(answer.log["reason"]?.string == reason)
            let requestID = try #require(answer.json["request_id"]?.string)
            answers.insert(answer.eventText.replacing(requestID, with: "-"))
        }
        #expect(answers.count == 1)
        #expect(answers.first?.contains(Self.over) == true)
    }

    @Test func `POST /auth/logout: 204 without a body, by refresh token or by access token, and again`() throws {
        for byAccess in [false, true] {
            let signIn = try doorway.signIn()
            for _ in 0..<2 {
                let answer =
                    byAccess
                    ? try doorway.send("POST", "/auth/logout", accessToken: signIn.accessToken)
                    : try doorway.send("/auth/logout", refreshToken: signIn.refreshToken)
                #expect(answer.status == 204)
                #expect(answer.body.isEmpty)
                #expect(answer.headers["cache-control"] == "no-store")
            }
            #expect(try doorway.send("/auth/refresh", refreshToken: signIn.refreshToken).status == 401)
            #expect(try doorway.send("GET", "/auth/me", accessToken: signIn.accessToken).status == 401)
        }
        #expect(try doorway.answer("POST", "/auth/logout", headers: nil).status == 401)
    }

    @Test func `GET /auth/me: the account, and which session it is`() throws {
        let signIn = try doorway.signIn(["full_name": "Ana Pérez"])
        let answer = try doorway.send("GET", "/auth/me", accessToken: signIn.accessToken)
        #expect(answer.status == 200)
        #expect(
            answer.json == [
                "user": signIn.json["user"] ?? .null, "created_at": "2027-01-15T08:00:00.000Z",
                "session": ["id": .string(signIn.sessionID)],
            ])
        #expect(answer.headers["cache-control"] == "no-store")
        #expect(answer.log["sub_hash"] == signIn.log["sub_hash"])
    }

    @Test func `GET /auth/sessions: the members of a device that a person knows it by, as text or null`() throws {
        let device: JSON = [
            "id": "6F1C", "name": "Teléfono\u{202E} de Ana\n", "model": .integer(16), "platform": "iOS",
            "os_version": .string(String(repeating: "9", count: 300)), "push_token": "canary", "extra": ["a": "canary"],
        ]
        let old = try doorway.signIn(["deviceInfo": device])
        doorway.now = TokenForge.now.adding(seconds: 5)
        let current = try doorway.signIn(["deviceInfo": [:]])
        let answer = try doorway.send("GET", "/auth/sessions", accessToken: current.accessToken)
        #expect(answer.status == 200)
        let list = try #require(answer.json["sessions"]?.array)
        #expect(list.count == 2)
        let names = ["id", "current", "device", "user_agent", "created_at", "last_used_at", "expires_at"]
        for entry in list { #expect(entry.object?.members.map(\.name) == names) }
        #expect(list.map { $0["id"]?.string } == [current.sessionID, old.sessionID])
        #expect(list.map { $0["current"] } == [.bool(true), .bool(false)])
        #expect(
            list[1]["device"] == [
                "id": "6F1C", "name": "Teléfono de Ana", "model": .null, "platform": "iOS",
                "os_version": .string(String(repeating: "9", count: 200)), "app_version": .null,
            ])
        #expect(list[1]["created_at"] == "2027-01-15T08:00:00.000Z")
        #expect(list[1]["expires_at"] == "2027-02-14T08:00:00.000Z")
        #expect(!answer.body.contains("canary"))
        // What is not shown is kept, and is the person's to have.
        let id = try #require(old.accountID)
        let export = try #require(try PersonalData(of: id, in: doorway.users)).json { _ in "" }
        #expect(export["sessions"]?.array?.last?["device_info"] == device)
        #expect(export.text.contains("canary"))
    }

    @Test(arguments: [
        (nil, nil), ("", nil), ("Finnova/1.4 (iPhone; iOS 26.1)", "Finnova/1.4 (iPhone; iOS 26.1)"),
        (" Finnova\u{202E}\t/1.4\u{1B}[2J ", "Finnova /1.4[2J"),
        (String(repeating: "é", count: 300), String(repeating: "é", count: 256)),
    ])
    func `GET /auth/sessions: what the client called itself, cleaned and cut`(_ sent: String?, _ shown: String?) throws
    {
        let signIn = try doorway.signIn(
            headers: ["content-type": "application/json", "User-Agent": .string(orNull: sent)])
        let answer = try doorway.send("GET", "/auth/sessions", accessToken: signIn.accessToken)
        #expect(answer.json["sessions"]?.array?.map { $0["user_agent"] } == [.string(orNull: shown)])
    }

    @Test func `DELETE /auth/sessions/{id}: 204 for one's own, 404 for another's, for none, and for what is no id`()
        throws
    {
        let asking = try doorway.signIn()
        let other = try doorway.signIn()
        let stranger = try doorway.signIn(["identity_token": .string(TokenForge(subject: "stranger").token)])
        func end(_ id: String) throws -> Answer {
            try doorway.send("DELETE", "/auth/sessions/\(id)", accessToken: asking.accessToken)
        }
        #expect(try end(other.sessionID).status == 204)
        var answers: Set<String> = []
        for id in [
            other.sessionID, stranger.sessionID, "x", other.sessionID.uppercased(),
            "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
            "..", "%2e", "*", "' OR 1=1", String(repeating: "a", count: 5000),
        ] {
            let answer = try end(id)
            #expect(answer.status == 404, "\(id)")
            #expect(answer.log["route"] == "DELETE /auth/sessions/{id}")
            let requestID = try #require(answer.json["request_id"]?.string)
            answers.insert(answer.eventText.replacing(requestID, with: "-"))
        }
        #expect(answers.count == 1)
        #expect(try doorway.send("/auth/refresh", refreshToken: stranger.refreshToken).status == 200)
        #expect(try end(asking.sessionID).status == 204)
        #expect(try end("x").status == 401)
    }

    @Test func `DELETE /auth/sessions: all others end`() throws {
        let others = try (0..<3).map { _ in try doorway.signIn() }
        let asking = try doorway.signIn()
        #expect(try doorway.send("DELETE", "/auth/sessions", accessToken: asking.accessToken).status == 204)
        for other in others {
            #expect(try doorway.send("/auth/refresh", refreshToken: other.refreshToken).status == 401)
        }
        #expect(try doorway.send("/auth/refresh", refreshToken: asking.refreshToken).status == 200)
    }

    static let guarded: [(String, String)] = [
        ("GET", "/auth/me"), ("GET", "/auth/sessions"), ("DELETE", "/auth/sessions"),
        ("DELETE", "/auth/sessions/017f22e2-79b0-7cc3-98c4-dc0c0c07398f"), ("DELETE", "/auth/sessions/x"),
        ("POST", "/auth/logout"),
    ]

    @Test(arguments: guarded)
    func `401: without a token the challenge names no error, with a bad one it does (RFC 6750 §3.1)`(
        _ method: String, _ path: String
    ) throws {
        func challenge(_ header: JSON?) throws -> JSON? {
            var headers = JSON.Object()
            headers["Authorization"] = header
            let answer = try doorway.answer(method, path, headers: .object(headers))
            #expect(answer.status == 401)
            #expect(answer.json["detail"]?.string == Self.over)
            return answer.headers["www-authenticate"]
        }
        for header in [
            nil, "", "Bearer", "Bearer ", "Basic YTpi", "Bearer a b", "bearerx", "Bearer\tx", "x", "Bearer a, Bearer b",
        ] as [JSON?] {
            #expect(try challenge(header) == "Bearer", "\(header?.text ?? "none")")
        }
        for header in ["Bearer x", "bearer x.y.z", "BEARER e30.e30.e30"] as [JSON] {
            #expect(try challenge(header) == #"Bearer error="invalid_token""#)
        }
    }

    @Test(arguments: [
        ("GET", "/auth/refresh", "POST"), ("GET", "/auth/logout", "POST"), ("DELETE", "/auth/logout", "POST"),
        ("POST", "/auth/me", "GET, HEAD"), ("DELETE", "/auth/me", "GET, HEAD"),
        ("POST", "/auth/sessions", "GET, HEAD, DELETE"),
        ("GET", "/auth/sessions/x", "DELETE"), ("PATCH", "/auth/sessions/x", "DELETE"),
    ])
    func `405: another method is answered with those that the route takes`(
        _ method: String, _ path: String, _ allowed: String
    ) throws {
        let answer = try doorway.answer(method, path)
        #expect(answer.status == 405)
        #expect(answer.headers["allow"]?.string == allowed)
    }

    @Test(arguments: [
        "/auth/sessions/", "/auth/sessions/x/y", "/auth/sessions//", "/auth/me/", "/auth/refresh/x", "/auth/Sessions",
    ])
    func `404: what only looks like a route`(_ path: String) throws {
        #expect(try doorway.answer("DELETE", path).status == 404)
    }

    @Test(arguments: ["/auth/me", "/auth/sessions"])
    func `HEAD asks for the same token and gives no body`(_ path: String) throws {
        let token = try doorway.signIn().accessToken
        let head = try doorway.send("HEAD", path, accessToken: token)
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(try doorway.answer("HEAD", path, headers: nil).status == 401)
    }

    @Test func `403: a disabled account is told so at sign-in, and its sessions are gone`() throws {
        let signIn = try doorway.signIn()
        let id = try #require(signIn.accountID)
        _ = try doorway.users.change(account: .id(id), once: nil, at: TokenForge.now) { account, sessions in
            var changed = account
            changed.disabledAt = TokenForge.now
            return .update(
                changed, ending: sessions,
                audit: [
                    AuditEntry(
                        time: TokenForge.now, event: .accountDisabled, accountID: account.id,
                        origin: AuditEntry.Origin(requestID: "operator"))
                ])
        }
        let answer = try doorway.signIn()
        #expect(answer.status == 403)
        #expect(answer.code == "account_disabled")
        #expect(answer.json["detail"] == "Esta cuenta está deshabilitada. Comunícate con soporte.")
        #expect(try doorway.send("/auth/refresh", refreshToken: signIn.refreshToken).status == 401)
        #expect(try doorway.send("GET", "/auth/me", accessToken: signIn.accessToken).status == 401)
    }

    @Test func `Every failure of a session speaks both languages`() throws {
        for (accepted, detail) in [("es", Self.over), ("en", "The session is no longer valid. Please sign in again.")] {
            let answer = try doorway.answer("GET", "/auth/me", headers: ["accept-language": .string(accepted)])
            #expect(answer.json["detail"]?.string == detail)
            #expect(answer.headers["content-language"]?.string == accepted)
        }
    }

    @Test func `The audit has the request's name and the address that the runtime gave`() throws {
        let signIn = try doorway.signIn()
        let body: JSON = ["refresh_token": .string(signIn.refreshToken)]
        let request = Request(
            method: "POST", path: "/auth/logout",
            headers: ["content-type": "application/json", "x-forwarded-for": "203.0.113.1", "x-request-id": "forged"],
            body: body.serialized(), context: .init(requestID: "runtime-1", sourceAddress: "192.0.2.9"))
        #expect(try doorway.answer(to: .success(request)).status == 204)
        let accountID = try #require(signIn.accountID)
        let entry = try #require(try doorway.users.audit(of: accountID).last)
        #expect(entry.event == .loggedOut)
        #expect(entry.origin == AuditEntry.Origin(requestID: "runtime-1", sourceAddress: "192.0.2.9"))
    }

    @Test(arguments: [StoreError.unavailable(reason: "down"), .unusable(reason: "down")])
    func `503: a store that is down is never the token's fault`(_ error: StoreError) throws {
        let signIn = try doorway.signIn()
        let down = Doorway(users: FailingUsers(error: error))
        for answer in try [
            down.send("/auth/refresh", refreshToken: signIn.refreshToken),
            down.send("/auth/logout", refreshToken: signIn.refreshToken),
            down.send("POST", "/auth/logout", accessToken: signIn.accessToken),
            down.send("GET", "/auth/me", accessToken: signIn.accessToken),
            down.send("GET", "/auth/sessions", accessToken: signIn.accessToken),
            down.send("DELETE", "/auth/sessions", accessToken: signIn.accessToken),
            down.send("DELETE", "/auth/sessions/\(signIn.sessionID)", accessToken: signIn.accessToken),
        ] {
            #expect(answer.status == 503)
            #expect(answer.code == "store_unavailable")
            #expect(answer.headers["retry-after"] == "5")
        }
    }
}

/// `Idempotency-Key` on `POST /auth/apple`.
struct IdempotencyKeyTests {
    private let doorway = Doorway()
    private let token = TokenForge().token

    private func send(_ key: JSON?, _ changes: [String: JSON?] = [:]) throws -> Answer {
        var headers: JSON.Object = ["content-type": "application/json"]
        headers["Idempotency-Key"] = key
        return try doorway.signIn(["identity_token": .string(token)].merging(changes) { $1 }, headers: .object(headers))
    }

    @Test func `The repetition gets the same bytes for ten minutes, and not after`() throws {
        let first = try send("8e03978e", ["full_name": "Ana Pérez"])
        #expect(first.status == 201)
        for seconds in [0, 300, 599] as [Int64] {
            doorway.now = TokenForge.now.adding(seconds: seconds)
            #expect(try send("8e03978e", ["full_name": "Ana Pérez"]).eventText == first.eventText)
        }
        doorway.now = TokenForge.now.adding(seconds: 600)
        let later = try send("8e03978e")
        #expect(later.status == 200 && later.sessionID != first.sessionID)
    }

    @Test func `A key is the same with and without quotes, and without one every request is its own`() throws {
        let first = try send("key-1")
        #expect(try send("\"key-1\"").eventText == first.eventText)
        #expect(try send("key-2").sessionID != first.sessionID)
        #expect(try send(nil).sessionID != first.sessionID)
    }

    @Test func `A key has 1 to 255 bytes`() throws {
        for key in ["", "\"\"", String(repeating: "k", count: 256), String(repeating: "ñ", count: 128)] {
            let answer = try send(.string(key))
            #expect(answer.status == 400)
            #expect(answer.errors == ["Idempotency-Key: not_a_string_of_1_to_255_bytes"])
        }
        #expect(try send(.string(String(repeating: "k", count: 255))).status == 201)
    }

    @Test func `A token that was refused is not remembered: with a good one the same key signs in`() throws {
        #expect(try send("key-1", ["identity_token": "x.y.z"]).status == 401)
        #expect(try send("key-1").status == 201)
    }
}
