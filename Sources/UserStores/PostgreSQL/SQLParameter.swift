#if PostgreSQL
internal import Accounts
internal import JOSE

/// A value to bind, in PostgreSQL's binary form: shorter than text for ids, digests and times, and nothing to escape.
enum SQLParameter {
    case uuid(UUIDv7?)
    case text(String?)
    case bytes([UInt8]?)
    case time(UnixTime?)
    case bool(Bool?)
    case integer(Int64?)
    case json(String?)

    /// The numbers of `pg_type`, which are the same everywhere.
    enum TypeID {
        static let bool: UInt32 = 16
        static let bytes: UInt32 = 17
        static let integer: UInt32 = 20
        static let text: UInt32 = 25
        static let varchar: UInt32 = 1043
        static let time: UInt32 = 1184
        static let uuid: UInt32 = 2950
        static let json: UInt32 = 3802
    }

    var typeID: UInt32 {
        switch self {
        case .uuid: TypeID.uuid
        case .text: TypeID.text
        case .bytes: TypeID.bytes
        case .time: TypeID.time
        case .bool: TypeID.bool
        case .integer: TypeID.integer
        case .json: TypeID.json
        }
    }

    /// Nil for NULL.
    var encoded: [UInt8]? {
        switch self {
        case .uuid(let id): id?.bytes
        case .text(let text): text.map(StoredText.encode)
        case .bytes(let bytes): bytes
        case .time(let time): time.map { Self.bigEndian(Timestamp.encode($0)) }
        case .bool(let bool): bool.map { [$0 ? 1 : 0] }
        case .integer(let integer): integer.map(Self.bigEndian)
        // The version of the binary form, and the text.
        case .json(let text): text.map { [1] + Array($0.utf8) }
        }
    }

    private static func bigEndian(_ integer: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: integer >> Int64(56 - 8 * $0)) }
    }
}

/// A text that PostgreSQL can hold. It holds every character but U+0000, which a `sub`, a name and a device may have.
///
/// So U+0000 is written as DLE 0 and DLE (U+0010, "data link escape") as DLE DLE: what has neither, which is all that
/// there is in real life, lies in the table as it is, and equal texts stay equal and others different.
enum StoredText {
    private static let escape: UInt8 = 0x10

    static func encode(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case 0: bytes += [escape, UInt8(ascii: "0")]
            case escape: bytes += [escape, escape]
            default: bytes.append(byte)
            }
        }
        return bytes
    }

    /// Nil when it is not UTF-8. A DLE that means nothing stands for itself: it is the owner's, in their own users table.
    static func decode(_ bytes: [UInt8]) -> String? {
        guard bytes.contains(escape) else { return String(validating: bytes, as: UTF8.self) }
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let next = index + 1 < bytes.count ? bytes[index + 1] : nil
            switch (bytes[index], next) {
            case (escape, UInt8(ascii: "0")?):
                decoded.append(0)
                index += 2
            case (escape, escape?):
                decoded.append(escape)
                index += 2
            default:
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }
}

/// The binary form of `timestamptz`: microseconds since 2000-01-01T00:00:00Z, and two values for what is beyond.
enum Timestamp {
    private static let epoch: Int64 = 946_684_800_000
    /// 4714-11-24 BC, the first that PostgreSQL has, and the first moment that it has not any more, in the year 294277.
    private static let range: Range<Int64> = -210_866_803_200_000..<9_224_318_016_000_000

    static func encode(_ time: UnixTime) -> Int64 {
        guard time.milliseconds >= range.lowerBound else { return .min }
        guard time.milliseconds < range.upperBound else { return .max }
        return (time.milliseconds - epoch) * 1000
    }

    static func decode(_ microseconds: Int64) -> UnixTime {
        switch microseconds {
        case .min: UnixTime(milliseconds: .min)
        case .max: UnixTime(milliseconds: .max)
        default:
            // Rounded down; what we write has no parts of a millisecond.
            UnixTime(
                milliseconds: (microseconds >= 0 ? microseconds / 1000 : -((999 - microseconds) / 1000)) + epoch)
        }
    }
}
#endif
