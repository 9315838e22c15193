import Accounts
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

struct RefreshTokenTests {
    @Test func `A refresh token has 64 characters, and names its session`() throws {
        let signedIn = try SignInBench().signIn()
        let text = signedIn.tokens.refreshToken
        #expect(text.utf8.count == 64)
        let token = try #require(RefreshToken(text))
        #expect(token.sessionID == signedIn.session.id)
        #expect(token.secret.bytes.count == 32)
        #expect(token.text == text)
        #expect(signedIn.tokens.refreshExpiresIn == 2_592_000)
    }

    @Test func `The store gets the digest of its secret, and nothing that gives the token away`() throws {
        let bench = SignInBench()
        let text = try bench.signIn(name: "Ana Pérez").tokens.refreshToken
        let token = try #require(RefreshToken(text))
        let session = try #require(bench.users.sessions.first)
        #expect(session.refreshDigest == TokenForge.cryptography.sha256(token.secret.bytes[...]))
        let kept = Seen(session, bench.users.accounts, session.refreshDigest)
        #expect(kept.shows(session.refreshDigest))
        #expect(!kept.shows(text))
        #expect(!kept.shows(String(text.suffix(42))))
        #expect(!kept.shows(token.secret.bytes))
    }

    @Test func `The secret is random in each of its bytes, and does not repeat`() throws {
        let bench = SignInBench()
        let secrets = try (0..<50).map { _ in
            try #require(RefreshToken(try bench.signIn().tokens.refreshToken)).secret.bytes
        }
        #expect(Set(secrets).count == 50)
        for index in 0..<32 { #expect(Set(secrets.map { $0[index] }).count > 10) }
    }

    @Test func `There is one spelling of a refresh token`() {
        let good = String(repeating: "A", count: 63) + "_"
        #expect(RefreshToken(good) != nil)
        let stem = String(good.dropLast())
        let bad: [String] = ["", "A", stem, " \(stem)", "Bearer \(good)", String(repeating: "é", count: 32)]
        let worse: [String] = ["A", "="].map { good + $0 } + ["\n", "=", "/", "+", "."].map { stem + $0 }
        for text in bad + worse { #expect(RefreshToken(text) == nil, "\(text)") }
    }
}
