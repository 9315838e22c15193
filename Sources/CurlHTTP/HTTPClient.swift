internal import CurlShim

/// Sends one request at a time and waits for the whole answer, within limits.
///
/// It is made for a handful of known servers and therefore strict: TLS 1.2 or newer with peer and host verified, always; no
/// redirect followed, to whatever host; no proxy but the one it is given (a CGI server may turn a client's `Proxy:` header
/// into `HTTP_PROXY`); no `.netrc`, no cookies, no compression. libcurl is opened at the first request. A client that is
/// kept keeps its connections.
package final class HTTPClient {
    private let userAgent: String
    private let certificateAuthorities: String?
    private let proxy: String?
    private var curl: CurlHandle?

    /// - Parameters:
    ///   - userAgent: who asks, as `auth-apple/1.0`. Apple has answered 403 to the default names of libraries.
    ///   - certificateAuthorities: path of a PEM bundle to trust instead of the system's.
    ///   - proxy: the proxy to use. Nil is none, whatever the environment says.
    package init(userAgent: String, certificateAuthorities: String? = nil, proxy: String? = nil) {
        self.userAgent = userAgent
        self.certificateAuthorities = certificateAuthorities
        self.proxy = proxy
    }

    /// The answer, of whatever status. Throws when there is none, when it broke off, or when it is larger than allowed.
    package func send(_ request: HTTPRequest) throws(HTTPError) -> HTTPResponse {
        // Taken out while in use, and back at the end, so that it is never in use twice.
        let curl = if let idle = self.curl.take() { idle } else { try CurlHandle() }
        do {
            let response = try send(request, by: curl)
            curl.reset()
            self.curl = consume curl
            return response
        } catch {
            curl.reset()
            self.curl = consume curl
            throw error
        }
    }

    /// Closes the connections that were kept; the next request opens its own.
    package func close() {
        curl = nil
    }

    private func send(_ request: HTTPRequest, by curl: borrowing CurlHandle) throws(HTTPError) -> HTTPResponse {
        try setTrust(of: curl, for: request.url)
        try setRequest(request, of: curl)
        var lines = CurlHeaderLines(for: curl)
        for line in try Self.headerLines(of: request) { try lines.append(line) }
        let receiver = ResponseReceiver(limits: request.limits)
        try curl.perform(sending: lines, into: receiver)
        return HTTPResponse(
            status: request.url.scheme == .file ? 200 : curl.responseStatus, headers: receiver.headers,
            body: receiver.body)
    }

    /// Whom to believe, and where not to go. The same for every request, and set anew for each.
    private func setTrust(of curl: borrowing CurlHandle, for url: HTTPURL) throws(HTTPError) {
        // The one scheme that was allowed, should libcurl read the URL in another way.
        try curl.set(CURLOPT_PROTOCOLS_STR, url.scheme.rawValue)
        try curl.set(CURLOPT_FOLLOWLOCATION, 0)
        try curl.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        try curl.set(CURLOPT_SSL_VERIFYPEER, 1)
        try curl.set(CURLOPT_SSL_VERIFYHOST, 2)
        if let certificateAuthorities {
            try curl.set(CURLOPT_CAINFO, certificateAuthorities)
            // Or libcurl would go on trusting the system's folder of authorities beside the bundle.
            try curl.unset(CURLOPT_CAPATH)
        }
        // An empty string turns off what the environment says: https://curl.se/libcurl/c/CURLOPT_PROXY.html
        try curl.set(CURLOPT_PROXY, proxy ?? "")
        try curl.set(CURLOPT_NOPROXY, "")
        try curl.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        try curl.set(CURLOPT_NOSIGNAL, 1)
    }

    private func setRequest(_ request: HTTPRequest, of curl: borrowing CurlHandle) throws(HTTPError) {
        try curl.set(CURLOPT_URL, request.url.text)
        try curl.set(CURLOPT_USERAGENT, userAgent)
        try curl.set(CURLOPT_CONNECTTIMEOUT_MS, request.limits.connect.milliseconds)
        try curl.set(CURLOPT_TIMEOUT_MS, request.limits.total?.milliseconds ?? 0)
        if let body = request.body ?? (request.method == .post ? [] : nil) { try curl.set(body: body) }
        // After the body, which makes it a POST.
        try curl.set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        if let signing = request.signing {
            try signing.check(request)
            try curl.sign(with: signing)
        }
    }

    /// One line a header, none of which can become two; and without those that libcurl would add to a body.
    private static func headerLines(of request: HTTPRequest) throws(HTTPError) -> [String] {
        var lines: [String] = []
        for header in request.headers + (request.signing?.headers ?? []) {
            guard header.isOneLine else {
                throw HTTPError(.request, "a header has a character that has no place in one")
            }
            // libcurl's spelling of a field without value is a semicolon; with a colon it would leave the field out.
            lines.append(header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)")
        }
        // libcurl would sign these lines, which are never sent. A signed request has neither: see `Signing.check`.
        if request.signing != nil { return lines }
        if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
            lines.append("Content-Type:")
        }
        lines.append("Expect:")
        return lines
    }
}

extension HTTPRequest.Header {
    /// RFC 9110 §5.1 and §5.5: the name a token; the value visible characters, spaces and tabs.
    fileprivate var isOneLine: Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
            } && value.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 || $0 >= 0x80 }
    }
}

extension Duration {
    /// At least one, because libcurl takes zero for its own default.
    fileprivate var milliseconds: Int {
        max(1, Int(components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000))
    }
}
