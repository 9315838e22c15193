internal import JOSE

/// An address of the provider that may be asked.
///
/// HTTPS, or `http` to this machine when the issuer itself is at home there, which is development. The grammar is narrower than RFC
/// 3986 on purpose: what two readers could read in two ways (user names, escapes in the host, other alphabets, fragments) is refused.
struct Endpoint: Hashable, Sendable {
    /// As it was given.
    let text: String
    /// Scheme, host and port, in lower case and without the scheme's own port: what a DPoP nonce belongs to (RFC 9449 §8.2).
    let origin: String
    let isPlain: Bool

    init?(_ text: String, allowingPlain isPlainAllowed: Bool) {
        guard text.utf8.count <= 4096, text.utf8.allSatisfy(Self.mayStand),
            let colon = text.range(of: "://")
        else { return nil }
        let scheme = text[..<colon.lower].lowercased()
        let authority = text[colon.upper...].prefix { $0 != "/" && $0 != "?" }
        let bracket = authority.firstIndex(of: "]").map(authority.index(after:))
        let host = authority[..<(bracket ?? authority.firstIndex(of: ":") ?? authority.endIndex)]
        let port = authority[host.endIndex...].dropFirst()
        let isNamed =
            host.hasPrefix("[") && host.hasSuffix("]")
            ? host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            : host.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }
        guard isNamed, host.count > 0, host != "[]", authority[host.endIndex...].first.map({ $0 == ":" }) ?? true,
            authority.endIndex == host.endIndex || Self.isPort(port)
        else { return nil }
        isPlain = scheme == "http"
        guard scheme == "https" || (isPlain && isPlainAllowed && Self.isLoopback(host.lowercased())) else { return nil }
        self.text = text
        origin =
            "\(scheme)://\(host.lowercased())" + (port.isEmpty || port == (isPlain ? "80" : "443") ? "" : ":\(port)")
    }

    /// Without query: the `htu` of a DPoP proof (RFC 9449 §4.2).
    var withoutQuery: String {
        String(text.prefix { $0 != "?" })
    }

    /// The address with these parameters added.
    func adding(_ fields: [(String, String)]) -> String {
        let query = String(decoding: FormURLEncoded.encode(fields), as: UTF8.self)
        guard text.contains("?") else { return "\(text)?\(query)" }
        return text.hasSuffix("?") || text.hasSuffix("&") ? text + query : "\(text)&\(query)"
    }

    /// Digits alone: Swift reads a sign before a number as well.
    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && (Int(text).map { (1...65_535).contains($0) } ?? false)
    }

    /// What may stand in a URL without an escape (RFC 3986 §2), less `#`.
    private static func mayStand(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"#<>\\^`{|}".utf8.contains(byte)
    }

    /// Only the full spelling: `127.1` and `0177.0.0.1` are addresses to some and names to others.
    static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
    }
}

extension String {
    /// Where `text`, which is ASCII, first stands.
    fileprivate func range(of text: String) -> (lower: Index, upper: Index)? {
        let wanted = Array(text.utf8)
        var start = utf8.startIndex
        while start != utf8.endIndex {
            if utf8[start...].starts(with: wanted) { return (start, utf8.index(start, offsetBy: wanted.count)) }
            utf8.formIndex(after: &start)
        }
        return nil
    }
}
