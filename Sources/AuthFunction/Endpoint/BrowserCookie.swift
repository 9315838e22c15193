internal import Accounts

/// The cookie in which a browser keeps its binding (RFC 6265).
///
/// `__Host-` makes browsers refuse it from other hosts, from a path, and without TLS. Apple's answer is a form that Apple's page
/// sends, so the cookie must come with requests from another site: `SameSite=None`. (With `Lax` it is not there, and forks of
/// many a library have switched the check off for that.)
enum BrowserCookie {
    static let name = "__Host-auth-apple"

    /// Nil when there is none, none that could be ours, or more than one: then nobody knows which is this browser's.
    static func binding(of request: Request) -> BrowserBinding? {
        var values: [String] = []
        for pair in (request.headers["cookie"] ?? "").utf8.split(separator: UInt8(ascii: ";")) {
            let pair = pair.drop { $0 == UInt8(ascii: " ") }
            let named = pair.prefix { $0 != UInt8(ascii: "=") }
            guard named.elementsEqual(name.utf8) else { continue }
            values.append(String(Substring(pair.dropFirst(named.count + 1))))
        }
        return values.count == 1 ? BrowserBinding(values[0]) : nil
    }

    static func setting(_ binding: BrowserBinding) -> String {
        "\(name)=\(binding.text); Path=/; Max-Age=\(BrowserBinding.seconds); Secure; HttpOnly; SameSite=None"
    }
}
