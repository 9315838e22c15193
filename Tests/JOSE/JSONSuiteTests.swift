import JOSE
import TestSupport
import Testing

/// JSONTestSuite: what every JSON reader must accept (`y_`), must refuse (`n_`), and may treat either way (`i_`).
@Suite(.enabled(if: Vectors.arePresent, "needs ../shared/vectors"))
struct JSONSuiteTests {
    static let folder = "json-test-suite/test_parsing"

    /// RFC 8259 §4 says of names that they SHOULD be unique; here they must be, since readers that disagree on which of two
    /// counts are how a signed token says two things.
    static let refusedThoughValid: Set<String> = [
        "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
    ]

    static func names(_ prefix: String) -> [String] {
        Vectors.names(in: folder).filter { $0.hasPrefix(prefix) }
    }

    private func read(_ name: String) throws -> JSON {
        try JSON(parsing: try Vectors.bytes("\(Self.folder)/\(name)"), limits: JSON.Limits(bytes: 1 << 20))
    }

    @Test func `The suite is complete`() {
        #expect(Self.names("y_").count == 95)
        #expect(Self.names("n_").count == 188)
        #expect(Self.names("i_").count == 35)
    }

    @Test(arguments: names("y_"))
    func `What must be accepted is, and is written back as an equal value`(_ name: String) throws {
        guard !Self.refusedThoughValid.contains(name) else {
            #expect { try read(name) } throws: {
                if case JSONError.duplicateName = $0 { true } else { false }
            }
            return
        }
        let value = try read(name)
        #expect(try JSON(parsing: value.serialized(), limits: JSON.Limits(bytes: 1 << 20)) == value)
    }

    @Test(arguments: names("n_"))
    func `What must be refused is`(_ name: String) {
        #expect(throws: JSONError.self) { try read(name) }
    }

    /// Ours: no surrogate alone, only well-formed UTF-8, no mark, 32 levels; numbers of any size are kept as text.
    @Test(arguments: names("i_"))
    func `What may be either is decided by one rule`(_ name: String) {
        let isAccepted = (try? read(name)) != nil
        #expect(isAccepted == name.hasPrefix("i_number_"))
    }
}
