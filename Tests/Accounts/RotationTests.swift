import Accounts
import JOSE
import TestSupport
import Testing

struct RotationTests {
    private static let start = TokenForge.now
    private static let due = start.adding(seconds: SigningKeySet.announcementSeconds)

    private func key(_ name: String) -> SigningKey { TokenForge.newKey(name, for: .es256) }

    private var two: SigningKeySet { SigningKeySet(current: key("a"), next: key("b"), at: Self.start) }

    /// Which key has which state; of `current` there is always exactly one.
    private func states(_ keys: SigningKeySet) -> [String: SigningKeySet.State] {
        #expect(keys.entries.count { $0.state == .current } == 1)
        #expect(keys.entries.count { $0.state == .next } <= 1)
        return Dictionary(uniqueKeysWithValues: keys.entries.map { ($0.key.keyID, $0.state) })
    }

    @Test func `A set with no next key announces one, and goes on signing with the same`() throws {
        var keys = try SigningKeySet(
            parsing: key("a").secretJSON.serialized()[...], using: TokenForge.cryptography)
        #expect(keys.rotate(next: key("b"), at: Self.start, accessTokenSeconds: 900) == .announced)
        #expect(states(keys) == ["a": .current, "b": .next])
        #expect(keys.entries.last?.since == Self.start)
    }

    @Test func `Next becomes current when it was announced long enough, to the millisecond`() {
        var keys = two
        let early = UnixTime(milliseconds: Self.due.milliseconds - 1)
        #expect(keys.rotate(next: key("c"), at: early, accessTokenSeconds: 900) == .tooEarly(seconds: 2))
        #expect(states(keys) == ["a": .current, "b": .next])
        #expect(keys.rotate(next: key("c"), at: Self.due, accessTokenSeconds: 900) == .rotated)
        #expect(states(keys) == ["a": .previous, "b": .current, "c": .next])
        #expect(keys.entries.allSatisfy { $0.since == Self.due })
    }

    @Test func `Previous stays until the last token that it signed has ended, and a minute more`() {
        var keys = two
        #expect(keys.rotate(next: key("c"), at: Self.due, accessTokenSeconds: 86_400) == .rotated)
        let end = Self.due.adding(seconds: 86_460)
        let early = UnixTime(milliseconds: end.milliseconds - 1)
        #expect(keys.rotate(next: key("d"), at: early, accessTokenSeconds: 86_400) == .tooEarly(seconds: 2))
        #expect(keys.rotate(next: key("d"), at: end, accessTokenSeconds: 86_400) == .rotated)
        #expect(states(keys) == ["b": .previous, "c": .current, "d": .next])
    }

    @Test(arguments: [Int64(0), 1, 999, 1000, 5000, 10_799_000, 10_799_999])
    func `Who waits as long as he is told finds the rotation due, and less than two seconds late`(
        _ offset: Int64
    ) throws {
        var keys = two
        let now = UnixTime(milliseconds: Self.start.milliseconds + offset)
        guard case .tooEarly(let seconds) = keys.rotate(next: key("c"), at: now, accessTokenSeconds: 900) else {
            Issue.record("not too early")
            return
        }
        let told = now.adding(seconds: seconds)
        #expect(told >= Self.due)
        #expect(told.milliseconds - Self.due.milliseconds < 2000)
        #expect(keys.rotate(next: key("c"), at: told, accessTokenSeconds: 900) == .rotated)
    }

    @Test(arguments: [["current"], ["current", "next"], ["previous", "current", "next"]])
    func `After a leak every key is new at once, whatever the set held, and none of the old is published`(
        _ held: [String]
    ) throws {
        let old = held.map { state -> JSON in
            var object = key(state).secretJSON.object ?? [:]
            object["state"] = .string(state)
            return .object(object)
        }
        let text: JSON = ["keys": .array(old)]
        var keys = try SigningKeySet(parsing: text.serialized()[...], using: TokenForge.cryptography)
        #expect(keys.current.keyID == "current")
        keys.replaceAll(current: key("a"), next: key("b"), at: Self.start)
        #expect(states(keys) == ["a": .current, "b": .next])
        #expect(keys.current.keyID == "a")
        for name in held { #expect(!keys.publicKeys.contains(name)) }
        // The new next key is announced like any other.
        #expect(
            keys.rotate(next: key("c"), at: Self.start, accessTokenSeconds: 900)
                == .tooEarly(seconds: SigningKeySet.announcementSeconds + 1))
        #expect(keys.rotate(next: key("c"), at: Self.due, accessTokenSeconds: 900) == .rotated)
    }

    @Test func `A clock that was set back rotates nothing and traps nowhere`() {
        var keys = two
        let outcome = keys.rotate(next: key("c"), at: UnixTime(seconds: 0), accessTokenSeconds: 900)
        #expect(outcome == .tooEarly(seconds: Self.due.seconds + 1))
    }

    @Test func `Through three rotations every live token verifies, also where the set is remembered from before`()
        throws
    {
        var keys = two
        var now = Self.start
        var tokens: [(text: String, end: UnixTime)] = []
        /// What another service fetched after the rotation before, and remembers until this one.
        var remembered = keys.publicKeys

        func verify(_ text: String, by set: KeySet) throws {
            let jws = try CompactJWS(parsing: Array(text.utf8)[...], allowing: [.es256])
            _ = try jws.verified(by: set.key(named: jws.header.keyID), using: TokenForge.cryptography)
        }
        func issue() throws {
            let text = try CompactJWS.signed(
                Array("{}".utf8), type: "at+jwt", by: keys.current, using: TokenForge.cryptography)
            tokens.append((text, now.adding(seconds: 900)))
            try verify(text, by: remembered)
        }

        for name in ["c", "d", "e"] {
            try issue()
            now = now.adding(seconds: SigningKeySet.announcementSeconds)
            try issue()
            #expect(keys.rotate(next: key(name), at: now, accessTokenSeconds: 900) == .rotated)
            try issue()
            for token in tokens where now < token.end { try verify(token.text, by: keys.publicKeys) }
            remembered = keys.publicKeys
        }
        #expect(states(keys) == ["c": .previous, "d": .current, "e": .next])
        #expect(tokens.count == 9)
    }
}
