import AppleID
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

struct AppleNotificationTests {
    private static let event: JSON.Object = [
        "type": "consent-revoked", "sub": .string(TokenForge.subject), "event_time": .integer(1_611_765_847_700),
    ]

    /// A notification as Apple sends it, through the verifier.
    private func notification(
        _ changes: [String: JSON?] = [:], claims: [String: JSON?] = [:]
    ) throws -> AppleNotification {
        var event = Self.event
        for (name, value) in changes { event[name] = value }
        return try notification(events: .string(JSON.object(event).text), claims: claims)
    }

    private func notification(events: JSON?, claims: [String: JSON?] = [:]) throws -> AppleNotification {
        var forge = TokenForge()
        forge.claims = [
            "iss": .string(TokenForge.issuer), "aud": .string(TokenForge.audience),
            "exp": .integer(TokenForge.now.seconds + 86_400), "iat": .integer(TokenForge.now.seconds),
            "jti": "jti-1",
        ]
        forge.claims["events"] = events
        let policy = try #require(TokenPolicy(audiences: [TokenForge.audience]))
        let token = try AppleTokenVerifier(policy: policy, cryptography: TokenForge.cryptography)
            .verify(Array(forge.with(claims).token.utf8)[...], keys: TokenForge.keys, at: TokenForge.now)
        return try AppleNotification(token)
    }

    private func refusal(_ work: () throws -> AppleNotification) throws -> AppleNotificationRefusal? {
        do {
            _ = try work()
            return nil
        } catch let refusal as AppleNotificationRefusal {
            return refusal
        }
    }

    @Test(arguments: [
        ("consent-revoked", AppleNotification.Kind.consentRevoked), ("account-delete", .accountDeleted),
        ("account-deleted", .accountDeleted), ("email-disabled", .emailDisabled), ("email-enabled", .emailEnabled),
        ("Consent-Revoked", .unknown("Consent-Revoked")), ("new-kind", .unknown("new-kind")),
    ])
    func `Each kind is read, and a new one is unknown`(_ word: String, _ kind: AppleNotification.Kind) throws {
        let notification = try notification(["type": .string(word)])
        #expect(notification.kind == kind)
        #expect(notification.id == "jti-1" && notification.subject == TokenForge.subject)
        #expect(notification.time == UnixTime(milliseconds: 1_611_765_847_700))
        #expect(notification.email == nil)
    }

    @Test func `An unknown kind is cut, whatever it is made of`() throws {
        let word = "e" + String(repeating: "\u{301}", count: 500)
        guard case .unknown(let kept) = try notification(["type": .string(word)]).kind else {
            Issue.record("it is known")
            return
        }
        #expect(kept.unicodeScalars.count == 64)
    }

    @Test(
        arguments: [
            ("true", true), ("false", false), (.bool(true), true), (.bool(false), false), (.integer(1), false),
            (nil, false),
        ] as [(JSON?, Bool)])
    func `is_private_email is a Boolean or a string`(_ claim: JSON?, _ isPrivate: Bool) throws {
        let notification = try notification([
            "type": "email-enabled", "email": "ana@example.com", "is_private_email": claim,
        ])
        #expect(
            notification.email == AppleEmail(address: "ana@example.com", isVerified: nil, isPrivate: isPrivate))
    }

    @Test func `The event is a string that holds an object, or the object itself`() throws {
        #expect(try notification(events: .object(Self.event)) == notification())
    }

    /// One of the two would come after the other whatever happened first.
    @Test func `Seconds, which Apple's page shows, are told from milliseconds`() throws {
        #expect(try notification(["event_time": .integer(1_508_184_845)]).time == UnixTime(seconds: 1_508_184_845))
        #expect(
            try notification(["event_time": .integer(1_508_184_845_000)]).time == UnixTime(seconds: 1_508_184_845))
    }

    @Test(
        arguments: [
            nil, .null, "", "x", "[]", "null", .array([]), .integer(1), .array([.object(event)]),
            .string(JSON.array([.object(event)]).text), .string(JSON.object(event).text + "x"),
            #"{"type":"account-delete","type":"consent-revoked","sub":"s","event_time":1611765847700}"#,
        ] as [JSON?])
    func `Events that are not one object are refused`(_ events: JSON?) throws {
        #expect(try refusal { try notification(events: events) } == .events)
    }

    @Test(
        arguments: [
            ("type", nil, .kind), ("type", "", .kind), ("type", .integer(1), .kind), ("sub", nil, .subject),
            ("sub", "", .subject), ("sub", .integer(1), .subject),
            ("sub", .string(String(repeating: "s", count: 256)), .subject), ("event_time", nil, .time),
            ("event_time", "1611765847700", .time), ("event_time", .integer(0), .time),
            ("event_time", .integer(-1), .time),
            ("event_time", .integer(.max), .time), ("event_time", .decimal("1.5e12"), .time),
        ] as [(String, JSON?, AppleNotificationRefusal)])
    func `A member that is missing or of another kind is refused by its name`(
        _ name: String, _ value: JSON?, _ expected: AppleNotificationRefusal
    ) throws {
        #expect(try refusal { try notification([name: value]) } == expected)
    }

    @Test(arguments: [nil, "", .null, .integer(1), .string(String(repeating: "j", count: 256))] as [JSON?])
    func `Without an id it could not be told from its repetitions`(_ id: JSON?) throws {
        #expect(try refusal { try notification(claims: ["jti": id]) } == .id)
    }
}
