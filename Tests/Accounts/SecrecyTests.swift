import Accounts
import JOSE
import TestSupport
import Testing

struct SecrecyTests {
    @Test func `What is not hidden is seen: the looking itself works`() {
        let bytes = Array(UInt8(1)...32)
        #expect(Seen([bytes]).shows(bytes))
        #expect(Seen(Base64URL.encode(bytes)).shows(bytes))
    }

    @Test func `Issued tokens never show when printed, reflected or dumped, nor what holds them`() throws {
        let signedIn = try SignInBench().signIn()
        let seen = Seen(signedIn.tokens, signedIn, [signedIn.tokens], ["tokens": signedIn.tokens])
        for token in [signedIn.tokens.accessToken, signedIn.tokens.refreshToken] {
            #expect(!seen.shows(token))
            #expect(!seen.shows(String(token.suffix(20))))
        }
    }

    @Test func `A refresh token never shows its secret`() throws {
        let token = try #require(RefreshToken(try SignInBench().signIn().tokens.refreshToken))
        let seen = Seen(token, [token], ["token": token])
        #expect(!seen.shows(token.secret.bytes))
        #expect(!seen.shows(token.text))
    }

    @Test(arguments: [SignatureAlgorithm.es256, .rs256])
    func `A signing key never shows its secret parts, nor what holds it`(_ algorithm: SignatureAlgorithm) throws {
        let key = TokenForge.newKey("CANARY", for: algorithm)
        let keys = SigningKeySet(current: key, next: TokenForge.newKey("NEXT", for: .es256), at: TokenForge.now)
        let issuer = TokenIssuer(
            issuer: "i", audience: "a", accessTokenSeconds: 1, signingKey: key,
            cryptography: TokenForge.cryptography)
        let seen = Seen(key, keys, issuer, keys.entries)
        #expect(seen.shows("CANARY"))
        let names = algorithm == .es256 ? ["d"] : ["d", "p", "q", "dp", "dq", "qi"]
        for name in names {
            let secret = try #require(key.secretJSON[name]?.string.flatMap { Base64URL.decode($0) })
            #expect(!seen.shows(secret), "\(name)")
        }
    }
}
