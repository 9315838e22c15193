#if os(Linux)
internal import CurlHTTP

/// `HTTPTransport` by libcurl. Its calls block, so each request has a thread of its own and takes none from Swift's pool.
package struct CurlTransport: HTTPTransport {
    private let certificateAuthorities: String?
    private let seconds: Int

    /// - Parameters:
    ///   - certificateAuthorities: path of a PEM bundle to trust instead of the system's.
    ///   - seconds: how long an exchange may take.
    package init(certificateAuthorities: String? = nil, seconds: Int = TransportRequest.seconds) {
        self.certificateAuthorities = certificateAuthorities
        self.seconds = seconds
    }

    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let answer = OneShot<Result<TransportResponse, TransportError>>()
        let result = await withTaskCancellationHandler {
            let isStarted = DetachedThread.start { answer.settle(exchange(request)) }
            if !isStarted { answer.settle(.failure(.network)) }
            return await answer.value
        } onCancel: {
            // The thread goes on to its time limit and talks to nobody then.
            answer.settle(.failure(.cancelled))
        }
        return try result.get()
    }

    private func exchange(_ request: TransportRequest) -> Result<TransportResponse, TransportError> {
        do throws(HTTPError) {
            var message = HTTPRequest(
                request.body == nil ? .get : .post, try HTTPURL(request.url, allowing: .loopback),
                headers: request.headers.map { HTTPRequest.Header($0.name, $0.value) }, body: request.body)
            guard message.url.scheme != .file else { return .failure(.network) }
            message.limits.connect = .seconds(5)
            message.limits.total = .seconds(seconds)
            message.limits.bodyBytes = TransportRequest.bodyLimit
            let client = HTTPClient(userAgent: "Xid/1.0", certificateAuthorities: certificateAuthorities)
            let response = try client.send(message)
            return .success(
                TransportResponse(
                    status: response.status, headers: response.headers.map { .init($0.name, $0.value) },
                    body: response.body))
        } catch {
            return .failure(TransportError(error.code))
        }
    }
}

extension TransportError {
    fileprivate init(_ code: HTTPError.Code) {
        self =
            switch code {
            case .timeout: .timeout
            case .tls: .tls
            case .tooLarge: .tooLarge
            case .library, .url, .request, .connect, .transfer: .network
            }
    }
}
#endif
