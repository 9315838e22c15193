#if canImport(AuthenticationServices)
internal import Foundation
internal import Security

/// `HTTPTransport` by URLSession.
package struct URLSessionTransport: HTTPTransport {
    private static let session = {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        configuration.timeoutIntervalForResource = Double(TransportRequest.seconds)
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.urlCache = nil
        configuration.httpAdditionalHeaders = ["User-Agent": "Xid/1.0"]
        return URLSession(configuration: configuration)
    }()

    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard let url = URL(string: request.url) else { throw .network }
        var message = URLRequest(url: url)
        message.httpMethod = request.body == nil ? "GET" : "POST"
        message.httpBody = request.body.map { Data($0) }
        for header in request.headers { message.setValue(header.value, forHTTPHeaderField: header.name) }
        do {
            let (bytes, response) = try await Self.session.bytes(for: message, delegate: Refusals())
            defer { bytes.task.cancel() }
            guard let response = response as? HTTPURLResponse else { throw TransportError.network }
            var body: [UInt8] = []
            for try await byte in bytes {
                guard body.count < TransportRequest.bodyLimit else { throw TransportError.tooLarge }
                body.append(byte)
            }
            let headers = response.allHeaderFields.map { TransportRequest.Header("\($0)".lowercased(), "\($1)") }
            return TransportResponse(status: response.statusCode, headers: headers, body: body)
        } catch {
            throw TransportError(error)
        }
    }
}

/// What URLSession does by itself and must not: follow a redirect, which is the answer, and offer a server the system's credentials.
private final class Refusals: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _: URLSession, task: URLSessionTask, willPerformHTTPRedirection: HTTPURLResponse, newRequest: URLRequest
    ) async -> URLRequest? { nil }

    func urlSession(
        _: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let isAboutServer = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust
        return (isAboutServer ? .performDefaultHandling : .rejectProtectionSpace, nil)
    }
}

extension TransportError {
    fileprivate init(_ error: any Error) {
        self =
            switch (error as? URLError)?.code {
            case .timedOut?: .timeout
            case .cancelled?: .cancelled
            case .secureConnectionFailed?, .serverCertificateHasBadDate?, .serverCertificateUntrusted?,
                .serverCertificateHasUnknownRoot?, .serverCertificateNotYetValid?:
                .tls
            default: error as? TransportError ?? (error is CancellationError ? .cancelled : .network)
            }
    }
}
#endif
