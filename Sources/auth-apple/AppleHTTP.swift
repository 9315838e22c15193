internal import AuthFunction
internal import CurlHTTP

/// How Apple is asked, for whatever: under our own name, over HTTPS (in development also over HTTP to this machine), and never
/// longer than the run that waits for it lasts.
struct AppleHTTP {
    private let allowance: HTTPURL.Allowance
    private let client: HTTPClient
    private let deadline: Deadline

    init(_ configuration: Configuration, deadline: Deadline) {
        self.init(mode: configuration.mode, caBundle: configuration.caBundle, deadline: deadline)
    }

    init(mode: Configuration.Mode, caBundle: String?, deadline: Deadline) {
        self.deadline = deadline
        allowance = Self.allowance(in: mode)
        client = HTTPClient(userAgent: "auth-apple/\(Program.version)", certificateAuthorities: caBundle)
    }

    /// What a request takes when all is well; with less time than this it is not begun.
    private static let shortest: Duration = .milliseconds(500)

    /// Why nothing could ever be had from `url`; nil when it may be asked.
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

    func send(
        _ method: HTTPRequest.Method = .get, _ url: String, headers: [HTTPRequest.Header], body: [UInt8]? = nil
    ) throws(HTTPError) -> HTTPResponse {
        var request = HTTPRequest(method, try HTTPURL(url, allowing: allowance), headers: headers, body: body)
        if let remaining = deadline.remaining(at: System.now()), let limit = request.limits.total {
            guard remaining >= Self.shortest else {
                throw HTTPError(.timeout, "the runtime ends this run too soon for a fetch")
            }
            request.limits.total = min(remaining, limit)
        }
        return try client.send(request)
    }
}
