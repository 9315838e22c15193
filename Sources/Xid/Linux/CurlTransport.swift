#if os(Linux)
internal import CurlHTTP

/// `HTTPTransport` by libcurl. Its calls block, so each request has a thread of its own and takes none from Swift's pool.
package struct CurlTransport: HTTPTransport {
    private let certificateAuthorities: String?

    /// - Parameter certificateAuthorities: path of a PEM bundle to trust instead of the system's.
    package init(certificateAuthorities: String? = nil) {
        self.certificateAuthorities = certificateAuthorities
    }

    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let answer = OneShot<Result<TransportResponse, TransportError>>()
        let authorities = certificateAuthorities
        let result = await withTaskCancellationHandler {
            let isStarted = DetachedThread.start { answer.settle(Self.exchange(request, trusting: authorities)) }
            if !isStarted { answer.settle(.failure(.network)) }
            return await answer.value
        } onCancel: {
            // The thread goes on to its time limit and talks to nobody then.
            answer.settle(.failure(.cancelled))
        }
        return try result.get()
    }

    private static func exchange(
        _ request: TransportRequest, trusting authorities: String?
    ) -> Result<TransportResponse, TransportError> {
        do throws(HTTPError) {
            var message = HTTPRequest(
                request.body == nil ? .get : .post, try HTTPURL(request.url, allowing: .loopback),
                headers: request.headers.map { HTTPRequest.Header($0.name, $0.value) }, body: request.body)
            guard message.url.scheme != .file else { return .failure(.network) }
            message.limits.connect = .seconds(5)
            message.limits.total = .seconds(TransportRequest.seconds)
            message.limits.bodyBytes = TransportRequest.bodyLimit
            let response = try HTTPClient(userAgent: "Xid/1.0", certificateAuthorities: authorities).send(message)
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
