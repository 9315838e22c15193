internal import AppleID
internal import AuthFunction
internal import CurlHTTP

/// Apple's server API as it is asked: the transport that `AppleServer` is handed.
struct AppleServerTransport {
    private let http: AppleHTTP

    init(_ http: AppleHTTP) {
        self.http = http
    }

    func send(_ request: AppleServerRequest) throws(NoAppleServerAnswer) -> AppleServerAnswer {
        var headers = [
            HTTPRequest.Header("accept", "application/json"),
            HTTPRequest.Header("content-type", "application/x-www-form-urlencoded"),
        ]
        if let bearer = request.bearer { headers.append(HTTPRequest.Header("authorization", "Bearer \(bearer)")) }
        do throws(HTTPError) {
            let response = try http.send(.post, request.url, headers: headers, body: request.form)
            return AppleServerAnswer(status: response.status, body: response.body)
        } catch {
            throw NoAppleServerAnswer(code: error.code.rawValue, words: error.words)
        }
    }
}
