internal import JOSE

/// All that is known of one key set and of the attempts to fetch it: the content of the cache file.
///
/// Times are those of the machine's clock, in milliseconds, because whoever reads them may be another process.
struct KeyRecord: Hashable {
    struct Fetched: Hashable {
        var keys: KeySet
        /// When the server last said that these are its keys.
        var fetchedAt: UnixTime
        /// Until when it said so, within the bounds of `Freshness`.
        var freshUntil: UnixTime
        var entityTag: EntityTag?
    }

    struct Attempt: Hashable {
        var endedAt: UnixTime
        var hasFailed: Bool
    }

    /// Where the keys come from. A record of another address is not used.
    let url: String
    /// Nil when no fetch has succeeded yet.
    var fetched: Fetched?
    var lastAttempt: Attempt?
    /// When a fetch last did not bring the key that a token named.
    var missedAt: UnixTime?

    init(url: String) {
        self.url = url
    }
}

extension KeyRecord {
    /// The largest file that is read or written. A body of 64 KiB, written again with `use` and `alg`, stays below.
    static let maximumSize = 131_072

    /// What the file begins with, in whatever format.
    static let beginning = #"{"format":"#

    private static let format: Int64 = 1

    /// Reads what `serialized` wrote, and nothing else: whatever is missing, added, or not as we would have written it makes
    /// the whole file doubtful.
    init?(parsing bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes, limits: JSON.Limits(bytes: Self.maximumSize, depth: 8)),
            let url = json["url"]?.string
        else { return nil }
        self.init(url: url)
        fetched = json["fetched"].flatMap(Fetched.init)
        lastAttempt = json["attempt"].flatMap(Attempt.init)
        missedAt = json["missed_at"].flatMap(UnixTime.init)
        guard serialized() == bytes else { return nil }
    }

    func serialized() -> [UInt8] {
        let json: JSON = [
            "format": .integer(Self.format),
            "url": .string(url),
            "attempt": lastAttempt?.json ?? .null,
            "missed_at": missedAt?.json ?? .null,
            "fetched": fetched?.json ?? .null,
        ]
        return json.serialized()
    }
}

extension KeyRecord.Fetched {
    fileprivate init?(_ json: JSON) {
        guard let keys = json["keys"].flatMap({ try? KeySet(["keys": $0]) }), keys.contains(.rs256),
            let fetchedAt = json["fetched_at"].flatMap(UnixTime.init),
            let freshUntil = json["fresh_until"].flatMap(UnixTime.init),
            Freshness.bounds.contains(freshUntil.milliseconds - fetchedAt.milliseconds)
        else { return nil }
        self.init(
            keys: keys, fetchedAt: fetchedAt, freshUntil: freshUntil,
            entityTag: json["entity_tag"]?.string.flatMap(EntityTag.init))
    }

    fileprivate var json: JSON {
        [
            "fetched_at": fetchedAt.json,
            "fresh_until": freshUntil.json,
            "entity_tag": .string(orNull: entityTag?.text),
            "keys": keys.json["keys"] ?? .null,
        ]
    }
}

extension KeyRecord.Attempt {
    fileprivate init?(_ json: JSON) {
        guard let endedAt = json["ended_at"].flatMap(UnixTime.init), let hasFailed = json["failed"]?.bool else {
            return nil
        }
        self.init(endedAt: endedAt, hasFailed: hasFailed)
    }

    fileprivate var json: JSON {
        ["ended_at": endedAt.json, "failed": .bool(hasFailed)]
    }
}

extension UnixTime {
    /// Nothing before 1970 and nothing that reckoning could overflow.
    fileprivate init?(_ json: JSON) {
        guard let milliseconds = json.integer, (0..<(1 << 53)).contains(milliseconds) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    fileprivate var json: JSON {
        .integer(milliseconds)
    }
}
