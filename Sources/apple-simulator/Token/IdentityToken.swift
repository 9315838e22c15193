internal import JOSE

/// What an identity token says of a person: the claims of a native iOS sign-in, or of the web's and the token endpoint's, in
/// Apple's order.
struct IdentityToken {
    static let issuer = "https://appleid.apple.com"
    /// A day, as Apple's have lived since 2020.
    static let lifetime: Int64 = 86_400

    enum Email {
        case address(String)
        /// Hide My Email: the alias is the same for the same person.
        case relay
    }

    var subject = "001234.0123456789abcdef0123456789abcdef.0123"
    var audience = "com.example.app"
    var issuedAt: Int64
    var expiresIn = Self.lifetime
    /// As the claim is to say it.
    var nonce: String?
    var email: Email?
    /// What the claims are to say instead of what follows from `email`; Apple has sent Booleans and strings.
    var emailVerified: JSON?
    var isPrivateEmail: JSON?
    var transferSubject: String?
    /// The authorization code that the token comes with; without one `c_hash` is that of some code.
    var code: String?
    /// The access token that it comes with, from the token endpoint: then `at_hash` takes the place of `c_hash`.
    var accessToken: String?
    /// Apple says how real the person seems to native apps only.
    var isNative = true

    init(issuedAt: Int64) {
        self.issuedAt = issuedAt
    }

    func claims(using cryptography: any Cryptography) throws(CryptographyError) -> JSON.Object {
        let (expiry, overflow) = issuedAt.addingReportingOverflow(expiresIn)
        var claims: JSON.Object = [
            "iss": .string(Self.issuer), "aud": .string(audience), "exp": .integer(overflow ? .max : expiry),
            "iat": .integer(issuedAt), "sub": .string(subject),
        ]
        if let nonce { claims["nonce"] = .string(nonce) }
        // OpenID Connect Core §3.1.3.6 and §3.3.2.11: the left half of the digest.
        let hash = { (bytes: [UInt8]) in JSON.string(Base64URL.encode(cryptography.sha256(bytes[...]).prefix(16))) }
        if let accessToken {
            claims["at_hash"] = hash(Array(accessToken.utf8))
        } else {
            let code = if let code { Array(code.utf8) } else { try cryptography.randomBytes(32) }
            claims["c_hash"] = hash(code)
        }
        if let email {
            let address: String
            switch email {
            case .address(let text): address = text
            case .relay: address = Self.relayAddress(of: subject, using: cryptography)
            }
            claims["email"] = .string(address)
            claims["email_verified"] = emailVerified ?? .bool(true)
            let isRelay = address.hasSuffix("@privaterelay.appleid.com")
            if let isPrivate = isPrivateEmail ?? (isRelay ? .bool(true) : nil) {
                claims["is_private_email"] = isPrivate
            }
        } else {
            if let emailVerified { claims["email_verified"] = emailVerified }
            if let isPrivateEmail { claims["is_private_email"] = isPrivateEmail }
        }
        claims["auth_time"] = .integer(issuedAt)
        claims["nonce_supported"] = .bool(true)
        if isNative { claims["real_user_status"] = .integer(2) }
        if let transferSubject { claims["transfer_sub"] = .string(transferSubject) }
        return claims
    }

    /// The alias of Hide My Email: the same for the same person and team.
    static func relayAddress(of subject: String, using cryptography: any Cryptography) -> String {
        let alphabet = Array("23456789abcdefghijkmnpqrstuvwxyz".utf8)
        let name = cryptography.sha256(Array(subject.utf8)[...]).prefix(10).map { alphabet[Int($0) % alphabet.count] }
        return "\(String(decoding: name, as: UTF8.self))@privaterelay.appleid.com"
    }
}
