internal import JOSE

/// This function as Apple's web client: what the operator registered there, and where browsers may be sent afterwards.
package struct WebClient: Hashable, Sendable {
    /// The Services ID.
    package let id: String
    /// Where Apple sends its answer: the `redirect_uri`, as it is registered.
    package let callbackURL: String
    /// Apple's authorization endpoint.
    package let authorizeURL: String
    private let returnURLs: [String]

    package init(id: String, callbackURL: String, authorizeURL: String, returnURLs: [String]) {
        self.id = id
        self.callbackURL = callbackURL
        self.authorizeURL = authorizeURL
        self.returnURLs = returnURLs
    }

    /// An address on the list; nil for any other, however much it looks like one.
    package func returnURL(_ text: String) -> ReturnURL? {
        returnURLs.contains(where: text.isIdentical) ? ReturnURL(text: text) : nil
    }
}

/// Where the browser goes when a flow ends: an address of the app's. Only `WebClient.returnURL` makes one, so nothing else is
/// ever redirected to (open redirect, RFC 9700 §4.11). Addresses compare whole and by their bytes (RFC 9700 §2.1): neither a
/// beginning nor another spelling is the same address.
package struct ReturnURL: Hashable, Sendable {
    package let text: String

    fileprivate init(text: String) {
        self.text = text
    }

    /// The address with more parameters in its query (RFC 6749 §4.1.2, Appendix B); those that it has stay.
    func adding(_ parameters: [(String, String)]) -> String {
        let mark =
            if !text.utf8.contains(UInt8(ascii: "?")) {
                "?"
            } else if text.utf8.last == UInt8(ascii: "?") || text.utf8.last == UInt8(ascii: "&") {
                ""
            } else {
                "&"
            }
        return text + mark + String(decoding: FormURLEncoded.encode(parameters), as: UTF8.self)
    }
}
