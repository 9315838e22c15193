/// One request of HTTP/1.1 (RFC 9112), read whole.
struct HTTPRequest {
    static let maximumHead = 16_384
    static let maximumBody = 65_536

    let method: String
    /// Without the query.
    let path: String
    let query: String?
    /// Names in lower case; of a repeated field the values joined by a comma (RFC 9110 §5.3).
    let headers: [String: String]
    let body: [UInt8]

    enum Parsing {
        case incomplete
        case refused(HTTPResponse)
        case complete(HTTPRequest)
    }

    /// Looks at what has come so far.
    static func parse(_ bytes: [UInt8]) -> Parsing {
        guard let headEnd = endOfHead(in: bytes) else {
            return bytes.count > maximumHead ? .refused(.text(431, "The header is too large")) : .incomplete
        }
        guard headEnd <= maximumHead else { return .refused(.text(431, "The header is too large")) }
        let head = String(decoding: bytes[..<headEnd], as: UTF8.self)
        var lines = head.split(separator: "\r\n")[...]
        guard let start = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false), start.count == 3,
            start[2] == "HTTP/1.1" || start[2] == "HTTP/1.0", start[1].hasPrefix("/")
        else { return .refused(.text(400, "Not a request line")) }

        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
                !line[..<colon].contains(where: { $0 == " " || $0 == "\t" })
            else { return .refused(.text(400, "Not a header field")) }
            let name = line[..<colon].lowercased()
            let value = trimmed(line[line.index(after: colon)...])
            headers[name] = headers[name].map { "\($0), \(value)" } ?? value
        }
        guard headers["transfer-encoding"] == nil else {
            return .refused(.text(501, "Transfer codings are not understood; send Content-Length"))
        }
        let length = headers["content-length"].map { Int($0) } ?? 0
        guard let length, length >= 0 else { return .refused(.text(400, "Not a length")) }
        guard length <= maximumBody else { return .refused(.text(413, "The body is too large")) }
        let bodyStart = headEnd + 4
        guard bytes.count - bodyStart >= length else { return .incomplete }

        let target = start[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return .complete(
            HTTPRequest(
                method: String(start[0]), path: String(target[0]), query: target.count == 2 ? String(target[1]) : nil,
                headers: headers, body: Array(bytes[bodyStart..<bodyStart + length])))
    }

    private static func endOfHead(in bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (0...(bytes.count - 4)).first { index in
            bytes[index] == 0x0D && bytes[index + 1] == 0x0A && bytes[index + 2] == 0x0D && bytes[index + 3] == 0x0A
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        var text = text.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return String(text)
    }
}
