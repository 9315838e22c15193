internal import Accounts
internal import JOSE

/// The variables of the web flow: all of them, or none.
extension ConfigurationReader {
    /// Nil where the flow is off, or what is said of it is wrong.
    mutating func webClient(audiences: [String], mode: Configuration.Mode) -> WebClient? {
        let names = ["WEB_CLIENT_ID", "WEB_CALLBACK_URL", "RETURN_URLS"]
        let isPartOfFlow = (names + ["AUTHORIZE_URL"]).map { isGiven($0) }.contains(true)
        guard isPartOfFlow else { return nil }
        let id = required("WEB_CLIENT_ID", remedy: "set it to your Services ID, or unset all of \(Self.webNames)")
        let callback = required(
            "WEB_CALLBACK_URL",
            remedy: "set it to the Return URL that you registered with Apple, or unset all of \(Self.webNames)")
        let returns = list(
            "RETURN_URLS",
            required: "set it to where your app gets its answer (several with commas), or unset all of \(Self.webNames)"
        )
        let authorize = appleURL(
            "AUTHORIZE_URL", default: "https://appleid.apple.com/auth/authorize", mode: mode)

        if !id.isEmpty, !audiences.contains(where: id.isIdentical) {
            environment.reportOnce(
                "WEB_CLIENT_ID", "is not among the audiences", remedy: "add it to AUTH_APPLE_AUDIENCES")
        }
        if !callback.isEmpty { check(callback: callback, mode: mode) }
        for url in returns { check(returnURL: url, mode: mode) }
        if authorize.contains("?") || authorize.contains("#") {
            environment.reportOnce(
                "AUTHORIZE_URL", "is no address of a page, or has a query",
                remedy: "correct it, or unset it for Apple's")
        }
        return WebClient(id: id, callbackURL: callback, authorizeURL: authorize, returnURLs: returns.sorted())
    }

    private static let webNames = "AUTH_APPLE_WEB_CLIENT_ID, _WEB_CALLBACK_URL, _RETURN_URLS and _AUTHORIZE_URL"

    private mutating func isGiven(_ name: String) -> Bool { text(name) != nil }

    /// Apple compares it whole and by its bytes with the one that is registered, and takes neither query nor fragment.
    private mutating func check(callback: String, mode: Configuration.Mode) {
        let path = "/auth/apple/callback"
        guard WebAddress.isSound(callback), !callback.contains("?"), WebAddress.isWeb(callback, in: mode) else {
            return environment.reportOnce(
                "WEB_CALLBACK_URL", "is not an https URL without a query",
                remedy: "set it to your address of this function, ending in \(path)")
        }
        guard callback.utf8.reversed().starts(with: path.utf8.reversed()) else {
            return environment.reportOnce(
                "WEB_CALLBACK_URL", "does not end in \(path), where the answer is taken",
                remedy: "register such an address with Apple, and set it to that")
        }
    }

    private mutating func check(returnURL url: String, mode: Configuration.Mode) {
        guard WebAddress.isSound(url), WebAddress.isWeb(url, in: mode) || WebAddress.isPrivateUse(url) else {
            return environment.reportOnce(
                "RETURN_URLS", "has an address that is neither an https URL nor of a scheme such as com.example.app",
                remedy: "write each as https://HOST/PATH or com.example.app:/PATH, without a fragment")
        }
        guard WebAddress.leavesRoom(url) else {
            return environment.reportOnce(
                "RETURN_URLS", "has an address whose query has a parameter of the answer's",
                remedy: "leave code, state, iss and error out of it")
        }
    }
}

/// What an address must be for a browser to be sent there.
private enum WebAddress {
    /// Visible ASCII, short enough to travel in a state, no fragment (RFC 6749 §3.1.2), nobody's name, nothing that two
    /// readers take for two things, and no star, which would stand for itself.
    static func isSound(_ url: String) -> Bool {
        (1...512).contains(url.utf8.count)
            && url.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && !#"#@\"<>^`{|}*"#.utf8.contains(byte)
            }
    }

    /// https; in development also http on loopback.
    static func isWeb(_ url: String, in mode: Configuration.Mode) -> Bool {
        if url.hasPrefix("https://") {
            let host = url.utf8.dropFirst("https://".utf8.count).prefix { !"/?:".utf8.contains($0) }
            return !host.isEmpty
        }
        return mode == .development
            && ["127.0.0.1", "[::1]", "localhost"].contains { host in
                url.hasPrefix("http://\(host):") || url.hasPrefix("http://\(host)/")
            }
    }

    /// A scheme of the app's own, by its domain turned around (RFC 8252 §7.1): one without a dot, such as `javascript:` or
    /// `intent:`, is not anybody's own.
    static func isPrivateUse(_ url: String) -> Bool {
        let scheme = url.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = url.utf8.dropFirst(scheme.count)
        let isScheme = scheme.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "+"):
                true
            default: false
            }
        }
        guard let first = scheme.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
        return isScheme && scheme.contains(UInt8(ascii: ".")) && rest.starts(with: ":/".utf8)
    }

    /// Whether what is added to the query comes there once.
    static func leavesRoom(_ url: String) -> Bool {
        let query = url.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        guard let form = FormURLEncoded(parsing: Array(query)[...], maximumFields: 64) else { return false }
        return ["code", "state", "iss", "error"].allSatisfy { form.occurrence(of: $0) == .absent }
    }
}
