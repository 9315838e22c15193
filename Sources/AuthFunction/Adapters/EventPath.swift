/// The path of a request under the prefixes that doorways put before it: API Gateway's stage, and the configured base path.
enum EventPath {
    /// The base path is stripped before and after the stage, since it may have been meant with or without it, and may stand on
    /// either side of it. What is a route by then has no stage before it: a custom domain may have left it out.
    static func resolve(_ path: String, stage: String?, basePath: String) -> String {
        let rest = BasePath.strip(basePath, from: path)
        guard let stage, !Route.isOne(path: rest) else { return rest }
        return BasePath.strip(basePath, from: BasePath.strip("/" + stage, from: rest))
    }

    /// By bytes: a mark that combines with the `?` would hide it from a reader of characters.
    static func split(_ target: String) -> (path: String, query: String) {
        guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (target, "") }
        return (String(target[..<mark]), String(target[target.utf8.index(after: mark)...]))
    }
}

/// A query string made again from the pairs that a runtime split it into.
enum EventQuery {
    /// Of pairs that the runtime left encoded.
    static func join(encoded pairs: [(name: String, value: String)]) -> String {
        pairs.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    /// Of pairs that the runtime decoded: encoded again, so that `&` in a value does not become a separator.
    static func join(decoded pairs: [(name: String, value: String)]) -> String {
        join(encoded: pairs.map { (encode($0.name), encode($0.value)) })
    }

    /// Everything but the unreserved characters (RFC 3986 §2.3).
    private static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
