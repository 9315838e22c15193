#if os(Linux)
internal import CurlHTTP
internal import Glibc

/// `HTTPTransport` by libcurl. Its calls block, so each request has a thread of its own and takes none from Swift's pool.
package struct CurlTransport: HTTPTransport {
    private let certificateAuthorities: String?

    /// - Parameter certificateAuthorities: path of a PEM bundle to trust instead of the system's.
    package init(certificateAuthorities: String? = nil) {
        self.certificateAuthorities = certificateAuthorities
    }

    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let answer = Answer()
        let authorities = certificateAuthorities
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.wait(by: continuation)
                let isStarted = DetachedThread.start {
                    answer.settle(Self.exchange(request, trusting: authorities))
                }
                if !isStarted { answer.settle(.failure(.network)) }
            }
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

/// The one answer to a request, whichever comes first: the exchange's or the cancellation's.
private final class Answer: Sendable {
    typealias Outcome = Result<TransportResponse, TransportError>

    private struct State: Sendable {
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let state = Guarded(State())

    func wait(by continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    func settle(_ outcome: Outcome) {
        let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            return state.continuation.take()
        }
        continuation?.resume(returning: outcome)
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
