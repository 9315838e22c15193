import AppleID
import JOSE
import TestSupport
import Testing

/// What Apple says of the address. Nothing of it ever fails a login.
struct AppleEmailTests {
    private func email(_ changes: [String: JSON?]) throws -> AppleEmail? {
        try Verdict().identity(TokenForge().with(changes).token).email
    }

    /// Apple changed from string to Boolean on 2024-02-06, without notice, and broke those who knew one of them.
    private static let claims: [(JSON?, Bool?)] = [
        (.bool(true), true), (.bool(false), false), ("true", true), ("false", false), ("True", nil), ("1", nil),
        ("", nil),
        (.integer(1), nil), (.integer(0), nil), (.decimal("1.0"), nil), (.null, nil), (.array([.bool(true)]), nil),
        (.object([:]), nil), (nil, nil),
    ]

    @Test(arguments: claims)
    func `email_verified: Boolean or its name, and anything else is unknown`(claim: JSON?, meaning: Bool?) throws {
        #expect(try email(["email_verified": claim])?.isVerified == meaning)
    }

    @Test(arguments: claims)
    func `is_private_email: Boolean or its name, and otherwise the domain decides`(claim: JSON?, meaning: Bool?) throws
    {
        #expect(try email(["is_private_email": claim, "email": "a@example.com"])?.isPrivate == meaning ?? false)
        #expect(
            try email(["is_private_email": claim, "email": "a@privaterelay.appleid.com"])?.isPrivate == meaning ?? true)
    }

    @Test func `The domain is the relay's as a whole, in any case`() throws {
        for (address, isPrivate) in [
            ("a@privaterelay.appleid.com", true), ("A@PrivateRelay.AppleID.com", true),
            ("a@xprivaterelay.appleid.com", false),
            ("a@privaterelay.appleid.com.attacker.example", false), ("privaterelay.appleid.com", false),
            ("a@x.privaterelay.appleid.com", false), ("a@icloud.com", false),
        ] {
            let email = try email(["is_private_email": JSON?.none, "email": .string(address)])
            #expect(email?.isPrivate == isPrivate, "\(address)")
            #expect(email?.address == address)
        }
    }

    @Test(
        arguments: [
            nil, .null, "", .integer(1), .array(["a@example.com"]), .string(String(repeating: "a", count: 321)),
        ] as [JSON?])
    func `A token without a usable address signs in without one`(_ claim: JSON?) throws {
        #expect(try email(["email": claim]) == nil)
    }

    @Test func `An address of 320 bytes is kept as it came`() throws {
        let address = String(repeating: "a", count: 308) + "@example.com"
        #expect(try email(["email": .string(address)])?.address == address)
    }
}
