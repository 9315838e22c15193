internal import JOSE

/// The form of what `auth-apple store export` writes: lines of JSON. The first says what it is; then comes an entry a line; the last has
/// how much there was, and the SHA-256 of all bytes before it (`head -n -1 FILE | sha256sum`).
///
/// The digest shows what a copy lost. It keeps out nobody who may write the file: the file is as secret as the store.
package enum StoreFile {
    private static let version: Int64 = 1

    package static let header = line(.object(["format": .string("auth-apple store"), "version": .integer(version)]))

    package static func line(_ entry: StoreEntry) -> [UInt8] { line(entry.json) }

    package static func trailer(_ count: EntryCount, digest: [UInt8]) -> [UInt8] {
        line(.object(["end": count.json, "sha256": .string(hex(digest))]))
    }

    /// What a line that is no entry says.
    package enum Mark: Hashable {
        case header
        case newerHeader
        case trailer(accounts: Int)
    }

    /// Nil for a line that is an entry, or nothing.
    package static func mark(of line: ArraySlice<UInt8>) -> Mark? {
        // Entries may be long, and are read once.
        guard line.count <= 1024, let json = try? JSON(parsing: line, limits: JSON.Limits(bytes: 1024)) else {
            return nil
        }
        if json["format"]?.string == "auth-apple store", let number = json["version"]?.integer {
            return number == version ? .header : .newerHeader
        }
        return json["end"]?["accounts"]?.integer.map { .trailer(accounts: Int($0)) }
    }

    private static func line(_ json: JSON) -> [UInt8] { json.serialized() + [UInt8(ascii: "\n")] }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
