internal import JOSE

/// What a token endpoint gives (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3).
struct TokenResponse {
    let accessToken: SecretText
    let tokenType: TokenType
    let expiresIn: Int64?
    let refreshToken: SecretText?
    let idToken: SecretText?
    let scope: String?

    /// - Parameter isBound: a DPoP-bound token was asked for, and nothing less will do; else a bearer token, and nothing more.
    init(_ response: TransportResponse, isBound: Bool) throws(XidError) {
        guard response.status == 200 else {
            let refusal = XidError(.tokenRefused, refusal: response)
            let isProof = ["invalid_dpop_proof", "use_dpop_nonce"].contains(refusal.providerError)
            throw isProof ? XidError(.dpopRefused, refusal: response) : refusal
        }
        // The content type is not looked at: some leave it out, and a JSON object is nothing else.
        guard let json = JSON(object: response.body), let token = json["access_token"]?.string, Self.isToken(token),
            let kind = json["token_type"]?.string
        else { throw XidError(.tokenResponseInvalid) }
        switch kind.lowercased() {
        case "bearer" where !isBound: tokenType = .bearer
        case "dpop" where isBound: tokenType = .dpop
        default: throw XidError(.tokenTypeMismatch)
        }
        accessToken = SecretText(token)
        switch json["expires_in"] {
        case nil, .null?: expiresIn = nil
        case .integer(let seconds)? where seconds > 0: expiresIn = seconds
        case .string(let text)?:
            guard let seconds = Int64(text), seconds > 0 else { throw XidError(.tokenResponseInvalid) }
            expiresIn = seconds
        default: throw XidError(.tokenResponseInvalid)
        }
        refreshToken = try Self.optional("refresh_token", of: json)
        idToken = try Self.optional("id_token", of: json)
        scope = try Self.optional("scope", of: json)?.text
    }

    private static func optional(_ name: String, of json: JSON) throws(XidError) -> SecretText? {
        switch json[name] {
        case nil, .null?: return nil
        case .string(let text)? where !text.isEmpty: return SecretText(text)
        case .string?: return nil
        default: throw XidError(.tokenResponseInvalid)
        }
    }

    /// What can stand in a header: visible ASCII, no space.
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
