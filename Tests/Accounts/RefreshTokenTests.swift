import Accounts
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

struct RefreshTokenTests {
    @Test func `A refresh token has 86 characters, and names its session`() throws {
        let signedIn = try SignInBench().signIn()
        let text = signedIn.tokens.refreshToken
        #expect(text.utf8.count == 86)
        let token = try #require(RefreshToken(text))
        #expect(token.sessionID == signedIn.sessionID)
        #expect(token.secret.bytes.count == 32)
        #expect(token.text == text)
        #expect(signedIn.tokens.refreshExpiresIn == 2_592_000)
    }

    @Test func `The store gets the digest of its secret, and nothing that gives the token away`() throws {
        let bench = SignInBench()
        let text = try bench.signIn(name: "Ana Pérez").tokens.refreshToken
        let token = try #require(RefreshToken(text))
        let session = try #require(bench.users.sessions.first)
        #expect(session.refresh.digest == TokenForge.cryptography.sha256(token.secret.bytes[...]))
        let kept = Seen(session, bench.users.accounts, session.refresh.digest)
        #expect(kept.shows(session.refresh.digest))
        #expect(!kept.shows(text))
        #expect(!kept.shows(String(text.suffix(42))))
        #expect(!kept.shows(token.secret.bytes))
    }

    @Test func `The secret and the salt are random in each of their bytes, and do not repeat`() throws {
        let bench = SignInBench()
        let secrets = try (0..<50).map { _ in
            try #require(RefreshToken(try bench.signIn().tokens.refreshToken)).secret.bytes
        }
        for values in [secrets, bench.users.sessions.map(\.refresh.salt)] {
            #expect(Set(values).count == 50)
            for index in 0..<32 { #expect(Set(values.map { $0[index] }).count > 10) }
        }
    }

    @Test func `There is one spelling of a refresh token`() {
        let good = String(repeating: "A", count: 85) + "Q"
        #expect(RefreshToken(good) != nil)
        let stem = String(good.dropLast())
        let bad: [String] = [
            "", "A", stem, " \(stem)", "Bearer \(good)", String(repeating: "é", count: 43),
            String(repeating: "A", count: 64),
        ]
        // "B" sets a bit that no byte takes (RFC 4648 §3.5).
        let worse: [String] = ["A", "=", "\n"].map { good + $0 } + ["\n", "=", "/", "+", ".", "B"].map { stem + $0 }
        for text in bad + worse { #expect(RefreshToken(text) == nil, "\(text)") }
    }

    private let salt = [UInt8](repeating: 7, count: 32)
    private let id = UUIDv7(at: TokenForge.now, random: [UInt8](repeating: 3, count: 10))

    private func token(_ secret: UInt8) -> RefreshToken {
        RefreshToken(
            sessionID: id, secret: SecretBytes([UInt8](repeating: secret, count: 32)), salt: salt,
            using: TokenForge.cryptography)
    }

    @Test func `A token is genuine under the salt that made it, and once any bit of it is another it is not`() throws {
        let good = token(1)
        #expect(good.isGenuine(salt: salt, using: TokenForge.cryptography))
        #expect(!good.isGenuine(salt: salt.dropLast() + [8], using: TokenForge.cryptography))
        let bytes = try #require(Base64URL.decode(good.text))
        for bit in 0..<(64 * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            let other = try #require(RefreshToken(Base64URL.encode(changed)))
            #expect(!other.isGenuine(salt: salt, using: TokenForge.cryptography), "bit \(bit)")
        }
    }

    @Test func `A successor is the same each time, genuine, and another for another key, salt or token`() {
        let key = SecretBytes([UInt8](repeating: 9, count: 32))
        let other = SecretBytes([UInt8](repeating: 10, count: 32))
        func successor(_ token: RefreshToken, _ key: SecretBytes, _ salt: [UInt8]) -> RefreshToken {
            token.successor(key: key, salt: salt, using: TokenForge.cryptography)
        }
        let first = successor(token(1), key, salt)
        #expect(successor(token(1), key, salt) == first)
        #expect(first.sessionID == id)
        #expect(first.isGenuine(salt: salt, using: TokenForge.cryptography))
        let others = [
            successor(token(2), key, salt), successor(token(1), other, salt),
            successor(token(1), key, [UInt8](repeating: 8, count: 32)), successor(first, key, salt), token(1),
        ]
        #expect(Set((others + [first]).map(\.secret)).count == 6)
    }

    /// The salt is in the store: whoever reads it can make the tag of a secret, and still has no secret that is good.
    @Test func `Who has the store can make a token that is genuine, and it opens nothing`() throws {
        let bench = SignInBench()
        let signedIn = try bench.signIn()
        let state = try #require(try bench.users.session(signedIn.sessionID)).0.refresh
        let made = RefreshToken(
            sessionID: signedIn.sessionID, secret: SecretBytes(state.digest), salt: state.salt,
            using: TokenForge.cryptography)
        #expect(throws: SessionFailure.refused(.refreshReused)) { try bench.refresh(made.text) }
    }
}
