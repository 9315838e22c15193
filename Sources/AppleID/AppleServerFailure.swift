/// Why Apple's server API did not do what it was asked. Holds nothing of the request or of the answer but its status and code.
package enum AppleServerFailure: Error, Hashable, Sendable {
    /// Apple's own word (RFC 6749 §5.2).
    case refused(AppleErrorCode)
    case unavailable(AppleServerOutage)

    /// For programs and logs; stable.
    package var word: String {
        switch self {
        case .refused(let code): "apple_\(code.rawValue)"
        case .unavailable(.noAnswer): "apple_no_answer"
        case .unavailable(.status): "apple_status"
        case .unavailable(.unreadable): "apple_unreadable"
        case .unavailable(.clientSecret): "client_secret"
        }
    }

    /// What the word leaves open, for the log.
    package var detail: String? {
        switch self {
        case .refused: nil
        case .unavailable(.noAnswer(let reason)): "\(reason.code): \(reason.words)"
        case .unavailable(.status(let status)): "status \(status)"
        case .unavailable(.unreadable): nil
        case .unavailable(.clientSecret(let words)): words
        }
    }

    /// Whether the same request may go well later: after an outage, or once the operator has corrected what the program is
    /// known by. A code is single use and lives for five minutes, so for an exchange it means another code.
    package var mayPassLater: Bool {
        switch self {
        case .unavailable: true
        case .refused(.invalidClient), .refused(.unauthorizedClient), .refused(.other): true
        case .refused(.invalidRequest), .refused(.invalidGrant), .refused(.unsupportedGrantType),
            .refused(.invalidScope):
            false
        }
    }
}

/// The `error` of Apple's answer (RFC 6749 §5.2).
package enum AppleErrorCode: String, Hashable, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    /// Team ID, Key ID, private key and client id do not go together, or the key was revoked.
    case invalidClient = "invalid_client"
    /// The code or the refresh token is used, expired, revoked, or another client's.
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidScope = "invalid_scope"
    /// A word that is none of these; it is not repeated.
    case other = "error"
}

package enum AppleServerOutage: Hashable, Sendable {
    case noAnswer(NoAppleServerAnswer)
    /// A status that Apple's own errors do not come with, or without one of them in the body.
    case status(Int)
    /// Status 200, and a body that does not hold what it must.
    case unreadable
    /// We could not sign: the words of the cryptographic library.
    case clientSecret(String)
}
