import Foundation
import JOSE
import OpenSSLCrypto
import Testing

@testable import Xid

/// The claims of an ID token, at the boundaries.
@Suite struct IDTokenTests {
    static let now = UnixTime(seconds: 1_800_000_000)
    static let token = SecretText("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y")
    static let code = SecretText("Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk")

    static func refusal(_ changes: [String: JSON?], maxAge: Int64? = nil) -> XidError.Code? {
        var claims: JSON.Object = [
            "iss": "https://xid.dev", "sub": "person", "aud": "client", "exp": .integer(now.seconds + 300),
            "iat": .integer(now.seconds), "nonce": "nonce",
        ]
        for (name, value) in changes { claims[name] = value }
        let expectation = IDTokenExpectation(
            issuer: "https://xid.dev", clientID: "client", nonce: SecretText("nonce"), accessToken: token, code: code,
            maxAge: maxAge)
        do throws(XidError) {
            _ = try expectation.check(
                SignedIDToken(claims: claims, algorithm: .es256), at: now, using: OpenSSLCryptography())
            return nil
        } catch {
            return error.code
        }
    }

    /// Auth0.swift took milliseconds for seconds: 16.7 hours of leeway, and a test that said so.
    @Test(arguments: [
        ("exp", Int64(-59), XidError.Code?.none), ("exp", -60, .idTokenExpired), ("exp", -360, .idTokenExpired),
        ("iat", 60, nil), ("iat", 61, .idTokenNotYetValid), ("iat", -604_800, nil), ("nbf", 60, nil),
        ("nbf", 61, .idTokenNotYetValid),
    ])
    func aMinuteIsForgivenAndNotMore(claim: String, seconds: Int64, expected: XidError.Code?) {
        #expect(Self.refusal([claim: .integer(Self.now.seconds + seconds)]) == expected)
    }

    @Test(arguments: ["exp", "iat"], [JSON?.none, .null, "1800000300", .decimal("1.8e9"), .array([])])
    func timesAreWholeNumbers(claim: String, value: JSON?) {
        #expect(Self.refusal([claim: value]) == .idTokenMalformed)
    }

    /// Auth0.swift#609/PR#626: the comparison was the wrong way round.
    @Test(arguments: [
        (Int64(0), XidError.Code?.none), (-100, nil), (-160, nil), (-161, .idTokenAuthTime),
        (-604_800, .idTokenAuthTime),
    ])
    func aLoginMayNotBeOlderThanAskedFor(seconds: Int64, expected: XidError.Code?) {
        #expect(Self.refusal(["auth_time": .integer(Self.now.seconds + seconds)], maxAge: 100) == expected)
        #expect(Self.refusal(["auth_time": .integer(Self.now.seconds + seconds)]) == nil)
    }

    /// In milliseconds, say, any login would do.
    @Test(arguments: [(Int64(60), XidError.Code?.none), (61, .idTokenAuthTime), (1_800_000_000_000, .idTokenAuthTime)])
    func aLoginOfTheFutureIsNone(seconds: Int64, expected: XidError.Code?) {
        #expect(Self.refusal(["auth_time": .integer(Self.now.seconds + seconds)], maxAge: 100) == expected)
    }

    @Test func whoAsksForAnAgeMustBeTold() {
        #expect(Self.refusal([:], maxAge: 100) == .idTokenAuthTime)
        #expect(Self.refusal(["auth_time": "1800000000"], maxAge: 100) == .idTokenAuthTime)
    }

    /// okta-mobile-swift#281, logto: an array was refused. AppAuth-iOS#418, openid-client#280: `azp` stood in for `aud`.
    @Test(arguments: [
        (JSON.array(["client"]), JSON?.none, XidError.Code?.none), ("client", "client", nil),
        ("client", "other", .idTokenAuthorizedParty), ("other", "client", .idTokenAudience),
        (.array(["other"]), "client", .idTokenAudience), (.array(["other", "client"]), nil, .idTokenAuthorizedParty),
        (.array(["other", "client"]), "client", nil), (.array(["other", "client"]), "other", .idTokenAuthorizedParty),
        (.array([]), nil, .idTokenAudience), (.array(["client", .integer(1)]), "client", .idTokenAudience),
        ("client1", nil, .idTokenAudience), ("clien", nil, .idTokenAudience), (.null, nil, .idTokenAudience),
        ("client", .integer(1), .idTokenAuthorizedParty), ("CLIENT", nil, .idTokenAudience),
    ])
    func theTokenIsForThisClient(audience: JSON, party: JSON?, expected: XidError.Code?) {
        #expect(Self.refusal(["aud": audience, "azp": party]) == expected)
    }

    @Test(arguments: [JSON?.none, .null, "", .integer(1), "nonce1", "Nonce"])
    func theNonceIsTheOneThatWasSent(value: JSON?) {
        #expect(Self.refusal(["nonce": value]) == .idTokenNonce)
    }

    @Test(arguments: [JSON?.none, .null, "", .integer(1), .string(String(repeating: "x", count: 256))])
    func thePersonHasAName(value: JSON?) {
        #expect(Self.refusal(["sub": value]) == .idTokenSubject)
    }

    /// OpenID Connect Core appendix A
    @Test func theHashesAreThoseOfTheSpecification() {
        #expect(Self.refusal(["at_hash": "77QmUPtjPfzWtF2AnpK9RQ", "c_hash": "LDktKdoQak3Pk0cnXxCltA"]) == nil)
        #expect(Self.refusal(["at_hash": "77QmUPtjPfzWtF2AnpK9RA"]) == .idTokenHash)
        #expect(Self.refusal(["c_hash": "77QmUPtjPfzWtF2AnpK9RQ"]) == .idTokenHash)
        #expect(Self.refusal(["at_hash": .null]) == .idTokenHash)
    }

    @Test(arguments: ["https://xid.dev/", "https://xid.dev1", "http://xid.dev", "HTTPS://xid.dev", ""])
    func theIssuerIsComparedByteForByte(issuer: String) {
        #expect(Self.refusal(["iss": .string(issuer)]) == .idTokenIssuer)
    }

    /// A provider that lists groups in it is not told from one that is broken, unless the error says so.
    @Test(arguments: [(4000, XidError.Code?.none), (8000, .responseTooLarge)])
    func aTokenThatIsTooLongIsNotCalledMalformed(count: Int, expected: XidError.Code?) async throws {
        let groups = JSON.string(String(repeating: "g", count: count))
        let trial = try Trial(isLocal: true, mutations: [.setClaim("groups", groups)])
        #expect(await Trial.code { try await trial.xid.signIn() } == expected)
    }

    /// WSO2 names its keys by 92 characters, as here: no one could sign in there. A thumbprint by RFC 9278 has 91.
    @Test(arguments: [92, 4000])
    func aKeyMayHaveALongName(count: Int) async throws {
        let trial = try Trial(isLocal: true, mutations: [.keysNamed(String(repeating: "k", count: count))])
        try await trial.xid.signIn()
    }

    @Test func maxAgeIsAskedForAndChecked() async throws {
        let trial = try Trial(isLocal: true, mutations: [.setTime("auth_time", -200)])
        #expect(await Trial.code { try await trial.xid.signIn(options: .init(maxAge: 100)) } == .idTokenAuthTime)
        #expect(trial.browser.urls.first?.absoluteString.contains("max_age=100") == true)
        try await trial.xid.signIn(options: .init(maxAge: 200))
    }
}
