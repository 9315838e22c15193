package import Accounts
package import JOSE

/// Reads variables into values, and notes what is wrong instead of stopping at the first.
package struct ConfigurationReader {
    package var environment: Environment

    package init(environment: Environment) {
        self.environment = environment
    }

    package mutating func text(_ name: String, isSecret: Bool = false) -> String? {
        guard let text = environment.value(name, isSecret: isSecret) else { return nil }
        guard !Self.isQuoted(text) else {
            reportQuoted(name)
            return nil
        }
        return text
    }

    /// A shell takes quotation marks away; Docker's `--env-file` does not, and no value of ours begins with one.
    private static func isQuoted(_ text: String) -> Bool { text.hasPrefix("\"") || text.hasPrefix("'") }

    private mutating func reportQuoted(_ name: String) {
        environment.reportOnce(
            name, "has quotation marks around its value",
            remedy: "leave them out: whatever reads them here does not take them away")
    }

    mutating func required(_ name: String, remedy: String) -> String {
        guard let value = text(name) else {
            environment.reportUnset(name, remedy: remedy)
            return ""
        }
        if value.first?.isWhitespace == true || value.last?.isWhitespace == true {
            environment.report(name, "begins or ends with white space", remedy: "leave it out")
        }
        return value
    }

    /// A comma-separated list; white space around an item is not part of it, and one that comes again counts once.
    package mutating func list(_ name: String, default defaultValue: [String]? = nil, required remedy: String = "")
        -> [String]
    {
        guard let text = text(name) else {
            if let defaultValue { return defaultValue }
            environment.reportUnset(name, remedy: remedy)
            return []
        }
        let items = text.split(separator: ",", omittingEmptySubsequences: false).map { item in
            var item = item
            while item.first == " " { item.removeFirst() }
            while item.last == " " { item.removeLast() }
            return String(item)
        }
        guard !items.contains(where: Self.isQuoted) else {
            reportQuoted(name)
            return []
        }
        guard items.allSatisfy({ !$0.isEmpty && !$0.contains(where: \.isWhitespace) }) else {
            environment.report(
                name, "has an empty item or white space in an item", remedy: "separate items by one comma")
            return []
        }
        return items.reduce(into: []) { list, item in
            if !list.contains(where: item.isIdentical) { list.append(item) }
        }
    }

    /// An issuer is named by an https URL (OpenID Connect Core 1.0 §2).
    mutating func issuers() -> [String] {
        let issuers = list("ISSUERS", default: ["https://appleid.apple.com"])
        if !issuers.allSatisfy({ $0.hasPrefix("https://") }) {
            environment.report(
                "ISSUERS", "names an issuer that does not begin with https://",
                remedy: "write each as tokens have it, or unset it for https://appleid.apple.com")
        }
        return issuers
    }

    mutating func tokenAudience() -> String {
        let audience = required("TOKEN_AUDIENCE", remedy: "set it to the name of your API, the aud of your tokens")
        if audience.contains(",") {
            environment.report("TOKEN_AUDIENCE", "has a comma in it", remedy: "set it to one name: it is no list")
        }
        return audience
    }

    package mutating func number(_ name: String, _ range: ClosedRange<Int64>, default defaultValue: Int64) -> Int64 {
        number(name, range, unset: "unset it for \(defaultValue)") ?? defaultValue
    }

    /// Nil when it is unset.
    ///
    /// - Parameter unset: what unsetting it would do, for who wrote no number.
    mutating func number(_ name: String, _ range: ClosedRange<Int64>, unset: String) -> Int64? {
        guard let text = text(name) else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            environment.report(
                name, "is not a whole number from \(range.lowerBound) to \(range.upperBound)",
                remedy: "set it to one, or \(unset)")
            return nil
        }
        return number
    }

    mutating func flag(_ name: String) -> Bool {
        switch text(name) {
        case nil, "false"?: return false
        case "true"?: return true
        default:
            environment.report(
                name, "is neither true nor false", remedy: "set it to one of the two, or unset it for false")
            return false
        }
    }

    mutating func choice<Value: RawRepresentable<String>>(
        _ name: String, _ values: [Value], default defaultValue: Value
    ) -> Value {
        guard let text = text(name) else { return defaultValue }
        guard let value = values.first(where: { $0.rawValue == text }) else {
            let names = values.map(\.rawValue).joined(separator: " or ")
            environment.report(
                name, "is not \(names)", remedy: "set it to one, or unset it for \(defaultValue.rawValue)")
            return defaultValue
        }
        return value
    }

    /// An endpoint of Apple's: https; in development also http on loopback, and a file.
    mutating func appleURL(
        _ name: String, default defaultValue: String, mode: Configuration.Mode, mayBeFile: Bool = false
    ) -> String {
        guard let url = text(name) else { return defaultValue }
        let isPlain = !url.contains(where: \.isWhitespace) && !url.contains("@")
        let isLoopback =
            (mayBeFile && url.hasPrefix("file:///"))
            || ["127.0.0.1", "[::1]", "localhost"].contains { host in
                url.hasPrefix("http://\(host):") || url.hasPrefix("http://\(host)/")
            }
        guard isPlain, url.hasPrefix("https://") || (mode == .development && isLoopback) else {
            environment.report(
                name, "is not an https URL",
                remedy: mode == .development
                    ? "set it to an https URL, \(mayBeFile ? "a file URL, " : "")or an http URL on loopback"
                    : "set it to an https URL; for a simulator on loopback set AUTH_APPLE_MODE=development")
            return defaultValue
        }
        return url
    }

    /// `off`, or a list such as `sign-in=30/60,refresh=10/60`: attempts in so many seconds.
    mutating func rateLimits() -> [RateLimiter.Subject: RateLimit] {
        guard let text = text("RATE_LIMITS"), text != "off" else { return [:] }
        var limits: [RateLimiter.Subject: RateLimit] = [:]
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: "=", omittingEmptySubsequences: false)
            let numbers = (parts.last ?? "").split(separator: "/", omittingEmptySubsequences: false).map { Int64($0) }
            guard parts.count == 2, let subject = RateLimiter.Subject(rawValue: String(parts[0])),
                limits[subject] == nil,
                numbers.count == 2, let attempts = numbers[0], let seconds = numbers[1],
                (1...1_000_000).contains(attempts), (1...86_400).contains(seconds)
            else {
                environment.report(
                    "RATE_LIMITS", "is not a list of limits",
                    remedy: "set it to off, or to attempts per seconds such as sign-in=30/60,refresh=10/60")
                return [:]
            }
            limits[subject] = RateLimit(attempts: attempts, seconds: seconds)
        }
        return limits
    }

    package mutating func mode() -> Configuration.Mode {
        choice("MODE", [.production, .development], default: .production)
    }

    package mutating func store(mode: Configuration.Mode) -> String? {
        let url: String
        if let text = text("STORE") {
            url = text
        } else if let folder = environment.folder("XDG_STATE_HOME") {
            url = "sqlite:\(folder)/auth-apple/accounts.sqlite"
        } else if let home = environment.folder("HOME") {
            url = "sqlite:\(home)/.local/state/auth-apple/accounts.sqlite"
        } else {
            environment.report(
                "STORE", "is not set, and neither is HOME",
                remedy: "set it to sqlite:/var/lib/auth-apple/accounts.sqlite")
            return nil
        }
        if mode == .production, url.lowercased().hasPrefix("memory:") {
            environment.report(
                "STORE", "is memory:, which forgets every account when the process ends",
                remedy: "set it to sqlite:PATH; for a trial set AUTH_APPLE_MODE=development")
        }
        return url
    }

    mutating func defaultKeyCache(userID: UInt32) -> String {
        if let folder = environment.folder("XDG_CACHE_HOME") { return "\(folder)/auth-apple/apple-keys.json" }
        return "/tmp/auth-apple-\(userID)/apple-keys.json"
    }

    mutating func basePath() -> String {
        guard let path = text("BASE_PATH") else { return "" }
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.contains("?") else {
            environment.report(
                "BASE_PATH", "does not begin with a slash, or ends with one", remedy: "set it to a path such as /prod")
            return ""
        }
        return path
    }

    package mutating func signingKeys(using cryptography: any Cryptography) -> SigningKeySet? {
        guard let text = text("SIGNING_KEYS", isSecret: true) else {
            environment.reportUnset(
                "SIGNING_KEYS", remedy: "set AUTH_APPLE_SIGNING_KEYS_FILE to a path and run: auth-apple keys new")
            return nil
        }
        do {
            return try SigningKeySet(parsing: Array(text.utf8)[...], using: cryptography)
        } catch {
            environment.report(
                "SIGNING_KEYS", error.reason, remedy: "make a new set with: auth-apple keys new, or restore the file")
            return nil
        }
    }
}
