extension CGI {
    /// How much of standard input is this request's body.
    package enum BodyLength: Hashable {
        case none
        /// So many bytes and never one more (RFC 3875 §4.2).
        case exactly(Int)
        /// Apache hands on a chunked body without a length; it ends where standard input ends.
        case untilEnd
        /// CONTENT_LENGTH is no number, or the coding of the body is not one that ends by itself: nothing can be read.
        case unknown
    }

    /// Bytes of a body that is too large which are read all the same, and thrown away. A server that is still sending when
    /// the program is gone tells the client of a broken program, or leaves it hanging, instead of passing the answer on.
    package static let discardLimit = 4 << 20

    /// The rule by which standard input is read. A request without a length has no body: the input may be a terminal, or a
    /// connection that stays open, and reading it would wait for ever.
    package var bodyLength: BodyLength {
        let length = variables["CONTENT_LENGTH"] ?? ""
        guard length.isEmpty else {
            let isNumber = length.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isNumber, let count = Int(length) else { return .unknown }
            return count == 0 ? .none : .exactly(count)
        }
        return (variables["HTTP_TRANSFER_ENCODING"]?.lowercased()).map { $0 == "chunked" ? .untilEnd : .unknown }
            ?? .none
    }

    /// Reads the body by the rule.
    ///
    /// - Parameter read: up to so many bytes, as they come; empty at the end of the input or when it fails.
    package func body(reading read: (_ count: Int) -> [UInt8]) -> Result<[UInt8], Failure> {
        let limit = AuthFunction.maximumBodySize
        switch bodyLength {
        case .none:
            return .success([])
        case .unknown:
            return .failure(.invalidRequest([.init("body", "unknown_length")]))
        case .exactly(let count) where count > limit:
            Self.discard(upTo: min(count, Self.discardLimit), reading: read)
            return .failure(.contentTooLarge)
        case .exactly(let count):
            let body = Self.bytes(upTo: count, reading: read)
            return body.count == count ? .success(body) : .failure(.invalidRequest([.init("body", "too_short")]))
        case .untilEnd:
            // A chunked body that breaks off looks like one that ends. JSON that breaks off is none, so it is refused later.
            let body = Self.bytes(upTo: limit + 1, reading: read)
            guard body.count > limit else { return .success(body) }
            Self.discard(upTo: Self.discardLimit, reading: read)
            return .failure(.contentTooLarge)
        }
    }

    private static func bytes(upTo count: Int, reading read: (Int) -> [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let chunk = read(count - bytes.count)
            if chunk.isEmpty { break }
            bytes += chunk
        }
        return bytes
    }

    private static func discard(upTo count: Int, reading read: (Int) -> [UInt8]) {
        var rest = count
        while rest > 0 {
            let chunk = read(min(rest, 65_536))
            if chunk.isEmpty { break }
            rest -= chunk.count
        }
    }
}
