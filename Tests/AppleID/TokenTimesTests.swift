import AppleID
import JOSE
import TestSupport
import Testing

/// `exp`, `iat`, `nbf` and the maximum age, to the second and to the millisecond.
struct TokenTimesTests {
    private let now = TokenForge.now.seconds

    private func refusal(
        exp: Int64? = nil, iat: Int64? = nil, nbf: Int64? = nil, leeway: Int64 = 60, age: Int64 = 86_400,
        milliseconds: Int64 = 0
    ) throws -> TokenRefusal? {
        var verdict = try Verdict()
        verdict.policy.leewaySeconds = leeway
        verdict.policy.maximumAgeSeconds = age
        var forge = TokenForge()
        forge.claims["exp"] = .integer(exp ?? now + 600)
        forge.claims["iat"] = .integer(iat ?? now)
        if let nbf { forge.claims["nbf"] = .integer(nbf) }
        return verdict.refusal(forge.token, at: UnixTime(milliseconds: TokenForge.now.milliseconds + milliseconds))
    }

    @Test func `A token is good until exp plus leeway, and not at it`() throws {
        #expect(try refusal(exp: now - 59) == nil)
        #expect(try refusal(exp: now - 60, milliseconds: -1) == nil)
        #expect(try refusal(exp: now - 60) == .expired)
        #expect(try refusal(exp: now + 1, leeway: 0) == nil)
        #expect(try refusal(exp: now, iat: now - 600, leeway: 0, milliseconds: -1) == nil)
        #expect(try refusal(exp: now, iat: now - 600, leeway: 0) == .expired)
    }

    @Test func `A token is good from iat minus leeway on`() throws {
        #expect(try refusal(iat: now + 60) == nil)
        #expect(try refusal(iat: now + 60, milliseconds: -1) == .notYetValid)
        #expect(try refusal(iat: now + 61) == .notYetValid)
        #expect(try refusal(iat: now, leeway: 0) == nil)
        #expect(try refusal(iat: now + 1, leeway: 0) == .notYetValid)
    }

    @Test func `nbf is optional, and binds when it is there`() throws {
        #expect(try refusal(nbf: now + 60) == nil)
        #expect(try refusal(nbf: now + 61) == .notYetValid)
        #expect(try refusal(nbf: .min) == nil)
        #expect(try refusal(nbf: .max) == .notYetValid)
    }

    @Test func `A token is good until iat plus the maximum age plus leeway`() throws {
        #expect(try refusal(iat: now - 660, age: 600) == nil)
        #expect(try refusal(iat: now - 660, age: 600, milliseconds: 1) == .tooOld)
        #expect(try refusal(iat: now - 661, age: 600) == .tooOld)
        #expect(try refusal(iat: now - 86_460) == nil)
        #expect(try refusal(iat: now - 86_461) == .tooOld)
    }

    private static let absurd: [Int64] = [
        Int64.min, Int64.min + 1, Int64.min / 1000, Int64.max / 1000, Int64.max / 1000 + 1, Int64.max - 1, Int64.max, 0,
        -1,
    ]

    /// Times that overflow once multiplied by 1000 or added to must neither trap nor wrap around to a good moment.
    @Test(arguments: absurd)
    func `Absurd times are answered and never trap`(_ absurd: Int64) throws {
        #expect(try refusal(exp: absurd) == (absurd > 0 ? nil : .expired))
        #expect(try refusal(iat: absurd) == (absurd > 0 ? .notYetValid : .tooOld))
        #expect(try refusal(nbf: absurd) == (absurd > 0 ? .notYetValid : nil))
        let verdict = try Verdict()
        #expect(verdict.refusal(TokenForge().token, at: UnixTime(seconds: absurd)) != nil)
        #expect(try refusal(leeway: absurd > 0 ? absurd : 0, age: absurd > 0 ? absurd : 600) == nil)
    }

    @Test(arguments: ["exp", "iat", "nbf"])
    func `A time that is not an integer is refused, however near it is`(_ name: String) throws {
        for text in ["1.8e9", "1800000000.0", "1800000000.5", "-0", "18446744073709551616"] {
            #expect(try Verdict().refusal(TokenForge().with([name: .decimal(text)]).token) == .malformed)
        }
        for value: JSON in ["1800000000", .bool(true), .null, .array([.integer(1_800_000_000)]), .object([:])] {
            #expect(try Verdict().refusal(TokenForge().with([name: value]).token) == .malformed)
        }
    }

    @Test func `Seconds are rounded down, also before 1970`() {
        #expect(UnixTime(milliseconds: 1999).seconds == 1)
        #expect(UnixTime(milliseconds: -1).seconds == -1)
        #expect(UnixTime(milliseconds: -1000).seconds == -1)
        #expect(UnixTime(milliseconds: -1001).seconds == -2)
        #expect(UnixTime(milliseconds: .min).seconds == .min / 1000 - 1)
    }
}
