/// A public key with its name, as a JSON Web Key (RFC 7517) that is fit to verify signatures.
package struct JWK: Hashable, Sendable {
    package let keyID: String?
    package let key: PublicKey

    package var algorithm: SignatureAlgorithm { key.algorithm }

    package init(keyID: String?, key: PublicKey) {
        self.keyID = keyID
        self.key = key
    }

    /// Reads one key. Its own word on what it is for must agree with verifying: `use` is absent or `sig`, `key_ops` absent
    /// or has `verify`, and `alg` absent or the one algorithm of the key's kind. Certificates are ignored: a key is
    /// trusted for where it came from, not for what it says of itself.
    package init(_ json: JSON) throws(JOSEError) {
        let key = try PublicKey(json)
        try Self.requireUse("verify", of: json, algorithm: key.algorithm)
        switch json["kid"] {
        case nil: keyID = nil
        case .string(let name)? where !name.isEmpty: keyID = name
        default: throw .malformed
        }
        self.key = key
    }

    package func isNamed(_ name: String) -> Bool {
        keyID.map { $0.isIdentical(to: name) } ?? false
    }

    /// The public members, `use` and `alg` said.
    package var json: JSON {
        var object = key.members
        object["use"] = "sig"
        object["alg"] = .string(algorithm.rawValue)
        if let keyID { object["kid"] = .string(keyID) }
        return .object(object)
    }

    static func requireUse(
        _ operation: String, of json: JSON, algorithm: SignatureAlgorithm
    ) throws(JOSEError) {
        if let use = json["use"], use.string != "sig" { throw .keyUnusable }
        if let operations = json["key_ops"] {
            // A private key signs and therefore may verify.
            guard let operations = operations.array,
                operations.contains(.string(operation)) || operations.contains("sign")
            else { throw .keyUnusable }
        }
        if let name = json["alg"], name.string != algorithm.rawValue { throw .keyUnusable }
    }
}

extension PublicKey {
    /// The key's own members (RFC 7518 §6.2.1, §6.3.1).
    init(_ json: JSON) throws(JOSEError) {
        switch json["kty"]?.string {
        case "RSA":
            guard let key = RSA(modulus: try json.bytes("n"), exponent: try json.bytes("e")) else { throw .keyUnusable }
            self = .rsa(key)
        case "EC":
            guard json["crv"]?.string == "P-256", let key = P256(x: try json.bytes("x"), y: try json.bytes("y")) else {
                throw .keyUnusable
            }
            self = .p256(key)
        default:
            throw .keyUnusable
        }
    }

    /// The required members in lexicographic order, as RFC 7638 §3.3 wants them.
    package var members: JSON.Object {
        switch self {
        case .rsa(let key): ["e": .base64URL(key.exponent), "kty": "RSA", "n": .base64URL(key.modulus)]
        case .p256(let key): ["crv": "P-256", "kty": "EC", "x": .base64URL(key.x), "y": .base64URL(key.y)]
        }
    }

    /// The key's name by its content (RFC 7638), base64url of SHA-256.
    package func thumbprint(using cryptography: any TokenCryptography) -> String {
        Base64URL.encode(cryptography.sha256(JSON.object(members).serialized()[...]))
    }
}

extension JSON: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self = .string(value)
    }

    static func base64URL(_ bytes: [UInt8]) -> JSON {
        .string(Base64URL.encode(bytes))
    }

    /// A member that holds base64url, or `malformed`.
    func bytes(_ name: String) throws(JOSEError) -> [UInt8] {
        guard let text = self[name]?.string, let bytes = Base64URL.decode(text), !bytes.isEmpty else {
            throw .malformed
        }
        return bytes
    }
}
