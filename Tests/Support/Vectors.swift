import Foundation
import JOSE

/// Test data that others published, in `../shared/vectors` beside the package. Where it is absent, the tests that need it
/// are skipped: `@Test(.enabled(if: Vectors.arePresent, "needs ../shared/vectors"))`.
package enum Vectors {
    package static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "../shared/vectors").standardizedFileURL

    package static let arePresent = FileManager.default.fileExists(atPath: folder.appending(path: "README.md").path)

    package static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appending(path: path)))
    }

    /// A file of vectors. It is read by the reader under test, which the JSON suite tests by other means.
    package static func json(_ path: String) throws -> JSON {
        try JSON(parsing: try bytes(path), limits: JSON.Limits(bytes: 16 << 20))
    }

    /// The files of a folder, by name; none when the folder is absent.
    package static func names(in path: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: path).path)) ?? []).sorted()
    }
}

extension [UInt8] {
    /// From an even number of hexadecimal digits.
    package init?(hex: String) {
        let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == hex.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    package var hex: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

extension JSON {
    /// A string of hexadecimal digits, as Wycheproof writes bytes.
    package var hexBytes: [UInt8]? {
        string.flatMap { [UInt8](hex: $0) }
    }
}
