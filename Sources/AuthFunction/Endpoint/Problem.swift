internal import Accounts
internal import AppleID
internal import JOSE

/// How a failure is answered: problem details (RFC 9457). The one place that maps errors to responses.
struct Problem {
    var status: Int
    /// Stable, for programs.
    var code: String
    /// For people.
    var detail: Phrase
    var headers: Headers = [:]
    var errors: [Failure.FieldError] = []

    init(_ failure: Failure) {
        switch failure {
        case .invalidRequest(let errors, let concernsToken):
            self.init(
                status: 400, code: "invalid_request", detail: concernsToken ? .signInFailed : .invalidRequest,
                errors: errors)
        case .invalidToken, .credentialSpent, .codeMismatch:
            // One public code: the caller is not told which check failed. RFC 6750 §3 wants the challenge.
            self.init(
                status: 401, code: "invalid_token", detail: .signInFailed,
                headers: ["www-authenticate": #"Bearer error="invalid_token""#])
        case .webRefused(.code), .webRefused(.codeExpired), .webRefused(.codeVerifier):
            self.init(.credentialSpent)
        case .webRefused(.state), .webRefused(.stateExpired), .webRefused(.stateForeign), .webRefused(.returnURL),
            .webRefused(.cancelled), .webRefused(.appleError), .webRefused(.incomplete), .webRefused(.codeHash):
            self.init(
                status: 400, code: "invalid_request", detail: .signInFailed, errors: [.init("state", "not_valid")])
        case .sessionRefused(let refusal):
            // RFC 6750 §3.1: a request that brought no token is not told what is wrong with it.
            let challenge = refusal == .accessTokenMissing ? "Bearer" : #"Bearer error="invalid_token""#
            self.init(
                status: 401, code: "invalid_token", detail: .sessionOver, headers: ["www-authenticate": challenge])
        case .accountDisabled:
            self.init(status: 403, code: "account_disabled", detail: .accountDisabled)
        case .reauthenticationRequired(let seconds):
            // RFC 9470 §3 in a 403: the session is good, and an app may drop it on a 401.
            self.init(
                status: 403, code: "reauthentication_required", detail: .reauthenticationRequired,
                headers: [
                    "www-authenticate": "Bearer error=\"insufficient_user_authentication\", max_age=\"\(seconds)\""
                ])
        case .tooManyRequests(let policy, let limit, let retryAfter):
            self.init(
                status: 429, code: "too_many_requests", detail: .tooManyRequests,
                headers: [
                    "retry-after": String(retryAfter),
                    "ratelimit-policy": "\"\(policy)\";q=\(limit.attempts);w=\(limit.seconds)",
                    "ratelimit": "\"\(policy)\";r=0;t=\(retryAfter)",
                ])
        case .notFound:
            self.init(status: 404, code: "not_found", detail: .notFound)
        case .methodNotAllowed(let allowed):
            self.init(
                status: 405, code: "method_not_allowed", detail: .methodNotAllowed,
                headers: ["allow": allowed.joined(separator: ", ")])
        case .contentTooLarge:
            self.init(status: 413, code: "content_too_large", detail: .contentTooLarge)
        case .unsupportedMediaType:
            self.init(
                status: 415, code: "unsupported_media_type", detail: .unsupportedMediaType,
                headers: ["accept": "application/json"])
        case .formExpected:
            self.init(
                status: 415, code: "unsupported_media_type", detail: .formExpected,
                headers: ["accept": "application/x-www-form-urlencoded"])
        case .keysUnavailable(let unavailable):
            self.init(
                status: 503, code: "keys_unavailable", detail: .unavailable,
                headers: ["retry-after": String(max(1, unavailable.retryAfter))])
        case .storeUnavailable:
            self.init(
                status: 503, code: "store_unavailable", detail: .unavailable, headers: ["retry-after": "5"])
        case .cryptography, .notConfigured:
            self.init(status: 500, code: "internal", detail: .internalError)
        }
    }

    private init(
        status: Int, code: String, detail: Phrase, headers: Headers = [:], errors: [Failure.FieldError] = []
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = headers
        self.errors = errors
    }

    func response(in language: Language, requestID: String) -> Response {
        var json: JSON.Object = [
            // RFC 9457 §4.2.1: the problem has no more meaning than its status, and `code` says the rest.
            "type": "about:blank", "title": .string(Self.title(status)), "status": .integer(Int64(status)),
            "detail": .string(detail.text(in: language)), "code": .string(code), "request_id": .string(requestID),
        ]
        if !errors.isEmpty {
            json["errors"] = .array(
                errors.map { ["field": .string($0.field), "reason": .string($0.reason)] })
        }
        var response = Response(
            status: status, json: .object(json), type: "application/problem+json", headers: headers)
        response.headers.append("cache-control", "no-store")
        response.headers.append("content-language", language.rawValue)
        return response
    }

    /// The reason phrases of RFC 9110 §15.
    static func title(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 204: "No Content"
        case 302: "Found"
        case 303: "See Other"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 429: "Too Many Requests"
        case 503: "Service Unavailable"
        default: "Internal Server Error"
        }
    }
}
