internal import JOSE

/// Keys that AWS knows somebody by.
struct AWSCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let accessKeyID: String
    let secretAccessKey: String
    /// With keys that end.
    let sessionToken: String?
    let expiresAt: UnixTime?

    var description: String { "<AWS credentials>" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }

    init?(accessKeyID: String?, secretAccessKey: String?, sessionToken: String?, expiresAt: UnixTime? = nil) {
        guard let accessKeyID, let secretAccessKey, !accessKeyID.isEmpty, !secretAccessKey.isEmpty else { return nil }
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken.flatMap { $0.isEmpty ? nil : $0 }
        self.expiresAt = expiresAt
    }

    /// What the container's and the instance's endpoint answer.
    init?(_ body: [UInt8]) {
        guard let json = try? JSON(parsing: body, limits: JSON.Limits(bytes: 65_536)),
            let token = json["Token"]?.string, let expiration = json["Expiration"]?.string,
            let expiresAt = Self.time(expiration)
        else { return nil }
        self.init(
            accessKeyID: json["AccessKeyId"]?.string, secretAccessKey: json["SecretAccessKey"]?.string,
            sessionToken: token, expiresAt: expiresAt)
    }

    /// Of two processes that renew at once each does it for itself; this long before the end, so that no request is late.
    private static let marginSeconds: Int64 = 300

    func isGood(at now: UnixTime) -> Bool {
        expiresAt.map { now.adding(seconds: Self.marginSeconds) < $0 } ?? true
    }

    /// RFC 3339 in UTC, as in `2026-11-30T12:00:00Z`; a fraction of a second is passed over.
    static func time(_ text: String) -> UnixTime? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z"), bytes[10] == UInt8(ascii: "T") else { return nil }
        let number = { (range: Range<Int>) in Int64(String(decoding: bytes[range], as: UTF8.self)) }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month),
            (1...31).contains(day),
            (1970...9999).contains(year), (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        // Days of the civil calendar, counted in years that begin in March, so that a leap day comes last.
        let shifted = month <= 2 ? year - 1 : year
        let days =
            365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + (153 * ((month + 9) % 12) + 2) / 5 + day - 1
            - 719_468
        return UnixTime(seconds: ((days * 24 + hour) * 60 + minute) * 60 + second)
    }
}
