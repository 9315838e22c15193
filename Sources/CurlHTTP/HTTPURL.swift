/// An address that may be asked: where one exists, its scheme and host have been allowed.
///
/// The grammar is narrower than RFC 3986 on purpose. Two readers of one URL that disagree on its host are how a check is
/// walked around; so what could be read in two ways (user names, escapes in the host, backslashes, other alphabets,
/// fragments, abbreviated IPv4 addresses) is refused before libcurl reads it a second time.
package struct HTTPURL: Hashable, Sendable {
    package enum Scheme: String, Hashable, Sendable {
        case https, http, file
    }

    package enum Allowance: Hashable, Sendable {
        /// Production: HTTPS and nothing else.
        case httpsOnly
        /// Development and function runtimes: also `http` and `file`, but only to this machine itself.
        case loopback
    }

    package let text: String
    package let scheme: Scheme
    /// In lower case; an IPv6 address in its brackets; empty for a file.
    package let host: String

    package init(_ text: String, allowing allowance: Allowance = .httpsOnly) throws(HTTPError) {
        guard text.utf8.count <= 8192, text.utf8.allSatisfy(Self.mayStand) else {
            throw HTTPError(.url, "the URL is too long, or holds a character that has no place in one")
        }
        let (schemeName, rest) = try Self.split(text)
        guard let scheme = Scheme(rawValue: schemeName), scheme == .https || allowance == .loopback else {
            throw HTTPError(
                .url, allowance == .httpsOnly ? "the URL must be https" : "the URL must be https, http or file")
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let host = try Self.host(of: authority, scheme: scheme)
        guard scheme == .https || Self.isLoopback(host) || (scheme == .file && host.isEmpty) else {
            throw HTTPError(.url, "http and file are allowed to this machine only (localhost, 127.0.0.0/8, ::1)")
        }
        self.text = text
        self.scheme = scheme
        self.host = host
    }

    /// What may stand in a URL without an escape (RFC 3986 §2), less `#`: a fragment is never sent.
    private static func mayStand(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: (0x21...0x7E).contains(byte)
        }
    }

    private static func split(_ text: String) throws(HTTPError) -> (scheme: String, rest: Substring) {
        let scheme = text.prefix { $0 != ":" }
        let rest = text.dropFirst(scheme.count)
        guard rest.hasPrefix("://") else { throw HTTPError(.url, "the URL is not absolute") }
        return (String(scheme), rest.dropFirst(3))
    }

    private static func host(of authority: Substring, scheme: Scheme) throws(HTTPError) -> String {
        if authority.isEmpty, scheme == .file { return "" }
        let end = authority.firstIndex(of: "]").map(authority.index(after:)) ?? authority.firstIndex(of: ":")
        let host = authority[..<(end ?? authority.endIndex)]
        let port = authority.dropFirst(host.count)
        let isNamed =
            host.hasPrefix("[") && host.hasSuffix("]")
            ? host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            : host.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }
        guard isNamed, !host.isEmpty, host != "[]", port.isEmpty || isPort(port) else {
            throw HTTPError(.url, "the URL's host or port cannot be read with certainty")
        }
        return host.lowercased()
    }

    private static func isPort(_ text: Substring) -> Bool {
        let digits = text.dropFirst()
        return text.first == ":" && (1...5).contains(digits.count) && digits.allSatisfy(\.isNumber)
            && (Int(digits).map { (1...65_535).contains($0) } ?? false)
    }

    /// Only the full spelling: `127.1` and `0177.0.0.1` are addresses to some and names to others.
    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in UInt8(part).map { String($0) == part } ?? false }
    }
}
