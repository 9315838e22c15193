/// A complete answer, of whatever status. A redirect (3xx) is an answer like any other: none is ever followed.
package struct HTTPResponse: Hashable, Sendable {
    /// A file that could be read counts as 200.
    package let status: Int
    package let headers: [HTTPRequest.Header]
    package let body: [UInt8]

    /// The field's value, by its name in lower case; several lines of one name are one list (RFC 9110 §5.3).
    package subscript(field name: String) -> String? {
        let values = headers.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
