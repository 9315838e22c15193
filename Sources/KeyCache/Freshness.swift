internal import JOSE

/// How long a fetched key set counts as fresh (RFC 9111 §4.2), within our own bounds.
///
/// The bounds are ours because both ends have gone wrong at others: a server that forbids caching would be asked at every
/// login, and one that grants a year would leave a withdrawn key trusted for a year. They hold for `no-store` as well: the
/// keys are public, and kept for the sake of the server.
struct Freshness: Hashable {
    /// Milliseconds: one minute to one day.
    static let bounds: ClosedRange<Int64> = 60_000...86_400_000
    /// When the server says nothing: one hour.
    static let unsaidSeconds: Int64 = 3600

    let seconds: Int64

    init(of response: KeyResponse) {
        seconds = min(max(Self.granted(by: response), Self.bounds.lowerBound / 1000), Self.bounds.upperBound / 1000)
    }

    func end(from now: UnixTime) -> UnixTime {
        now.adding(seconds: seconds)
    }

    /// `max-age` less the time that the answer already spent in caches on the way (`Age`).
    private static func granted(by response: KeyResponse) -> Int64 {
        var granted = unsaidSeconds
        for directive in (response.cacheControl ?? "").split(separator: ",") {
            let parts = directive.split(separator: "=", maxSplits: 1).map { $0.lowercased().filter { $0 != " " } }
            switch parts.first {
            case "no-store", "no-cache": return 0
            case "max-age": granted = parts.count == 2 ? deltaSeconds(parts[1]) ?? 0 : 0
            default: break
            }
        }
        return granted - (response.age.flatMap { deltaSeconds($0) } ?? 0)
    }

    /// RFC 9111 §1.2.2: digits; more than can be counted means very long. A quoted number is taken as well (§5.2).
    private static func deltaSeconds(_ text: String) -> Int64? {
        let digits = text.filter { $0 != "\"" }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return min(Int64(digits) ?? .max, 1 << 31)
    }
}

/// A validator of a key set (RFC 9110 §8.8.3), fit to be sent back in `If-None-Match`.
struct EntityTag: Hashable {
    let text: String

    /// Nil when it is no entity tag, or longer than any that is worth keeping.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let opaque = text.hasPrefix("W/") ? bytes.dropFirst(2) : bytes[...]
        let quote = UInt8(ascii: "\"")
        guard bytes.count <= 256, opaque.count >= 2, opaque.first == quote, opaque.last == quote,
            opaque.dropFirst().dropLast().allSatisfy({ (0x21...0x7E).contains($0) && $0 != quote })
        else { return nil }
        self.text = text
    }
}
