import Accounts
import JOSE
import TestSupport
import Testing

struct AccessTokenTests {
    private let published = KeySet(keys: [SignInBench.signingKey.jwk])

    private func verify(_ token: String, by keys: KeySet) throws -> (CompactJWS.Header, JSON.Object) {
        let jws = try CompactJWS(parsing: Array(token.utf8)[...], allowing: [.es256])
        let verified = try jws.verified(by: try keys.key(named: jws.header.keyID), using: TokenForge.cryptography)
        return (verified.header, try verified.claims())
    }

    @Test func `An access token is RFC 9068's, and verifies against the published key set`() throws {
        let signedIn = try SignInBench().signIn(TokenForge(audience: "com.finnova.web"))
        // The set as another service gets it: as text.
        let (header, claims) = try verify(
            signedIn.tokens.accessToken, by: try KeySet(parsing: published.json.serialized()[...]))
        #expect(header.type == "at+jwt")
        #expect(header.algorithm == .es256)
        #expect(header.keyID == "SIGNING001")
        #expect(Set(claims.members.map(\.name)) == ["iss", "sub", "aud", "client_id", "exp", "iat", "jti", "sid"])
        #expect(claims["iss"] == "https://api.finnova.example")
        #expect(claims["aud"] == "finnova-api")
        #expect(claims["sub"]?.string == signedIn.account.id.description)
        #expect(claims["sid"]?.string == signedIn.sessionID.description)
        #expect(claims["client_id"] == "com.finnova.web")
        #expect(claims["iat"] == .integer(TokenForge.now.seconds))
        #expect(claims["exp"] == .integer(TokenForge.now.seconds + 900))
        #expect(claims["jti"]?.string.flatMap { UUIDv7($0) } != nil)
        #expect(signedIn.tokens.accessExpiresIn == 900)
    }

    @Test func `No two access tokens have one jti, and none says anything of Apple's sub or of the person`() throws {
        let bench = SignInBench()
        var seen: Set<String> = []
        for _ in 0..<20 {
            let signedIn = try bench.signIn(name: "Ana Pérez")
            let (_, claims) = try verify(signedIn.tokens.accessToken, by: published)
            let identifier = try #require(claims["jti"]?.string)
            #expect(seen.insert(identifier).inserted)
            #expect(identifier != signedIn.sessionID.description && identifier != signedIn.account.id.description)
            let text = JSON.object(claims).text
            for personal in [TokenForge.subject, "privaterelay", "Ana"] { #expect(!text.contains(personal)) }
        }
    }

    @Test func `An access token does not verify by another key, nor once changed`() throws {
        let token = try SignInBench().signIn().tokens.accessToken
        let other = KeySet(keys: [TokenForge.newKey("SIGNING001", for: .es256).jwk])
        #expect(throws: JOSEError.signature) { try verify(token, by: other) }
        var parts = token.split(separator: ".").map(String.init)
        parts[1] = Base64URL.encode(Array(#"{"sub":"other"}"#.utf8))
        #expect(throws: JOSEError.signature) { try verify(parts.joined(separator: "."), by: published) }
    }
}
