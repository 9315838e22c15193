import Accounts
import AppleID
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

/// What we give to a browser for us to read again.
struct SealedTextTests {
    private static let keys = SigningKeySet(
        current: TokenForge.newKey("SIGNING001", for: .es256), next: TokenForge.newKey("SIGNING002", for: .es256),
        at: TokenForge.now)
    private static let content: JSON = ["canary": "canary", "number": .integer(7)]

    private func sealed(_ purpose: SealedText.Purpose, _ keys: SigningKeySet = Self.keys) -> SealedText {
        SealedText(purpose: purpose, keys: keys, cryptography: TokenForge.cryptography)
    }

    @Test func `What was sealed opens, shows nothing, and never looks the same twice`() throws {
        let texts = try (0..<4).map { _ in try sealed(.state).seal(Self.content) }
        #expect(Set(texts).count == 4)
        for text in texts {
            #expect(sealed(.state).open(text) == Self.content)
            let parts = text.split(separator: ".")
            #expect(parts.count == 2)
            #expect(parts.first.flatMap { Base64URL.decode(String($0)) } == Array("SIGNING001".utf8))
            let bytes = try #require(parts.last.flatMap { Base64URL.decode(String($0)) })
            #expect(!String(decoding: bytes, as: UTF8.self).contains("canary"))
        }
    }

    @Test func `What was sealed for one purpose does not open for another`() throws {
        #expect(sealed(.code).open(try sealed(.state).seal(Self.content)) == nil)
        #expect(sealed(.state).open(try sealed(.code).seal(Self.content)) == nil)
    }

    @Test func `A key that is still in the set opens, whatever it does now, and no other key does`() throws {
        let text = try sealed(.code).seal(Self.content)
        var keys = Self.keys
        _ = keys.rotate(
            next: TokenForge.newKey("SIGNING003", for: .es256),
            at: TokenForge.now.adding(seconds: SigningKeySet.announcementSeconds), accessTokenSeconds: 900)
        #expect(sealed(.code, keys).open(text) == Self.content)
        let replaced = SigningKeySet(
            current: TokenForge.newKey("SIGNING001", for: .es256), next: TokenForge.newKey("SIGNING002", for: .es256),
            at: TokenForge.now)
        #expect(sealed(.code, replaced).open(text) == nil)
        // The same bytes under the name of another key of ours.
        let renamed = Base64URL.encode(Array("SIGNING002".utf8)) + text.drop { $0 != "." }
        #expect(sealed(.code).open(renamed) == nil)
    }

    @Test func `What is too large to be looked at, or too short to have a salt, does not open`() throws {
        let large = try sealed(.state).seal(["x": .string(String(repeating: "x", count: 7000))])
        #expect(large.utf8.count > 8192 && sealed(.state).open(large) == nil)
        let name = Base64URL.encode(Array("SIGNING001".utf8))
        for count in 0..<48 {
            let text = name + "." + Base64URL.encode([UInt8](repeating: 0, count: count))
            #expect(sealed(.state).open(text) == nil)
        }
    }

    @Test func `An identity comes out of a code as it went in`() throws {
        let forges = [
            TokenForge(), TokenForge().with(["email": JSON?.none]), TokenForge().with(["transfer_sub": "760417.x"]),
            TokenForge().with(["email_verified": .null, "is_private_email": .bool(false), "c_hash": JSON?.none]),
        ]
        let policy = try #require(TokenPolicy(audiences: [TokenForge.audience]))
        let verifier = AppleTokenVerifier(policy: policy, cryptography: TokenForge.cryptography)
        for forge in forges {
            let identity = try verifier.verify(
                Array(forge.token.utf8)[...], keys: TokenForge.keys, at: TokenForge.now
            ).identity(nonce: nil)
            let text = try sealed(.code).seal(identity.sealable)
            #expect(try AppleIdentity(sealed: #require(sealed(.code).open(text))) == identity)
        }
        for json: JSON in [
            .null, [:], ["sub": "1", "aud": "x"], ["sub": "1", "issued_at": .integer(1)],
            ["sub": .integer(1), "aud": "x", "issued_at": .integer(1)],
        ] {
            #expect(AppleIdentity(sealed: json) == nil)
        }
    }
}
