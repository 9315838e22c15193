import Accounts
import AppleID
import AuthFunction
import JOSE
import TestSupport
import Testing

/// Values that must come out nowhere but where they belong.
struct CanaryTests {
    private static let nonce = "canary-nonce-4711"
    private static let name = "Canaria Nombre"
    private static let bodyEmail = "canary-body@example.com"
    private static let tokenEmail = "canary-token@example.com"
    private static let device = "canary-device-0815"
    private static let subject = "canary-subject"

    private static func body(_ token: String) -> JSON {
        [
            "identity_token": .string(token), "nonce": .string(nonce), "full_name": .string(name),
            "email": .string(bodyEmail), "deviceInfo": ["model": .string(device), device: .null],
        ]
    }

    private static var goodForge: TokenForge {
        TokenForge(subject: subject).with(["nonce": .string(nonce), "email": .string(tokenEmail)])
    }

    private static let personal = [nonce, name, "Canaria", bodyEmail, tokenEmail, "canary", device, subject]

    @Test func `A sign-in's log line has no token, nonce, e-mail, name, device or sub`() throws {
        let token = Self.goodForge.token
        let doorway = Doorway()
        for status in [201, 200] {
            let answer = try doorway.post(Self.body(token).text)
            #expect(answer.status == status)
            let line = answer.log.text
            for canary in Self.personal { #expect(!line.contains(canary), "\(canary)") }
            for part in token.split(separator: ".") { #expect(!line.contains(part)) }
            for field in ["access_token", "refresh_token"] {
                let ours = try #require(answer.json[field]?.string)
                #expect(!line.contains(ours) && !line.contains(ours.suffix(20)))
            }
            // And what the client gave in confidence does not come back either, but for the name, which is the account's.
            for canary in [Self.nonce, Self.bodyEmail, Self.device, Self.subject] {
                #expect(!answer.eventText.contains(canary), "\(canary)")
            }
            #expect(!answer.eventText.contains(try #require(token.split(separator: ".").last)))
        }
    }

    private enum Place { case asItIs, otherStore, noKeys, nonceRequired }

    private static let failures: [(String, Int, String, Place)] = {
        let good = body(goodForge.token)
        func changed(_ changes: [String: JSON?]) -> String {
            var object = good.object ?? [:]
            for (name, value) in changes { object[name] = value }
            return JSON.object(object).text
        }
        func token(_ forge: TokenForge) -> String { changed(["identity_token": .string(forge.token)]) }
        let deep: JSON = ["a": ["b": ["c": ["d": [device: .string(device)]]]]]
        return [
            (good.text, 503, "store", .otherStore), (good.text, 503, "keys", .noKeys),
            (changed(["nonce": JSON?.none]), 401, "nonce", .nonceRequired),
            (changed(["nonce": "canary-other"]), 401, "nonce", .asItIs),
            (token(goodForge.with(["nonce": JSON?.none])), 401, "nonce", .asItIs),
            (token(goodForge.with(["aud": "canary.app"])), 401, "audience", .asItIs),
            (token(goodForge.with(["iss": "https://canary.example"])), 401, "issuer", .asItIs),
            (token(goodForge.with(["exp": .integer(1)])), 401, "expired", .asItIs),
            (token(goodForge.withHeader(["kid": "canary-kid"])), 401, "kid", .asItIs),
            (token(goodForge.withHeader(["alg": "canary-alg"])), 401, "alg", .asItIs),
            (changed(["identity_token": "canary.canary.canary"]), 401, "malformed", .asItIs),
            (changed(["identity_token": .array(["canary"])]), 400, "type", .asItIs),
            (changed(["identityToken": "canary"]), 400, "twice", .asItIs),
            (changed(["nonce": .string(String(repeating: "canary", count: 100))]), 400, "nonce", .asItIs),
            (changed(["nonce": ["canary": "canary"]]), 400, "nonce", .asItIs),
            (changed(["deviceInfo": .string(device)]), 400, "device", .asItIs),
            (changed(["deviceInfo": deep]), 400, "device", .asItIs),
            (changed(["deviceInfo": JSON?.none, "canary": "canary"]), 400, "device", .asItIs),
            (good.text + "canary", 400, "json", .asItIs), ("[\(good.text)]", 400, "json", .asItIs),
            (#"{"canary":1,"canary":2}"#, 400, "json", .asItIs),
            (changed(["canary": .string(String(repeating: "canary", count: 12_000))]), 413, "size", .asItIs),
        ]
    }()

    @Test(arguments: failures.indices)
    func `No failure repeats anything of its request, in the answer or in the log`(_ index: Int) throws {
        let (body, status, kind, place) = Self.failures[index]
        let doorway =
            switch place {
            case .asItIs: Doorway()
            case .otherStore: Doorway(users: FailingUsers(error: .unavailable(reason: "down")))
            case .noKeys: Doorway(keys: FixedKeys(unavailable: KeysUnavailable(reason: "down", retryAfter: 1)))
            case .nonceRequired: Doorway(requiresNonce: true)
            }
        let answer = try doorway.post(body)
        #expect(answer.status == status, "\(kind)")
        for canary in Self.personal + ["eyJ"] {
            #expect(!answer.eventText.contains(canary), "\(kind): \(canary) in the answer")
            #expect(!answer.log.text.contains(canary), "\(kind): \(canary) in the log")
        }
    }

    @Test(
        arguments: [
            ["method": "canary", "path": "/health"], ["method": "GET", "path": "/canary"],
            ["method": "GET", "path": "/canary\r\nset-cookie: canary=1"],
            ["method": "canary\r\ncanary: 1", "path": "/health"],
            ["method": "POST", "path": "/auth/apple", "headers": ["content-type": "canary/json\r\ncanary: 1"]],
            [
                "method": "GET", "path": "/x",
                "headers": ["accept-language": "canary\r\ncanary: 1", "canary\r\n": "canary"],
            ],
            ["canary": "canary"], ["method": "GET", "path": "/health", "headers": ["canary": .integer(1)]],
        ] as [JSON])
    func `Nothing of an event comes back in a header, in an answer or in the log`(_ event: JSON) throws {
        let answer = try Doorway().answer(event: event.serialized())
        #expect(!answer.eventText.contains("canary"))
        #expect(!answer.log.text.contains("canary"))
        for header in answer.headers.members {
            #expect(header.value.string?.utf8.allSatisfy { (0x20..<0x7F).contains($0) } == true)
        }
    }
}

/// The same of what a session's client holds.
struct SessionCanaryTests {
    private static let key = "canary-idempotency-1234"

    /// The parts of tokens that open something: all of a refresh token but its session's id, and a signature.
    private func secrets(_ answers: Answer...) -> [String] {
        answers.flatMap { answer in
            [String(answer.refreshToken.suffix(60)), String(answer.accessToken.suffix(60)), answer.accessToken]
        } + [Self.key]
    }

    @Test func `No log line of a session's life has a token, a key or a device`() throws {
        let doorway = Doorway(limits: [.refresh: RateLimit(attempts: 3, seconds: 60)])
        let headers: JSON = ["content-type": "application/json", "idempotency-key": .string(Self.key)]
        let signIn = try doorway.signIn(["deviceInfo": ["name": "canary-device"]], headers: headers)
        let refreshed = try doorway.send("/auth/refresh", refreshToken: signIn.refreshToken)
        let second = try doorway.signIn()
        var answers = [signIn, refreshed, second]
        answers.append(try doorway.signIn(headers: headers))
        answers.append(try doorway.send("/auth/refresh", refreshToken: refreshed.refreshToken))
        for method in ["GET", "HEAD"] {
            answers.append(try doorway.send(method, "/auth/sessions", accessToken: signIn.accessToken))
            answers.append(try doorway.send(method, "/auth/me", accessToken: signIn.accessToken))
        }
        answers.append(
            try doorway.send("DELETE", "/auth/sessions/\(second.sessionID)", accessToken: signIn.accessToken))
        answers.append(try doorway.send("DELETE", "/auth/sessions", accessToken: signIn.accessToken))
        answers.append(try doorway.send("/auth/logout", refreshToken: signIn.refreshToken))
        answers.append(try doorway.send("POST", "/auth/logout", accessToken: second.accessToken))
        #expect(answers.allSatisfy { $0.status < 300 }, "\(answers.map(\.status))")
        for answer in answers {
            for secret in secrets(signIn, refreshed, second) + ["canary", TokenForge.subject, "privaterelay"] {
                #expect(!answer.log.text.contains(secret))
            }
        }
    }

    @Test func `No refusal repeats a token or a key, in the answer or in the log`() throws {
        let doorway = Doorway(limits: [.refresh: RateLimit(attempts: 2, seconds: 60)])
        let signIn = try doorway.signIn()
        let first = try doorway.send("/auth/refresh", refreshToken: signIn.refreshToken)
        let second = try doorway.send("/auth/refresh", refreshToken: first.refreshToken)
        let limited = try doorway.send("/auth/refresh", refreshToken: signIn.refreshToken)
        #expect(limited.status == 429)
        doorway.now = TokenForge.now.adding(seconds: 60)
        let reused = try doorway.send("/auth/refresh", refreshToken: signIn.refreshToken)
        #expect(reused.log["reason"] == "refresh_reused")
        let gone = try doorway.send("GET", "/auth/me", accessToken: second.accessToken)
        let twice = try doorway.answer(
            "POST", "/auth/refresh",
            body: (["refresh_token": .string(second.refreshToken), "refreshToken": "canary"] as JSON).text)
        let badKey: JSON = [
            "content-type": "application/json", "idempotency-key": .string(String(repeating: Self.key, count: 20)),
        ]
        let refused = try doorway.signIn(headers: badKey)
        let path = try doorway.send(
            "DELETE", "/auth/sessions/\(second.refreshToken)", accessToken: try doorway.signIn().accessToken)
        let expected = [429, 401, 401, 400, 400, 404]
        let answers = [limited, reused, gone, twice, refused, path]
        #expect(answers.map(\.status) == expected)
        for answer in answers {
            for secret in secrets(signIn, first, second) + ["canary"] {
                #expect(!answer.log.text.contains(secret) && !answer.eventText.contains(secret), "\(answer.status)")
            }
        }
    }
}
