/// Takes a response as it comes in, line by line and piece by piece, and stops it when it grows too large.
final class ResponseReceiver {
    private let limits: HTTPRequest.Limits
    private(set) var headers: [HTTPRequest.Header] = []
    private(set) var body: [UInt8] = []
    private(set) var isTooLarge = false
    private var headerBytes = 0

    init(limits: HTTPRequest.Limits) {
        self.limits = limits
    }

    /// One line of the header section. False when there are more, or longer ones, than allowed.
    func receive(headerLine line: UnsafeBufferPointer<UInt8>) -> Bool {
        headerBytes += line.count
        guard headerBytes <= limits.headerBytes else { return refuse() }
        // Trailers (RFC 9110 §6.5.1) are not headers.
        guard body.isEmpty else { return true }
        let line = unsafe String(decoding: line, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // A new response: what came before was an interim one (RFC 9110 §15.2).
            headers = []
            return true
        }
        guard let colon = line.firstIndex(of: ":") else { return true }
        guard headers.count < limits.headerCount else { return refuse() }
        let value = line[line.index(after: colon)...]
        headers.append(HTTPRequest.Header(line[..<colon].lowercased(), Self.trimmed(value)))
        return true
    }

    /// A piece of the body. False when that makes it too large; nothing of it is kept then.
    func receive(body piece: UnsafeBufferPointer<UInt8>) -> Bool {
        guard piece.count <= limits.bodyBytes - body.count else { return refuse() }
        unsafe body.append(contentsOf: piece)
        return true
    }

    private func refuse() -> Bool {
        isTooLarge = true
        body = []
        headers = []
        return false
    }

    /// Without the white space that may stand around a field's value (RFC 9110 §5.5).
    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
