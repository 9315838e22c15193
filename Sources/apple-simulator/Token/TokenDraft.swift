internal import JOSE

/// A token before it is signed, every part of it open to change: what a bad token changes is what a verifier must see.
struct TokenDraft {
    enum Signature {
        /// With a key, over header and payload, under whatever algorithm the header claims.
        case key(SigningKey)
        /// HMAC-SHA-256 with these bytes as the secret.
        case hmac([UInt8])
        case none
    }

    var header: JSON.Object
    var claims: JSON.Object
    var signature: Signature
    /// Changes the JSON text of the header, for what `JSON.Object` cannot hold.
    var rewriteHeader: ([UInt8]) -> [UInt8] = { $0 }
    var rewritePayload: ([UInt8]) -> [UInt8] = { $0 }
    /// Changes the three parts after signing.
    var rewriteParts: ([String]) -> [String] = { $0 }

    /// A good token by `key`: the header as Apple writes it, without `typ`.
    init(claims: JSON.Object, key: SigningKey) {
        header = ["kid": .string(key.keyID), "alg": "RS256"]
        self.claims = claims
        signature = .key(key)
    }

    func signed(using cryptography: any Cryptography) throws(CryptographyError) -> String {
        let header = Base64URL.encode(rewriteHeader(JSON.object(header).serialized()))
        let payload = Base64URL.encode(rewritePayload(JSON.object(claims).serialized()))
        let input = Array("\(header).\(payload)".utf8)
        let signature: [UInt8]
        switch self.signature {
        case .key(let key): signature = try cryptography.sign(input[...], with: key.privateKey)
        case .hmac(let secret): signature = cryptography.hmacSHA256(input[...], key: secret[...])
        case .none: signature = []
        }
        return rewriteParts([header, payload, Base64URL.encode(signature)]).joined(separator: ".")
    }
}
