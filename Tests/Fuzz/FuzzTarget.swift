/// One reader of bytes from outside, and what must hold whatever the bytes are.
///
/// A check throws when its rule is broken, and crashes where the code under test does; both are finds. The same checks run
/// under libFuzzer (`run.sh`), which makes up the bytes, and in `swift test`, over the corpus.
struct FuzzTarget: Sendable {
    enum Verdict {
        case interesting
        /// Not what this target is about; libFuzzer is told not to keep it.
        case foreign
    }

    let name: String
    /// Bytes of the largest input that is tried.
    let maximumSize: Int
    let check: @Sendable (_ input: [UInt8]) throws -> Verdict

    init(
        _ name: String, maximumSize: Int = 4096, _ check: @escaping @Sendable (_ input: [UInt8]) throws -> Verdict
    ) {
        self.name = name
        self.maximumSize = maximumSize
        self.check = check
    }

    static let all: [FuzzTarget] =
        [.json, .base64URL, .jws, .appleToken, .accessToken, .keySet, .keyRecord, .keyResponse]
        + FuzzTarget.events + [.cgi, .headers, .form, .pastedKey, .receipt, .text, .growth]

    static func named(_ name: String) -> FuzzTarget? {
        all.first { $0.name == name }
    }
}

/// A rule that did not hold.
struct Violation: Error, CustomStringConvertible {
    let description: String
}

/// Throws unless `condition` holds; `rule` says what should have been so.
func demand(_ condition: Bool, _ rule: @autoclosure () -> String) throws(Violation) {
    guard condition else { throw Violation(description: rule()) }
}
