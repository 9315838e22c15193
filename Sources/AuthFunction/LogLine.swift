package import JOSE

/// One line a request, as JSON. It has no field into which a token, a code, a nonce, an e-mail or a name could come.
package struct LogLine {
    package var time: UnixTime
    package var requestID: String
    /// The route's own name and not the path that was asked for.
    package var route: String?
    package var status = 500
    /// `ok`, or the code of what the client was told.
    package var outcome = "ok"
    package var reason = ""
    package var milliseconds = 0.0
    package var keyCache: KeyLookup?
    package var accountCreated: Bool?
    package var subjectHash: String?

    package init(time: UnixTime, requestID: String) {
        self.time = time
        self.requestID = requestID
    }

    package var json: JSON {
        var object: JSON.Object = [
            "time": .string(time.rfc3339), "request_id": .string(requestID), "route": .string(orNull: route),
            "status": .integer(Int64(status)), "outcome": .string(outcome),
        ]
        if !reason.isEmpty { object["reason"] = .string(reason) }
        object["duration_ms"] = .decimal(Self.decimal(milliseconds))
        if let keyCache {
            object["key_cache"] = .string(keyCache.outcome)
            if !keyCache.notes.isEmpty { object["key_cache_notes"] = .array(keyCache.notes.map(JSON.string)) }
        }
        if let accountCreated { object["account_created"] = .bool(accountCreated) }
        if let subjectHash { object["sub_hash"] = .string(subjectHash) }
        return .object(object)
    }

    /// Lets lines about one person be found together without naming the person: 64 bits of SHA-256.
    package static func subjectHash(of subject: String, using cryptography: any Cryptography) -> String {
        let digest = cryptography.sha256(Array(subject.utf8)[...])
        return Hexadecimal.text(digest[..<8])
    }

    private static func decimal(_ milliseconds: Double) -> String {
        let thousandths = Int64(max(0, min(milliseconds, 1e12)) * 1000)
        let fraction = String(thousandths % 1000)
        return "\(thousandths / 1000)." + String(repeating: "0", count: 3 - fraction.count) + fraction
    }
}

/// What the key cache did for a request.
package struct KeyLookup: Sendable {
    /// hit, stale, refreshed, …
    package var outcome: String
    /// What was wrong with the file, or with the fetch.
    package var notes: [String]

    package init(outcome: String, notes: [String]) {
        self.outcome = outcome
        self.notes = notes
    }
}

extension UnixTime {
    /// RFC 3339 in UTC with milliseconds.
    package var rfc3339: String {
        // Days to a civil date by the era arithmetic of H. Hinnant, "chrono-compatible low-level date algorithms".
        let day = Int64(86_400_000)
        var days = milliseconds / day
        var rest = milliseconds % day
        if rest < 0 {
            days -= 1
            rest += day
        }
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let dayOfMonth = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let date = Self.digits(year, 4) + "-" + Self.digits(month, 2) + "-" + Self.digits(dayOfMonth, 2)
        let time = Self.digits(rest / 3_600_000, 2) + ":" + Self.digits(rest / 60_000 % 60, 2)
        return date + "T" + time + ":" + Self.digits(rest / 1000 % 60, 2) + "." + Self.digits(rest % 1000, 3) + "Z"
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
