import AppleID
import JOSE
import TestSupport
import Testing

/// The order in which trust is built. A token with several faults is refused for the earliest, so that nothing of it is
/// believed, or even read, before what it stands on holds.
struct CheckOrderTests {
    /// A token in parts, so that each can be bad by itself.
    private struct Draft {
        var padding = String(repeating: "x", count: 8192)
        var parts = "."
        var tail = "="
        var header: JSON.Object = [
            "alg": "none", "crit": .array(["b64"]), "kid": .integer(1), "jwk": TokenForge.foreignKey.jwk.json,
        ]
        var keys = [
            TokenForge.newKey(TokenForge.key.keyID, for: .es256).jwk, TokenForge.newKey(TokenForge.key.keyID).jwk,
        ]
        var signer = TokenForge.foreignKey
        var claims: JSON.Object = [
            "iss": "https://attacker.example", "aud": "com.attacker.app", "exp": "never", "iat": "ever", "nbf": "once",
            "sub": "", "nonce": .integer(1),
        ]
        var isObject = false

        var token: String {
            let payload: JSON = isObject ? .object(claims) : .array([.object(claims)])
            return TokenForge.token(header: JSON.object(header).text, payload: payload.text, key: signer) + tail + parts
                + padding
        }
    }

    @Test func `The faults of one token come to light in the order of trust`() throws {
        let now = TokenForge.now.seconds
        var verdict = try Verdict(requiresNonce: true)
        verdict.policy.maximumAgeSeconds = 600
        var draft = Draft()
        var steps = 0
        func expect(_ refusal: TokenRefusal?, nonce: String? = "n", _ mend: (inout Draft) -> Void) {
            #expect(verdict.refusal(draft.token, keys: FixedKeys(KeySet(keys: draft.keys)), nonce: nonce) == refusal)
            mend(&draft)
            steps += 1
        }
        expect(.tooLarge) { $0.padding = "" }
        expect(.malformed) { $0.parts = "" }
        expect(.malformed) { $0.tail = "" }
        expect(.algorithm) { $0.header["alg"] = "RS256" }
        expect(.critical) { $0.header["crit"] = nil }
        expect(.malformed) { $0.header["kid"] = nil }
        expect(.keyIDMissing) { $0.header["kid"] = "UNKNOWN001" }
        expect(.keyUnknown) { $0.header["kid"] = .string(TokenForge.key.keyID) }
        expect(.keyAmbiguous) { $0.keys.removeLast() }
        expect(.keyUnusable) { $0.keys = [TokenForge.key.jwk] }
        expect(.signature) { $0.signer = TokenForge.key }
        expect(.malformed) { $0.isObject = true }
        expect(.issuer) { $0.claims["iss"] = .string(TokenForge.issuer) }
        expect(.audience) { $0.claims["aud"] = .string(TokenForge.audience) }
        expect(.malformed) { $0.claims["exp"] = .integer(now - 3600) }
        expect(.malformed) { $0.claims["iat"] = .integer(now + 3600) }
        expect(.expired) { $0.claims["exp"] = .integer(now + 3600) }
        expect(.notYetValid) { $0.claims["iat"] = .integer(now - 3600) }
        expect(.malformed) { $0.claims["nbf"] = .integer(now + 3600) }
        expect(.notYetValid) { $0.claims["nbf"] = .integer(now - 3600) }
        expect(.tooOld) { $0.claims["iat"] = .integer(now) }
        expect(.subject) { $0.claims["sub"] = .string(TokenForge.subject) }
        expect(.malformed) { $0.claims["nonce"] = "m" }
        expect(.nonceUnexpected, nonce: nil) { _ in }
        expect(.nonceMismatch) { $0.claims["nonce"] = nil }
        expect(.nonceMissing) { $0.claims["nonce"] = "n" }
        expect(nil) { _ in }
        #expect(steps == 27)
    }
}
