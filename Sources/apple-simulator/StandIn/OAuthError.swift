internal import JOSE

/// Apple's refusal of a request to its token endpoints (RFC 6749 §5.2): status 400, whatever the code.
struct OAuthError: Error {
    enum Code: String {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case invalidScope = "invalid_scope"
        case unsupportedGrantType = "unsupported_grant_type"
    }

    let code: Code
    /// For the developer; says no secret, and nothing that came.
    let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    var response: HTTPResponse {
        .json(
            400, ["error": .string(code.rawValue), "error_description": .string(reason)],
            outcome: "\(code.rawValue): \(reason)")
    }
}
