package import JOSE

/// A token that Apple signed, for us, and that is valid now. Only `AppleTokenVerifier.verify` makes one.
package struct VerifiedAppleToken: Sendable {
    /// The configured audience that it was issued for.
    package let audience: String
    package let claims: JSON.Object
    package let issuedAt: UnixTime
    /// From when on the verifier refuses it: `exp` and the leeway.
    package let expiresAt: UnixTime
    private let requiresNonce: Bool
    private let cryptography: any Cryptography

    init(
        audience: String, claims: JSON.Object, issuedAt: UnixTime, expiresAt: UnixTime, requiresNonce: Bool,
        cryptography: any Cryptography
    ) {
        self.audience = audience
        self.claims = claims
        self.issuedAt = issuedAt
        self.expiresAt = expiresAt
        self.requiresNonce = requiresNonce
        self.cryptography = cryptography
    }

    /// The person that an identity token names, after the last two checks: `sub`, and the nonce.
    ///
    /// - Parameter nonce: the raw nonce that the app made for this login, if it sent one.
    package func identity(nonce: String?) throws(TokenRefusal) -> AppleIdentity {
        guard let subject = claims["sub"]?.string, !subject.isEmpty, subject.unicodeScalars.count <= 255 else {
            throw .subject
        }
        try checkNonce(nonce)
        return AppleIdentity(subject: subject, of: self)
    }

    /// Whether `hash`, a claim of this token, is that of a token or code (`at_hash`, `c_hash`). The verifier takes RS256 only.
    func matches(hash: String, of value: String) -> Bool {
        TokenHash.matches(claim: hash, value: value, algorithm: .rs256, using: cryptography)
    }

    /// | app sent | token has | `nonce_supported` | outcome |
    /// |---|---|---|---|
    /// | yes | yes | any | must match |
    /// | yes | no | false | accepted: the device cannot carry it |
    /// | yes | no | otherwise | nonce_missing |
    /// | no | yes | any | nonce_unexpected when a nonce is required, else accepted |
    /// | no | no | any | nonce_missing when a nonce is required, else accepted |
    private func checkNonce(_ sent: String?) throws(TokenRefusal) {
        guard let claim = claims["nonce"] else {
            let isUnsupported = Bool(appleClaim: claims["nonce_supported"]) == false
            if sent != nil, !isUnsupported { throw .nonceMissing }
            if sent == nil, requiresNonce { throw .nonceMissing }
            return
        }
        guard let claim = claim.string else { throw .malformed }
        guard let sent else {
            if requiresNonce { throw .nonceUnexpected }
            return
        }
        guard NonceComparison(cryptography: cryptography).matches(claim: claim, raw: sent) else { throw .nonceMismatch }
    }
}

/// Apple echoes what the app put in the request: by its own samples the SHA-256 of a random value, in the wild also the
/// value itself or another spelling of the digest.
struct NonceComparison {
    let cryptography: any Cryptography

    /// Compares in constant time: bytes against bytes, never text against text.
    func matches(claim: String, raw: String) -> Bool {
        let raw = Array(raw.utf8)
        let claimBytes = Array(claim.utf8)
        if cryptography.areEqual(claimBytes[...], raw[...]) { return true }
        let digest = cryptography.sha256(raw[...])
        return [Self.hex(claimBytes), Self.base64(claimBytes)].contains { decoded in
            decoded.map { cryptography.areEqual($0[...], digest[...]) } ?? false
        }
    }

    private static func hex(_ text: [UInt8]) -> [UInt8]? {
        guard text.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: 64, by: 2) {
            guard let high = Hexadecimal.value(of: text[index]), let low = Hexadecimal.value(of: text[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// base64url or base64 of 32 bytes, with or without padding.
    private static func base64(_ text: [UInt8]) -> [UInt8]? {
        guard text.count == 43 || (text.count == 44 && text.last == UInt8(ascii: "=")) else { return nil }
        let unpadded = text[..<43].map { character in
            switch character {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: character
            }
        }
        return Base64URL.decode(unpadded[...])
    }
}
