extension Base64URL {
    /// Bytes as people paste them: in either alphabet (RFC 4648 §4, §5), with padding or without. For configuration only; what
    /// comes with a request has one spelling.
    package static func decode(pasted text: ArraySlice<UInt8>) -> [UInt8]? {
        var text = Array(text)
        for _ in 0..<2 where text.last == UInt8(ascii: "=") { text.removeLast() }
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "+"): text[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): text[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return decode(text[...])
    }
}
