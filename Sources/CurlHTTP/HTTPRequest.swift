/// One request, and how much its answer may take.
package struct HTTPRequest: Sendable {
    package enum Method: String, Hashable, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    package struct Header: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What a caller is willing to wait for and to hold in memory. The sizes are enforced while the answer comes in.
    package struct Limits: Hashable, Sendable {
        /// Name, connection and TLS.
        package var connect: Duration = .seconds(3)
        /// The whole exchange; nil waits for ever, which only long polling wants.
        package var total: Duration? = .seconds(5)
        package var bodyBytes = 65_536
        package var headerBytes = 32_768
        package var headerCount = 100

        package init() {}
    }

    package var method: Method
    package var url: HTTPURL
    package var headers: [Header]
    /// Sent as it is; its `content-type` is one of the headers.
    package var body: [UInt8]?
    package var limits = Limits()
    /// Set for a request that AWS is to believe.
    package var signing: Signing?

    package init(_ method: Method = .get, _ url: HTTPURL, headers: [Header] = [], body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
