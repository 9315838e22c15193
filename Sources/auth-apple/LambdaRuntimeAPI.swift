internal import AuthFunction
internal import CurlHTTP
internal import JOSE

/// AWS Lambda's Runtime API (2018-06-01): where events come from and responses go.
///
/// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
///
/// No call has a time limit but that of connecting. The box may be frozen in any of them (for hours in `next`), its clock goes
/// on meanwhile, and a limit would turn a thaw into a failure; Lambda itself bounds every run.
struct LambdaRuntimeAPI {
    struct Invocation {
        /// A name that may stand in a URL.
        var id: String
        var deadline: String?
        var event: [UInt8]
    }

    struct Failure: Error {
        /// For the log: a status or the transport's words. Holds nothing of an event.
        var reason: String
    }

    /// The largest event or response, in bytes.
    static let maximumSize = 6_291_556

    private let authority: String
    private let client = HTTPClient(userAgent: "auth-apple/\(Program.version)")

    init(authority: String) {
        self.authority = authority
    }

    /// Waits for the next event, for ever if need be.
    func next() throws(Failure) -> Invocation {
        let response = try send(.get, "invocation/next")
        guard response.status == 200 else { throw Failure(reason: "next: status \(response.status)") }
        guard let id = response[field: "lambda-runtime-aws-request-id"], Self.isName(id) else {
            throw Failure(reason: "next: no request id")
        }
        return Invocation(id: id, deadline: response[field: "lambda-runtime-deadline-ms"], event: response.body)
    }

    /// Hands in a response. The status is Lambda's verdict on it.
    func respond(to id: String, _ response: [UInt8]) throws(Failure) -> Int {
        try send(.post, "invocation/\(id)/response", body: response, type: "application/json").status
    }

    /// Says that an event got no response, so that its sender need not wait for the time limit.
    func report(_ fault: LambdaFault, on id: String) throws(Failure) -> Int {
        try report(fault, to: "invocation/\(id)/error")
    }

    /// Says that there will be no `next`.
    func reportInitialization(_ fault: LambdaFault) throws(Failure) -> Int {
        try report(fault, to: "init/error")
    }

    private func report(_ fault: LambdaFault, to path: String) throws(Failure) -> Int {
        try send(
            .post, path, body: fault.json.serialized(), type: "application/vnd.aws.lambda.error+json",
            headers: [HTTPRequest.Header("lambda-runtime-function-error-type", fault.type)]
        ).status
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, body: [UInt8]? = nil, type: String? = nil,
        headers: [HTTPRequest.Header] = []
    ) throws(Failure) -> HTTPResponse {
        do throws(HTTPError) {
            let url = try HTTPURL(
                "http://\(authority)/2018-06-01/runtime/\(path)", allowing: .runtime(authority: authority))
            var request = HTTPRequest(method, url, headers: headers, body: body)
            if let type { request.headers.append(HTTPRequest.Header("content-type", type)) }
            request.limits.connect = .seconds(1)
            request.limits.total = nil
            request.limits.bodyBytes = Self.maximumSize
            return try client.send(request)
        } catch {
            let call = path.split(separator: "/").last ?? ""
            throw Failure(reason: "\(call): \(error.code.rawValue): \(error.words)")
        }
    }

    /// It becomes part of a path, so nothing in it may lead elsewhere.
    private static func isName(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

/// What Lambda is told of a run that failed, in its own form. The texts are fixed: nothing of a request or of the configuration
/// can come into them.
enum LambdaFault {
    case notConfigured
    case responseNotDelivered

    /// Lambda records only types of this form: `(Runtime|Function)\.[A-Z][a-zA-Z]+`.
    var type: String {
        switch self {
        case .notConfigured: "Runtime.NotConfigured"
        case .responseNotDelivered: "Runtime.ResponseNotDelivered"
        }
    }

    private var message: String {
        switch self {
        case .notConfigured: "The function is not configured. Its log names the variables."
        case .responseNotDelivered: "The response could not be handed in. The log has the reason."
        }
    }

    var json: JSON {
        ["errorMessage": .string(message), "errorType": .string(type), "stackTrace": .array([])]
    }
}
