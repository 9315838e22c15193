import AppleID
import Foundation
import JOSE
import TestSupport
import Testing

/// A token that Apple really signed, in 2021, and the keys that Apple published then.
@Suite(.enabled(if: Vectors.arePresent, "needs ../shared/vectors"))
struct RealAppleTokenTests {
    private let token: String
    private let subject: String
    private let validAt: UnixTime
    private let expiresAt: UnixTime
    private let keys: FixedKeys
    private let verdict: Verdict

    init() throws {
        let vector = try Vectors.json("apple/real-token-2021.json")
        token = try #require(vector["token"]?.string)
        subject = try #require(vector["sub"]?.string)
        validAt = UnixTime(seconds: try #require(vector["valid_at"]?.integer))
        expiresAt = UnixTime(seconds: try #require(vector["expires_at"]?.integer))
        keys = FixedKeys(try KeySet(try #require(vector["jwks"])))
        var verdict = try Verdict()
        verdict.policy.audiences = [try #require(vector["audience"]?.string)]
        self.verdict = verdict
    }

    @Test func `It is accepted as of its own time`() throws {
        #expect(keys.keySet?.keys.count == 3)
        let identity = try verdict.identity(token, keys: keys, at: validAt)
        #expect(identity.subject == subject)
        #expect(identity.codeHash == "4B6JY58Nk-UBlcwLkeKsig")
    }

    @Test func `It is refused as expired from its end on, and as of today`() {
        #expect(verdict.refusal(token, keys: keys, at: expiresAt.adding(seconds: 59)) == nil)
        #expect(verdict.refusal(token, keys: keys, at: expiresAt.adding(seconds: 60)) == .expired)
        let today = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
        #expect(verdict.refusal(token, keys: keys, at: today) == .expired)
    }

    @Test func `It is refused before its time, for another app, and by other keys`() throws {
        #expect(verdict.refusal(token, keys: keys, at: validAt.adding(seconds: -86_400)) == .notYetValid)
        #expect(try Verdict().refusal(token, keys: keys, at: validAt) == .audience)
        #expect(verdict.refusal(token, keys: TokenForge.keys, at: validAt) == .keyUnknown)
        #expect(verdict.refusal(TokenForge().token, keys: keys, at: validAt) == .keyUnknown)
    }

    @Test func `With one bit changed, anywhere in the signature, it is refused`() throws {
        let parts = token.split(separator: ".").map(String.init)
        let signature = try #require(Base64URL.decode(parts[2]))
        for bit in stride(from: 0, to: signature.count * 8, by: 7) {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            let forged = "\(parts[0]).\(parts[1]).\(Base64URL.encode(changed))"
            #expect(verdict.refusal(forged, keys: keys, at: validAt) == .signature)
        }
    }

    @Test func `With one claim changed it is refused`() throws {
        let parts = token.split(separator: ".").map(String.init)
        let payload = String(decoding: try #require(Base64URL.decode(parts[1])), as: UTF8.self)
        let later = payload.replacing("\"exp\":1630827830", with: "\"exp\":1930827830")
        #expect(later != payload)
        let forged = "\(parts[0]).\(Base64URL.encode(Array(later.utf8))).\(parts[2])"
        #expect(verdict.refusal(forged, keys: keys, at: validAt) == .signature)
    }
}
