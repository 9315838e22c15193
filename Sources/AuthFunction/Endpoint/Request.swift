/// An HTTP request, whichever doorway it came through. Everything in it is hostile but `context`.
package struct Request: Sendable {
    package var method: String
    /// Without the query and without a configured prefix.
    package var path: String
    /// What follows `?`, still encoded.
    package var query: String
    package var headers: Headers
    package var body: [UInt8]
    package var context: Context

    package init(
        method: String, path: String, query: String = "", headers: Headers = Headers(), body: [UInt8] = [],
        context: Context = Context()
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.context = context
    }

    package var isHead: Bool { method.utf8.elementsEqual("HEAD".utf8) }

    /// What the client calls itself (RFC 9110 §10.1.5): text, and never believed. Not every runtime says it beside the headers.
    var userAgent: String? { context.userAgent ?? headers["user-agent"] }

    /// What the runtime itself says of the request; never read from a header that a client can set.
    package struct Context: Sendable {
        /// The runtime's own name for the request.
        package var requestID: String?
        package var sourceAddress: String?
        package var userAgent: String?

        package init(requestID: String? = nil, sourceAddress: String? = nil, userAgent: String? = nil) {
            self.requestID = requestID
            self.sourceAddress = sourceAddress
            self.userAgent = userAgent
        }
    }
}

/// Header fields in their order; names compare without case (RFC 9110 §5.1).
package struct Headers: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package private(set) var fields: [Field] = []

    package struct Field: Hashable, Sendable {
        /// In lower case.
        package var name: String
        package var value: String
    }

    package init() {}

    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }

    package mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name.lowercased(), value: value))
    }

    package mutating func remove(_ name: String) {
        let name = name.lowercased()
        fields.removeAll { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The one value of that name. A field that came twice is joined as RFC 9110 §5.3 says, so that no reader sees the first
    /// where another sees the last; cookies by their own separator, as HTTP/2 lets them come in pieces (RFC 9113 §8.2.3).
    package subscript(name: String) -> String? {
        let name = name.lowercased()
        let lines = fields.filter { $0.name.utf8.elementsEqual(name.utf8) }
        guard lines.count > 1 else { return lines.first?.value }
        return lines.map(\.value).joined(separator: name == "cookie" ? "; " : ", ")
    }
}
