/// Sends one request and gives the whole answer: libcurl on Linux, URLSession on Apple's systems.
///
/// What every implementation keeps: TLS 1.2 or newer, peer and host verified; no redirect followed, to whatever host; no cookie,
/// no cache, no credential of the system added; the body cut off at `bodyLimit` while it comes in; at most
/// `TransportRequest.seconds` in all. Nothing of the request or answer goes to a log.
package protocol HTTPTransport: Sendable {
    /// The answer, of whatever status. May be cancelled by its task, and then throws `.cancelled` soon.
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse
}

/// A request to an address that has been allowed (`Endpoint`).
package struct TransportRequest: Sendable {
    package struct Header: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// How long an exchange may take, with all of it.
    package static let seconds = 15
    /// Bytes of an answer's body.
    package static let bodyLimit = 65_536

    package var url: String
    package var headers: [Header]
    /// With a body it is a POST, else a GET.
    package var body: [UInt8]?

    package init(url: String, headers: [Header] = [], body: [UInt8]? = nil) {
        self.url = url
        self.headers = headers
        self.body = body
    }
}

package struct TransportResponse: Sendable {
    package var status: Int
    /// Names in lower case.
    package var headers: [TransportRequest.Header]
    package var body: [UInt8]

    package init(status: Int, headers: [TransportRequest.Header], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The field's value; several lines of one name are one list (RFC 9110 §5.3).
    package subscript(field name: String) -> String? {
        let values = headers.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}

/// Why there is no answer.
package enum TransportError: Error, Hashable {
    case network
    case timeout
    case tls
    case tooLarge
    case cancelled
}
