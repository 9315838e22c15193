import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

@testable import AppleID

struct ClientSecretTests {
    private let key = TokenForge.newKey("ABC123DEFG", for: .es256)

    private func credentials() throws -> AppleCredentials {
        try #require(AppleCredentials(teamID: "TEAM123456", keyID: "ABC123DEFG", privateKey: key.privateKey))
    }

    @Test func `The secret says what Apple asks for, signed by the key`() throws {
        let text = try ClientSecret.text(
            clientID: TokenForge.audience, credentials: credentials(), at: TokenForge.now,
            using: TokenForge.cryptography)
        let jws = try CompactJWS(parsing: Array(text.utf8)[...], allowing: [.es256])
        #expect(jws.header.keyID == "ABC123DEFG")
        let claims = try jws.verified(by: key.jwk, using: TokenForge.cryptography).claims()
        let now = TokenForge.now.seconds
        #expect(
            claims == [
                "iss": "TEAM123456", "sub": "com.finnova.app", "aud": "https://appleid.apple.com",
                "iat": .integer(now - 60), "exp": .integer(now + 300),
            ])
    }

    @Test func `A key that is not P-256, or an identifier that is none of Apple's, makes no credentials`() {
        let rsa = TokenForge.key.privateKey
        #expect(AppleCredentials(teamID: "TEAM123456", keyID: "ABC123DEFG", privateKey: rsa) == nil)
        for wrong in ["", "TEAM12345", "TEAM1234567", "team123456", "TEAM12345\n", "TEAM 12345", "TEAM12345É"] {
            #expect(AppleCredentials(teamID: wrong, keyID: "ABC123DEFG", privateKey: key.privateKey) == nil)
            #expect(AppleCredentials(teamID: "TEAM123456", keyID: wrong, privateKey: key.privateKey) == nil)
        }
    }

    @Test func `Credentials never show the key when printed, reflected or dumped`() throws {
        let credentials = try credentials()
        var dumped = ""
        dump(credentials, to: &dumped)
        guard case .p256(let d) = key.privateKey.parts else { return }
        let list = d.bytes.prefix(6).map(String.init).joined(separator: ", ")
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(text.contains("TEAM123456") && text.contains("secret bytes"))
            #expect(!text.contains(list) && !text.contains(Base64URL.encode(d.bytes)) && !text.contains(d.bytes.hex))
        }
    }
}
