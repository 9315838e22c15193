/// A JWS in compact form (RFC 7515 §7.1) that nobody has verified yet.
///
/// Of its content only the header can be seen, because the key must be looked up; the payload comes out of `verified` and
/// of nothing else.
package struct CompactJWS: Sendable {
    package struct Header: Hashable, Sendable {
        package let algorithm: SignatureAlgorithm
        package let keyID: String?
        package let type: String?
    }

    /// Bytes of the whole token; a token larger than this is not looked at.
    package static let maximumSize = 8192

    package let header: Header
    private let signingInput: ArraySlice<UInt8>
    private let payload: [UInt8]
    private let signature: [UInt8]

    /// Takes the token apart, in the order in which trust is built: size, three parts, base64url, header, `alg`, `crit`,
    /// `kid`. Keys that a header offers (`jwk`, `jku`, `x5u`, `x5c`) are not looked at.
    ///
    /// - Parameter keyIDLimit: characters of `kid`.
    package init(
        parsing token: ArraySlice<UInt8>, allowing algorithms: [SignatureAlgorithm], keyIDLimit: Int = 64
    ) throws(JOSEError) {
        guard token.count <= Self.maximumSize else { throw .tooLarge }
        let dot = UInt8(ascii: ".")
        // A third dot is refused with the signature, whose alphabet has none.
        guard let first = token.firstIndex(of: dot),
            let second = token[(first + 1)...].firstIndex(of: dot),
            let header = Base64URL.decode(token[..<first]),
            let payload = Base64URL.decode(token[(first + 1)..<second]),
            let signature = Base64URL.decode(token[(second + 1)...])
        else { throw .malformed }
        self.header = try Header(parsing: header, allowing: algorithms, keyIDLimit: keyIDLimit)
        self.payload = payload
        self.signature = signature
        signingInput = token[..<second]
    }

    /// The token under a key that is allowed to have signed it. The signature is checked over the original bytes.
    package func verified(by key: JWK, using cryptography: any TokenCryptography) throws(JOSEError) -> VerifiedJWS {
        guard key.algorithm == header.algorithm else { throw .keyUnusable }
        guard
            cryptography.isValid(
                signature[...], over: signingInput, by: key.key, algorithm: header.algorithm)
        else { throw .signature }
        return VerifiedJWS(header: header, payload: payload)
    }
}

/// A JWS whose signature has been verified. Only `CompactJWS.verified` makes one.
package struct VerifiedJWS: Sendable {
    package let header: CompactJWS.Header
    package let payload: [UInt8]

    fileprivate init(header: CompactJWS.Header, payload: [UInt8]) {
        self.header = header
        self.payload = payload
    }

    /// The payload as a JWT claims set (RFC 7519 §4): one JSON object, no name twice.
    package func claims() throws(JOSEError) -> JSON.Object {
        do {
            let json = try JSON(parsing: payload, limits: JSON.Limits(bytes: CompactJWS.maximumSize, depth: 16))
            guard let claims = json.object else { throw JOSEError.malformed }
            return claims
        } catch {
            throw .malformed
        }
    }
}

extension CompactJWS.Header {
    init(parsing bytes: [UInt8], allowing algorithms: [SignatureAlgorithm], keyIDLimit: Int) throws(JOSEError) {
        let json: JSON
        do {
            json = try JSON(parsing: bytes, limits: JSON.Limits(bytes: CompactJWS.maximumSize, depth: 8))
        } catch {
            throw .malformed
        }
        guard json.object != nil, let name = json["alg"]?.string else { throw .malformed }
        guard let algorithm = SignatureAlgorithm(rawValue: name), algorithms.contains(algorithm) else {
            throw .algorithm
        }
        guard json["crit"] == nil else { throw .critical }
        self.algorithm = algorithm
        keyID = try Self.string("kid", of: json)
        guard keyID.map({ !$0.isEmpty && $0.unicodeScalars.count <= keyIDLimit }) ?? true else { throw .malformed }
        type = try Self.string("typ", of: json)
    }

    private static func string(_ name: String, of json: JSON) throws(JOSEError) -> String? {
        guard let value = json[name] else { return nil }
        guard let string = value.string else { throw .malformed }
        return string
    }
}

extension CompactJWS {
    /// Makes a token: `header` with `alg` and `kid` of the key put in front, and `payload`, signed.
    package static func signed(
        _ payload: [UInt8], type: String, by key: SigningKey, using cryptography: any TokenCryptography
    ) throws(CryptographyError) -> String {
        let header: JSON.Object = ["kid": .string(key.keyID), "typ": .string(type)]
        return try signed(payload, header: header, by: key.privateKey, using: cryptography)
    }

    /// The same with a header of the caller's, behind `alg`: for a proof that carries its key instead of a name for it.
    package static func signed(
        _ payload: [UInt8], header members: JSON.Object, by key: PrivateKey, using cryptography: any TokenCryptography
    ) throws(CryptographyError) -> String {
        var header: JSON.Object = ["alg": .string(key.algorithm.rawValue)]
        for member in members.members { header[member.name] = member.value }
        var token = Base64URL.encodedBytes(JSON.object(header).serialized())
        token.append(UInt8(ascii: "."))
        token.append(contentsOf: Base64URL.encodedBytes(payload))
        let signature = try cryptography.sign(token[...], with: key)
        token.append(UInt8(ascii: "."))
        token.append(contentsOf: Base64URL.encodedBytes(signature))
        return String(decoding: token, as: UTF8.self)
    }
}
