internal import JOSE

/// A proof that the sender of one request has the key that its token is bound to (RFC 9449 §4.2).
struct DPoPProof {
    let method: String
    /// Without query and fragment.
    let address: String
    let nonce: String?
    let accessToken: SecretText?
    let time: UnixTime

    func signed(by key: SigningKey, using cryptography: any TokenCryptography) throws(XidError) -> String {
        do throws(CryptographyError) {
            // The request has a path where the address has none (RFC 9110 §4.2.3), and some services compare to the byte.
            let target = address.count { $0 == "/" } == 2 ? address + "/" : address
            var claims: JSON.Object = [
                "jti": .string(Base64URL.encode(try cryptography.randomBytes(16))), "htm": .string(method),
                "htu": .string(target), "iat": .integer(time.seconds),
            ]
            claims["nonce"] = nonce.map { .string($0) }
            claims["ath"] = accessToken.map { .string(Self.hash(of: $0, using: cryptography)) }
            let header: JSON.Object = ["typ": "dpop+jwt", "jwk": .object(key.privateKey.publicKey.members)]
            return try CompactJWS.signed(
                JSON.object(claims).serialized(), header: header, by: key.privateKey, using: cryptography)
        } catch {
            throw XidError(.cryptography)
        }
    }

    /// `ath`
    static func hash(of token: SecretText, using cryptography: any TokenCryptography) -> String {
        Base64URL.encode(cryptography.sha256(Array(token.text.utf8)[...]))
    }
}
