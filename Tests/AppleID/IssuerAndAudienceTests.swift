import AppleID
import JOSE
import TestSupport
import Testing

struct IssuerAndAudienceTests {
    private static let apps = ["com.finnova.app", "com.finnova.web", "com.finnova.Kelvin"]

    private func identity(iss: JSON? = nil, aud: JSON? = nil) throws -> AppleIdentity {
        var verdict = try Verdict()
        verdict.policy.audiences = Self.apps
        verdict.policy.issuers = [TokenForge.issuer, "https://account.apple.com"]
        var forge = TokenForge()
        if let iss { forge.claims["iss"] = iss }
        if let aud { forge.claims["aud"] = aud }
        return try verdict.identity(forge.token)
    }

    @Test(arguments: apps)
    func `Each configured audience is accepted, and is the one that the identity names`(_ app: String) throws {
        #expect(try identity(aud: .string(app)).audience == app)
        #expect(try identity(aud: .array([.string(app)])).audience == app)
        #expect(try identity(aud: .array(["com.other.app", .string(app)])).audience == app)
    }

    @Test(arguments: [
        "com.finnova", "com.finnova.app.", "com.finnova.app.watch", " com.finnova.app", "com.finnova.app ",
        "COM.FINNOVA.APP",
        "com.finnova.App", "finnova.app", "", "*", "com.finnova.*", "com.finnova.app,com.finnova.web",
        "com.finnova.app\0",
        // Canonically equivalent to the third, and to Swift's == the same.
        "com.finnova.\u{212A}elvin",
    ])
    func `Nothing near an audience is the audience`(_ audience: String) throws {
        for value: JSON in [.string(audience), .array([.string(audience)])] {
            #expect(throws: VerificationFailure.refused(.audience)) { try identity(aud: value) }
        }
    }

    @Test(
        arguments: [
            .null, .bool(true), .integer(1), .array([]), .object(["com.finnova.app": .bool(true)]),
            .array([.array(["com.finnova.app"])]),
            .array(["com.finnova.app", .null]), .array([.integer(1), "com.finnova.app"]),
        ] as [JSON])
    func `An audience that is neither a string nor a list of strings is refused`(_ value: JSON) throws {
        #expect(throws: VerificationFailure.refused(.audience)) { try identity(aud: value) }
    }

    @Test func `Each configured issuer is accepted, and nothing near it`() throws {
        #expect(throws: Never.self) { try identity(iss: "https://appleid.apple.com") }
        #expect(throws: Never.self) { try identity(iss: "https://account.apple.com") }
        for issuer: JSON in [
            "http://appleid.apple.com", "https://appleid.apple.com/", "https://appleid.apple.com.attacker.example",
            "appleid.apple.com", "https://APPLEID.apple.com", "", .null, .array(["https://appleid.apple.com"]),
        ] {
            #expect(throws: VerificationFailure.refused(.issuer)) { try identity(iss: issuer) }
        }
    }

    @Test func `A policy without an audience or an issuer, or with an empty one, cannot be made`() {
        #expect(TokenPolicy(audiences: []) == nil)
        #expect(TokenPolicy(audiences: [""]) == nil)
        #expect(TokenPolicy(audiences: ["com.finnova.app", ""]) == nil)
        #expect(TokenPolicy(issuers: [], audiences: ["com.finnova.app"]) == nil)
        #expect(TokenPolicy(issuers: [""], audiences: ["com.finnova.app"]) == nil)
    }
}
