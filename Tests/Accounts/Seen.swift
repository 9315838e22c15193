import Foundation
import JOSE

/// Everything that Swift's ways of looking at values show of them.
struct Seen {
    private let texts: [String]

    init(_ values: Any...) {
        texts = values.flatMap { value in
            var dumped = ""
            dump(value, to: &dumped)
            return [String(describing: value), String(reflecting: value), dumped]
        }
    }

    func shows(_ text: String) -> Bool {
        texts.contains { $0.contains(text) }
    }

    /// Whether bytes show in any of the spellings in which somebody would print them.
    func shows(_ bytes: [UInt8]) -> Bool {
        let list = bytes.map(String.init)
        let hex = bytes.map { String(format: "%02x", $0) }.joined()
        return [
            Base64URL.encode(bytes), Data(bytes).base64EncodedString(), hex, hex.uppercased(),
            list.joined(separator: ", "), list.prefix(6).joined(separator: ", "),
        ].contains(where: shows)
    }
}
