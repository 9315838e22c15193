import Accounts
import AppleID
import AuthFunction
import JOSE
import TestSupport
import Testing

/// Every failure there is, and how it must be answered (design §7).
struct FailureCase: Sendable, CustomStringConvertible {
    let failure: Failure
    let status: Int
    let code: String
    let title: String
    var headers: [String: String] = [:]

    var description: String { "\(code) (\(failure))" }

    static let all: [FailureCase] =
        TokenRefusal.allCases.map {
            FailureCase(
                failure: .invalidToken($0), status: 401, code: "invalid_token", title: "Unauthorized",
                headers: ["www-authenticate": #"Bearer error="invalid_token""#])
        }
        + SessionRefusal.allCases.map {
            FailureCase(
                failure: .sessionRefused($0), status: 401, code: "invalid_token", title: "Unauthorized",
                headers: [
                    "www-authenticate": $0 == .accessTokenMissing ? "Bearer" : #"Bearer error="invalid_token""#
                ])
        } + [
            FailureCase(
                failure: .accountDisabled, status: 403, code: "account_disabled", title: "Forbidden"),
            FailureCase(
                failure: .tooManyRequests(policy: "sign-in", RateLimit(attempts: 30, seconds: 60), retryAfter: 7),
                status: 429, code: "too_many_requests", title: "Too Many Requests",
                headers: [
                    "retry-after": "7", "ratelimit-policy": #""sign-in";q=30;w=60"#, "ratelimit": #""sign-in";r=0;t=7"#,
                ]),
            FailureCase(
                failure: .invalidRequest([.init("field", "reason")]), status: 400, code: "invalid_request",
                title: "Bad Request"),
            FailureCase(
                failure: .invalidRequest([.init("identity_token", "required")], concernsToken: true), status: 400,
                code: "invalid_request", title: "Bad Request"),
            FailureCase(failure: .notFound, status: 404, code: "not_found", title: "Not Found"),
            FailureCase(
                failure: .methodNotAllowed(allowed: ["GET", "HEAD"]), status: 405, code: "method_not_allowed",
                title: "Method Not Allowed", headers: ["allow": "GET, HEAD"]),
            FailureCase(
                failure: .contentTooLarge, status: 413, code: "content_too_large", title: "Content Too Large"),
            FailureCase(
                failure: .unsupportedMediaType, status: 415, code: "unsupported_media_type",
                title: "Unsupported Media Type", headers: ["accept": "application/json"]),
            FailureCase(
                failure: .keysUnavailable(KeysUnavailable(reason: "secret reason", retryAfter: 17)), status: 503,
                code: "keys_unavailable", title: "Service Unavailable", headers: ["retry-after": "17"]),
            FailureCase(
                failure: .keysUnavailable(KeysUnavailable(reason: "secret reason", retryAfter: -3)), status: 503,
                code: "keys_unavailable", title: "Service Unavailable", headers: ["retry-after": "1"]),
            FailureCase(
                failure: .codeMismatch, status: 401, code: "invalid_token", title: "Unauthorized",
                headers: ["www-authenticate": #"Bearer error="invalid_token""#]),
            FailureCase(
                failure: .reauthenticationRequired(seconds: 600), status: 403, code: "reauthentication_required",
                title: "Forbidden",
                headers: [
                    "www-authenticate": #"Bearer error="insufficient_user_authentication", max_age="600""#
                ]),
            FailureCase(
                failure: .storeUnavailable(.unavailable(reason: "secret reason")), status: 503,
                code: "store_unavailable", title: "Service Unavailable", headers: ["retry-after": "5"]),
            FailureCase(
                failure: .storeUnavailable(.unusable(reason: "secret reason")), status: 503,
                code: "store_unavailable", title: "Service Unavailable", headers: ["retry-after": "5"]),
            FailureCase(
                failure: .cryptography(reason: "secret reason"), status: 500, code: "internal",
                title: "Internal Server Error"),
            FailureCase(failure: .notConfigured, status: 500, code: "internal", title: "Internal Server Error"),
        ]
}

struct ProblemTests {
    let doorway = Doorway()

    @Test(arguments: FailureCase.all)
    func `RFC 9457: every failure has its status, its code, its headers and its members`(_ expected: FailureCase) throws
    {
        let answer = try doorway.answer(to: .failure(expected.failure))
        #expect(answer.status == expected.status)
        let json = answer.json
        let members = ["type", "title", "status", "detail", "code", "request_id"]
        #expect(
            json.object?.members.map(\.name) == members + (expected.code == "invalid_request" ? ["errors"] : []))
        #expect(json["type"] == "about:blank")
        #expect(json["title"]?.string == expected.title)
        #expect(json["status"] == .integer(Int64(expected.status)))
        #expect(json["code"]?.string == expected.code)
        #expect(json["detail"]?.string?.isEmpty == false)
        let requestID = try #require(json["request_id"]?.string)
        #expect(UUIDv7(requestID) != nil)
        #expect(answer.log["request_id"]?.string == requestID)

        var headers = expected.headers
        headers["content-type"] = "application/problem+json"
        headers["x-content-type-options"] = "nosniff"
        headers["cache-control"] = "no-store"
        headers["content-language"] = "es"
        #expect(
            Dictionary(uniqueKeysWithValues: answer.headers.members.map { ($0.name, $0.value.string ?? "?") })
                == headers)
        #expect(answer.log["outcome"]?.string == expected.code)
        #expect(answer.log["status"] == .integer(Int64(expected.status)))
    }

    @Test func `401: one public answer for every reason, which only the log has`() throws {
        var answers: Set<String> = []
        for refusal in TokenRefusal.allCases {
            let answer = try doorway.answer(to: .failure(.invalidToken(refusal)))
            let requestID = try #require(answer.json["request_id"]?.string)
            answers.insert(answer.eventText.replacing(requestID, with: "-"))
            #expect(answer.log["reason"]?.string == refusal.rawValue)
        }
        #expect(answers.count == 1)
        #expect(Set(TokenRefusal.allCases.map(\.rawValue)).count == TokenRefusal.allCases.count)
    }

    @Test(arguments: TokenForge.faults + TokenForge.embeddedKeyFaults)
    func `401: a bad token from the outside, with its reason in the log`(_ fault: TokenForge.Fault) throws {
        let answer = try doorway.signIn(["identity_token": .string(fault.token)])
        if fault.token.isEmpty {
            #expect(answer.status == 400)
        } else {
            #expect(answer.status == 401)
            #expect(answer.code == "invalid_token")
            #expect(answer.log["reason"]?.string == fault.refusal.rawValue)
        }
        #expect(answer.json["detail"] == "No se pudo iniciar sesión con Apple. Intenta de nuevo.")
    }

    @Test func `503: an outage of ours or of Apple's is never the caller's fault, and its reason stays in the log`()
        throws
    {
        let keys = FixedKeys(unavailable: KeysUnavailable(reason: "connection refused", retryAfter: 9))
        let noKeys = try Doorway(keys: keys).signIn()
        #expect(noKeys.status == 503)
        #expect(noKeys.headers["retry-after"] == "9")
        #expect(noKeys.log["reason"] == "connection refused")
        for error in [StoreError.unavailable(reason: "disk is full"), .unusable(reason: "disk is full")] {
            let answer = try Doorway(users: FailingUsers(error: error)).signIn()
            #expect(answer.status == 503)
            #expect(answer.code == "store_unavailable")
            #expect(answer.log["reason"] == "disk is full")
            #expect(!answer.eventText.contains("disk"))
        }
    }

    @Test func `A bad token is refused before the store is asked`() throws {
        let doorway = Doorway(users: FailingUsers(error: .unavailable(reason: "down")))
        let token = TokenForge().with(["aud": "com.other.app"]).token
        #expect(try doorway.signIn(["identity_token": .string(token)]).status == 401)
    }

    @Test func `No reason of the inside shows outside`() throws {
        for expected in FailureCase.all {
            #expect(!(try doorway.answer(to: .failure(expected.failure)).eventText.contains("secret reason")))
        }
    }

    @Test func `A program that is not configured answers 500 and says nothing of why`() throws {
        let answer = try Answer(
            AuthFunction.unconfigured(using: TokenForge.cryptography, clock: Doorway.clock))
        #expect(answer.status == 500)
        #expect(answer.code == "internal")
        #expect(answer.log["reason"] == "not_configured")
        #expect(!answer.eventText.lowercased().contains("config"))
    }

    @Test func `The name that the runtime gives a request is the one that is answered and logged`() throws {
        let request = Request(method: "GET", path: "/nowhere", context: .init(requestID: "r\"1\n\u{202E}"))
        let answer = try doorway.answer(to: .success(request))
        #expect(answer.json["request_id"] == "r\"1\n\u{202E}")
        #expect(answer.log["request_id"] == "r\"1\n\u{202E}")
        #expect(!answer.log.text.contains("\n"))
    }
}
