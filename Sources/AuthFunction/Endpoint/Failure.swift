package import Accounts
package import AppleID
internal import JOSE

/// Every way in which a request fails. `Problem` says how each is answered.
package enum Failure: Error, Hashable {
    /// The event or the body is not what the route takes.
    case invalidRequest([FieldError], concernsToken: Bool = false)
    case invalidToken(TokenRefusal)
    /// A token or code that is good only once, and was used before.
    case credentialSpent
    /// An authorization code that was not issued with the identity token.
    case codeMismatch
    /// The web flow did not go on.
    case webRefused(WebRefusal)
    /// A token of ours that does not stand for a living session.
    case sessionRefused(SessionRefusal)
    case accountDisabled
    /// The session is good, and its sign-in too long ago for what is asked.
    ///
    /// - Parameter seconds: how long ago it may be.
    case reauthenticationRequired(seconds: Int64)
    case notFound
    case methodNotAllowed(allowed: [String])
    case contentTooLarge
    case unsupportedMediaType
    /// The same where a form is taken, and not JSON.
    case formExpected
    /// - Parameter retryAfter: seconds.
    case tooManyRequests(policy: String, RateLimit, retryAfter: Int64)
    case keysUnavailable(KeysUnavailable)
    case storeUnavailable(StoreError)
    case cryptography(reason: String)
    /// The program is not configured; the details are in its own log.
    case notConfigured

    /// One thing that is wrong with the input, in words for the programmer of the client.
    package struct FieldError: Hashable, Sendable {
        package var field: String
        package var reason: String

        package init(_ field: String, _ reason: String) {
            self.field = field
            self.reason = reason
        }
    }

    init(_ failure: SignInFailure) {
        self =
            switch failure {
            case .verification(.refused(let refusal)): .invalidToken(refusal)
            case .verification(.keysUnavailable(let unavailable)): .keysUnavailable(unavailable)
            case .spent: .credentialSpent
            case .codeMismatch: .codeMismatch
            case .accountDisabled: .accountDisabled
            case .store(let error): .storeUnavailable(error)
            case .cryptography(let error): .cryptography(reason: error.reason)
            }
    }

    init(_ failure: SessionFailure) {
        self =
            switch failure {
            case .refused(let refusal): .sessionRefused(refusal)
            case .accountDisabled: .accountDisabled
            case .noSuchSession: .notFound
            case .store(let error): .storeUnavailable(error)
            case .cryptography(let error): .cryptography(reason: error.reason)
            }
    }

    init(_ failure: DeletionFailure) {
        self =
            switch failure {
            case .session(let failure): Failure(failure)
            case .sessionTooOld(let seconds): .reauthenticationRequired(seconds: seconds)
            }
    }

    init(_ failure: NotificationFailure) {
        self =
            switch failure {
            case .verification(.refused(let refusal)): .invalidToken(refusal)
            case .verification(.keysUnavailable(let unavailable)): .keysUnavailable(unavailable)
            case .notANotification(let refusal):
                .invalidRequest([.init("payload", "not_a_notification_\(refusal.rawValue)")])
            case .store(let error): .storeUnavailable(error)
            }
    }

    /// Why, in a word or two, for the log: a code of ours, or an edge's own description. Holds nothing of the request.
    var logReason: String {
        switch self {
        case .invalidRequest(let errors, _): errors.map { "\($0.field): \($0.reason)" }.joined(separator: "; ")
        case .invalidToken(let refusal): refusal.rawValue
        case .credentialSpent: "spent"
        case .codeMismatch: "code_mismatch"
        case .webRefused(let refusal): refusal.rawValue
        case .sessionRefused(let refusal): refusal.rawValue
        case .tooManyRequests(let policy, _, _): policy
        case .keysUnavailable(let unavailable): unavailable.reason
        case .storeUnavailable(.unavailable(let reason)), .storeUnavailable(.unusable(let reason)): reason
        case .cryptography(let reason): reason
        case .notFound, .methodNotAllowed, .contentTooLarge, .unsupportedMediaType, .formExpected, .accountDisabled,
            .reauthenticationRequired, .notConfigured:
            ""
        }
    }
}
