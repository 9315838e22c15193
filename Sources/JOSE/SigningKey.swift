/// A private key with its name: a private JWK (RFC 7517, RFC 7518 §6.2.2 and §6.3.2).
package struct SigningKey: Hashable, Sendable {
    package let keyID: String
    package let privateKey: PrivateKey

    package init(keyID: String, privateKey: PrivateKey) {
        self.keyID = keyID
        self.privateKey = privateKey
    }

    /// Reads a private key; without a `kid` it is named by its thumbprint (RFC 7638).
    package init(_ json: JSON, using cryptography: any TokenCryptography) throws(JOSEError) {
        let publicKey = try PublicKey(json)
        try JWK.requireUse("sign", of: json, algorithm: publicKey.algorithm)
        let parts: PrivateKey.Parts
        switch publicKey {
        case .p256:
            parts = .p256(SecretBytes(try json.bytes("d")))
        case .rsa:
            guard json["oth"] == nil else { throw .keyUnusable }
            parts = .rsa(
                d: SecretBytes(try json.bytes("d")), p: SecretBytes(try json.bytes("p")),
                q: SecretBytes(try json.bytes("q")), dp: SecretBytes(try json.bytes("dp")),
                dq: SecretBytes(try json.bytes("dq")), qi: SecretBytes(try json.bytes("qi")))
        }
        guard let privateKey = PrivateKey(publicKey: publicKey, parts: parts) else { throw .keyUnusable }
        switch json["kid"] {
        case nil: keyID = publicKey.thumbprint(using: cryptography)
        case .string(let name)? where !name.isEmpty && name.unicodeScalars.count <= 64: keyID = name
        default: throw .malformed
        }
        self.privateKey = privateKey
    }

    /// The public half, as others get it.
    package var jwk: JWK { JWK(keyID: keyID, key: privateKey.publicKey) }

    /// The whole key, secret parts included: for the key file and nothing else.
    package var secretJSON: JSON {
        var object = privateKey.publicKey.members
        switch privateKey.parts {
        case .p256(let d):
            object["d"] = .base64URL(d.bytes)
        case .rsa(let d, let p, let q, let dp, let dq, let qi):
            for (name, value) in [("d", d), ("p", p), ("q", q), ("dp", dp), ("dq", dq), ("qi", qi)] {
                object[name] = .base64URL(value.bytes)
            }
        }
        object["use"] = "sig"
        object["alg"] = .string(privateKey.algorithm.rawValue)
        object["kid"] = .string(keyID)
        return .object(object)
    }
}
