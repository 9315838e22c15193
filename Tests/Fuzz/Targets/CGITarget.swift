import JOSE

@testable import AuthFunction

extension FuzzTarget {
    /// Variables, a NUL between them, an empty one, and the body. Never is more read than the length says, and the answer is a
    /// head whose lines are fields, an empty line, and the body.
    static let cgi = FuzzTarget("cgi", maximumSize: 8192) { input in
        let (entries, standardInput) = split(input)
        let cgi = CGI(CGI.MetaVariables(entries: entries))
        var rest = standardInput[...]
        var read = 0
        let body = cgi.body { count in
            let chunk = rest.prefix(min(count, 7))
            rest = rest.dropFirst(chunk.count)
            read += chunk.count
            return Array(chunk)
        }
        switch cgi.bodyLength {
        case .none, .unknown: try demand(read == 0, "without a length nothing is read")
        case .exactly(let count): try demand(read <= count, "not one byte more is read than the length says")
        case .untilEnd: break
        }
        if let bytes = try? body.get() { try demand(bytes.count <= AuthFunction.maximumBodySize, "the body has a cap") }

        let request = cgi.request(body: body, basePath: "/mount")
        let exchange = FuzzSite.function().respond(to: request)
        try check(exchange, to: request)
        try check(cgi.bytes(of: exchange.response), of: exchange.response, by: cgi)

        // Whatever text a field of an answer may one day hold, it stays a field.
        var hostile = exchange.response
        hostile.headers.append("location", String(decoding: standardInput, as: UTF8.self))
        hostile.headers.append(String(decoding: standardInput.prefix(40), as: UTF8.self), "value")
        try check(cgi.bytes(of: hostile), of: hostile, by: cgi)
        return .interesting
    }

    private static func split(_ input: [UInt8]) -> (entries: [[UInt8]], body: [UInt8]) {
        var entries: [[UInt8]] = []
        var rest = input[...]
        while let end = rest.firstIndex(of: 0) {
            let entry = rest[..<end]
            rest = rest[(end + 1)...]
            if entry.isEmpty { return (entries, Array(rest)) }
            entries.append(Array(entry))
        }
        return (entries + [Array(rest)], [])
    }

    private static func check(_ bytes: [UInt8], of response: Response, by cgi: CGI) throws {
        let ends = bytes.indices.first { bytes[$0...].starts(with: [0x0D, 0x0A, 0x0D, 0x0A]) }
        guard let end = ends else { throw Violation(description: "the head ends with an empty line") }
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        let lines = head.unicodeScalars.split(separator: "\r\n".unicodeScalars).map(String.init)
        try demand(lines[0].hasPrefix("Status: \(response.status) "), "the status comes first")
        var types = 0
        for line in lines {
            let name = line.utf8.prefix { $0 != UInt8(ascii: ":") }
            try demand(!name.isEmpty && name.count < line.utf8.count, "a line is a field")
            try demand(name.allSatisfy { (0x21...0x7E).contains($0) }, "a field's name is visible ASCII")
            try demand(!line.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a field has no control characters")
            let lower = String(Substring(name)).lowercased()
            types += lower == "content-type" ? 1 : 0
            try demand(lower != "content-length" && lower != "transfer-encoding", "the length is the server's")
        }
        try demand(types <= 1, "there is one type at most")
        let hasBody = !cgi.isHead && response.status != 204 && response.status != 304
        try demand(Array(bytes[(end + 4)...]) == (hasBody ? response.body : []), "the body follows")
    }
}
