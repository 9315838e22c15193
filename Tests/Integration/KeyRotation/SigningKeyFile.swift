import Foundation
import TestSupport

/// The file of the signing keys, for which time passes as a test wants.
enum SigningKeyFile {
    /// Puts every `since` so many seconds back. In place: the file stays its owner's.
    static func letPass(seconds: Int, in url: URL) throws {
        let text = try String(contentsOf: url, encoding: .utf8)
        let aged = text.replacing(/"since":(\d+)/) { match in "\"since\":\((Int(match.1) ?? 0) - seconds)" }
        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(aged.utf8))
        try file.close()
    }
}

extension FunctionSite {
    func letPass(seconds: Int) throws {
        try SigningKeyFile.letPass(
            seconds: seconds, in: URL(filePath: environment["AUTH_APPLE_SIGNING_KEYS_FILE"] ?? ""))
    }
}
