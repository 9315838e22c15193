/// Why there is no response. A response with an error status is a response.
package struct HTTPError: Error, Hashable {
    /// For programs and logs; the raw values are stable.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// libcurl is not installed, or is too old, or has no memory or descriptor to work with.
        case library = "http_library"
        /// The URL is not one that may be asked; see `HTTPURL`.
        case url
        /// A header that would not be one line, or a setting that libcurl refused.
        case request
        /// The name was not resolved, or nobody answers there.
        case connect
        /// The connection, or the whole exchange, took longer than allowed.
        case timeout
        /// No TLS 1.2, or a certificate that does not prove the host.
        case tls
        /// Body or headers larger than allowed; what had come was thrown away.
        case tooLarge = "too_large"
        /// The exchange broke off, or was not HTTP.
        case transfer
    }

    package let code: Code
    /// What libcurl says of it, or we. Names the host at most: never a query, a header or a body.
    package let words: String

    package init(_ code: Code, _ words: String) {
        self.code = code
        self.words = words
    }
}
