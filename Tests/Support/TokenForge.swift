import AppleID
import JOSE
import OpenSSLCrypto

/// Makes Apple's identity tokens: good ones, to be changed at will, and every kind of bad one (`TokenForge.Fault`).
///
/// Tokens are made when the test runs, for a time that the test chooses; none lies in a file and expires there. The key is
/// made once a process, so tokens of one run verify by `keys` of that run and never by anything else.
package struct TokenForge {
    package static let issuer = "https://appleid.apple.com"
    package static let audience = "com.finnova.app"
    package static let subject = "001234.0123456789abcdef0123456789abcdef.0123"
    /// The moment that tests live in unless they say otherwise: 2027-01-15T08:00:00Z.
    package static let now = UnixTime(seconds: 1_800_000_000)
    package static let cryptography = OpenSSLCryptography()

    /// Stands for Apple's key.
    package static let key = newKey("FORGE00001")
    /// Somebody else's key, which no key set has.
    package static let foreignKey = newKey("FOREIGN001")
    /// What Apple would publish: the key among others of its kind, as Apple does.
    package static let keys = FixedKeys(KeySet(keys: [newKey("OTHER00001").jwk, key.jwk, newKey("OTHER00002").jwk]))

    package var header: JSON.Object
    package var claims: JSON.Object
    package var key: SigningKey

    /// A token that is good at `now`, of the shape that Apple sends (header without `typ`, a day to live).
    package init(
        subject: String = TokenForge.subject, audience: String = TokenForge.audience, at now: UnixTime = TokenForge.now,
        key: SigningKey = TokenForge.key
    ) {
        self.key = key
        header = ["kid": .string(key.keyID), "alg": "RS256"]
        claims = [
            "iss": .string(Self.issuer), "aud": .string(audience), "exp": .integer(now.seconds + 86_400),
            "iat": .integer(now.seconds), "sub": .string(subject), "c_hash": "x3KqkUYpqe2mZRkcAd-kXA",
            "email": "x7k2m9@privaterelay.appleid.com", "email_verified": .bool(true), "is_private_email": .bool(true),
            "auth_time": .integer(now.seconds), "nonce_supported": .bool(true), "real_user_status": .integer(2),
        ]
    }

    /// The same with some claims changed; nil removes one.
    package func with(_ changes: [String: JSON?]) -> TokenForge {
        var forge = self
        for (name, value) in changes { forge.claims[name] = value }
        return forge
    }

    /// The same with some header members changed; nil removes one.
    package func withHeader(_ changes: [String: JSON?]) -> TokenForge {
        var forge = self
        for (name, value) in changes { forge.header[name] = value }
        return forge
    }

    /// The token in compact form, signed RS256 by `key` whatever the header says.
    package var token: String {
        Self.token(header: JSON.object(header).text, payload: JSON.object(claims).text, key: key)
    }

    /// Any two texts as header and payload, signed.
    package static func token(header: String, payload: String, key: SigningKey = TokenForge.key) -> String {
        let input = signingInput(header: header, payload: payload)
        return input + "." + Base64URL.encode(signature(over: input, by: key))
    }

    package static func signingInput(header: String, payload: String) -> String {
        Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
    }

    package static func signature(over input: String, by key: SigningKey = TokenForge.key) -> [UInt8] {
        do {
            return try cryptography.sign(Array(input.utf8)[...], with: key.privateKey)
        } catch {
            fatalError("the forge cannot sign: \(error)")
        }
    }

    package static func newKey(_ keyID: String, for algorithm: SignatureAlgorithm = .rs256) -> SigningKey {
        do {
            return SigningKey(keyID: keyID, privateKey: try cryptography.generateKey(for: algorithm))
        } catch {
            fatalError("the forge cannot make a key: \(error)")
        }
    }
}

/// A key source that knows one set and never asks anybody, or one that has nothing.
package struct FixedKeys: AppleKeySource {
    private let answer: Result<KeySet, KeysUnavailable>

    package init(_ keys: KeySet) {
        answer = .success(keys)
    }

    package init(unavailable: KeysUnavailable) {
        answer = .failure(unavailable)
    }

    package var keySet: KeySet? { try? answer.get() }

    package func keys(naming keyID: String) throws(KeysUnavailable) -> KeySet {
        try answer.get()
    }
}
