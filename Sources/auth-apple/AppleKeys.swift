internal import AuthFunction
internal import CurlHTTP
internal import KeyCache

/// Apple's key set as it is fetched: the transport that `KeyCache` is handed.
struct AppleKeys {
    private let url: String
    private let allowance: HTTPURL.Allowance
    private let client: HTTPClient
    private let deadline: Deadline

    init(_ configuration: Configuration, deadline: Deadline = Deadline()) {
        self.deadline = deadline
        url = configuration.keysURL
        allowance = Self.allowance(in: configuration.mode)
        client = HTTPClient(
            userAgent: "auth-apple/\(Program.version)", certificateAuthorities: configuration.caBundle)
    }

    /// What a fetch takes when all is well; with less time than this it is not begun.
    private static let shortest: Duration = .milliseconds(500)

    /// Why nothing could ever be fetched from `url`; nil when it may be asked.
    static func fault(_ url: String, in mode: Configuration.Mode) -> EdgeJudgement.Fault? {
        do throws(HTTPError) {
            _ = try HTTPURL(url, allowing: allowance(in: mode))
            return nil
        } catch {
            return ("cannot be used (\(error.words))", "correct it, or unset it for Apple's")
        }
    }

    private static func allowance(in mode: Configuration.Mode) -> HTTPURL.Allowance {
        mode == .development ? .loopback : .httpsOnly
    }

    func fetch(entityTag: String?) throws(KeyFetchFailure) -> KeyResponse {
        do throws(HTTPError) {
            var headers = [HTTPRequest.Header("accept", "application/json")]
            if let entityTag { headers.append(HTTPRequest.Header("if-none-match", entityTag)) }
            var request = HTTPRequest(.get, try HTTPURL(url, allowing: allowance), headers: headers)
            if let remaining = deadline.remaining(at: System.now()), let limit = request.limits.total {
                guard remaining >= Self.shortest else {
                    throw HTTPError(.timeout, "the runtime ends this run too soon for a fetch")
                }
                request.limits.total = min(remaining, limit)
            }
            let response = try client.send(request)
            return KeyResponse(
                status: response.status, cacheControl: response[field: "cache-control"], age: response[field: "age"],
                entityTag: response[field: "etag"], body: response.body)
        } catch {
            throw .noResponse(code: error.code.rawValue, words: error.words)
        }
    }
}
