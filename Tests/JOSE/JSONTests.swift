import JOSE
import TestSupport
import Testing

struct JSONTests {
    private func read(_ text: String, depth: Int = 32) throws -> JSON {
        try JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 1 << 20, depth: depth))
    }

    @Test(arguments: [
        ("0", JSON.integer(0)), ("-1", .integer(-1)), ("9223372036854775807", .integer(.max)),
        ("-9223372036854775808", .integer(.min)), ("9223372036854775808", .decimal("9223372036854775808")),
        ("-9223372036854775809", .decimal("-9223372036854775809")), ("-0", .decimal("-0")), ("1.0", .decimal("1.0")),
        ("1e0", .decimal("1e0")), ("1E+2", .decimal("1E+2")), ("-0.0", .decimal("-0.0")),
        ("0.1000000000000000055511151231257827", .decimal("0.1000000000000000055511151231257827")),
    ])
    func `Integers of 64 bits are exact, and every other number keeps its text`(text: String, value: JSON) throws {
        #expect(try read(text) == value)
        #expect(value.text == text)
    }

    @Test(arguments: [
        "01", "-", "+1", "1.", ".1", "1e", "1e+", "0x1", "1_000", "NaN", "Infinity", "-01", "00", "1 2", "--1",
    ])
    func `What is not a number is refused`(_ text: String) {
        #expect(throws: JSONError.self) { try read(text) }
    }

    @Test(arguments: ["trux", "falsy", "nule", "tru", "[nul]", "True", "NULL", "nullx", "truefalse"])
    func `What is nearly a literal is refused`(_ text: String) {
        #expect(throws: JSONError.self) { try read(text) }
    }

    @Test(arguments: [
        (#""\ud83d\ude00""#, "😀"), (#""\uD83D\uDE00""#, "😀"), (#""\u0000""#, "\0"),
        (#""\u00e9\n\t\"\\\/""#, "é\n\t\"\\/"),
        (#""\uffff""#, "\u{FFFF}"), (#""\udbff\udfff""#, "\u{10FFFF}"), ("\"\u{7F}\u{2028}\"", "\u{7F}\u{2028}"),
    ])
    func `Escapes are read`(text: String, string: String) throws {
        #expect(try read(text) == .string(string))
        #expect(try read(JSON.string(string).text) == .string(string))
    }

    @Test(arguments: [
        #""\ud83d""#, #""\ude00""#, #""\ud83d\ud83d""#, #""\ud83dx""#, #""\ud83d\n""#, #""\ude00\ud83d""#, #""\u12""#,
        #""\u12g4""#, #""\x41""#, #""\U0041""#, "\"\u{1F}\"", "\"a", #""\"#, #""\u"#, #""\ud83d\u"#,
    ])
    func `Half a surrogate pair, a control character, or half an escape is refused`(_ text: String) {
        #expect(throws: JSONError.self) { try read(text) }
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xFF],
            [0xE2, 0x82, 0x41], [0xF0, 0x9F, 0x41, 0x80], [0xF0, 0x9F, 0x98, 0x41],
        ] as [[UInt8]])
    func `Ill-formed UTF-8 is refused, as a value, as a name, and at the end of the text`(_ bytes: [UInt8]) {
        for text in [[0x22] + bytes + [0x22], [0x22] + bytes, Array("{\"".utf8) + bytes + Array("\":1}".utf8), bytes] {
            #expect(throws: JSONError.self) { try JSON(parsing: text, limits: JSON.Limits(bytes: 100)) }
        }
    }

    @Test func `Every scalar survives writing and reading`() throws {
        for start in stride(from: UInt32(0), to: 0x11_0000, by: 0x1000) {
            let scalars = (start..<start + 0x1000).compactMap(Unicode.Scalar.init)
            var string = ""
            string.unicodeScalars.append(contentsOf: scalars)
            let read = try read(JSON.string(string).text).string
            #expect(read.map { Array($0.unicodeScalars) == scalars } == true)
        }
    }

    /// Strings are gone through by eight bytes at once, so each place in them and each remainder behind them counts.
    @Test(arguments: [
        ("\"", #"\""#), ("\\", #"\\"#), ("\u{1F}", #"\u001f"#), ("\u{0}", #"\u0000"#), (" ", " "), ("!", "!"),
        ("#", "#"), ("[", "["), ("]", "]"), ("\u{7F}", "\u{7F}"), ("\u{A2}", "\u{A2}"), ("\u{800}", "\u{800}"),
        ("\u{1F600}", "\u{1F600}"),
    ])
    func `A character is written and read wherever it stands`(_ character: String, written: String) throws {
        for before in 0...17 {
            for after in 0...17 {
                let (head, tail) = (String(repeating: "a", count: before), String(repeating: "z", count: after))
                for count in 1...2 {
                    let string = head + String(repeating: character, count: count) + tail
                    let text = "\"" + head + String(repeating: written, count: count) + tail + "\""
                    #expect(JSON.string(string).text == text)
                    #expect(try read(text) == .string(string))
                }
                if character < " " {
                    #expect(throws: JSONError.syntax(offset: 1 + before)) {
                        try read("\"" + head + character + tail + "\"")
                    }
                }
            }
        }
    }

    @Test func `A text of the limit is read, and one byte more is not`() throws {
        let text = Array("[1,2]".utf8)
        #expect(try JSON(parsing: text, limits: JSON.Limits(bytes: 5)) == .array([.integer(1), .integer(2)]))
        #expect(throws: JSONError.tooLarge) { try JSON(parsing: text, limits: JSON.Limits(bytes: 4)) }
    }

    @Test func `Depth counts arrays and objects around a value`() throws {
        #expect(try read(#"[{"a":[1]}]"#, depth: 3)["a"] == nil)
        #expect(throws: JSONError.tooDeep) { try read(#"[{"a":[1]}]"#, depth: 2) }
        #expect(throws: JSONError.tooDeep) { try read("[]", depth: 0) }
        #expect(try read("[[],[],[]]", depth: 2).array?.count == 3)
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
    func `However deep a text goes, it ends at the limit`(_ opening: String) {
        let text = String(repeating: opening, count: 200_000)
        let bytes = Array(text.utf8)
        let time = processorTime {
            #expect(throws: JSONError.tooDeep) { try JSON(parsing: bytes, limits: JSON.Limits(bytes: 4 << 20)) }
        }
        #expect(time < .seconds(1))
    }

    @Test(arguments: [#"{"a":1,"a":2}"#, #"{"a":1,"b":2,"\u0061":3}"#, #"[{"x":{"":0,"":0}}]"#])
    func `A name twice in one object is refused`(_ text: String) {
        #expect { try read(text) } throws: {
            if case JSONError.duplicateName = $0 { true } else { false }
        }
    }

    @Test(arguments: [2, 15, 16, 17, 18, 100])
    func `A name twice is found in an object of any size`(_ count: Int) throws {
        let members = (0..<count).map { #""n\#($0)":0"# }
        #expect(try read("{\(members.joined(separator: ","))}").object?.members.count == count)
        for index in members.indices {
            #expect(throws: JSONError.self) { try read("{\((members + [members[index]]).joined(separator: ","))}") }
        }
    }

    /// Swift's `==` takes these for equal; RFC 8259 §8.3 and RFC 7515 §5.3 do not. They were once taken for one name.
    @Test func `Names are told apart scalar by scalar, without normalization`() throws {
        let object = try read(#"{"K":1,"\u212a":2,"\u00e9":3,"e\u0301":4}"#)
        #expect(object.object?.members.count == 4)
        #expect(object["K"] == .integer(1))
        #expect(object["\u{212A}"] == .integer(2))
        #expect(object["e\u{301}"] == .integer(4))
        let many = (0..<20).map { #""n\#($0)":0"# }.joined(separator: ",")
        #expect(try read(#"{\#(many),"K":1,"\u212a":2}"#).object?.members.count == 22)
    }

    /// 64 KiB is the most that a request may hold. Quadratic work would take seconds here.
    @Test func `Many members, long names of combining marks, and long numbers cost no more than their length`() throws {
        let members = "{" + (0..<8000).map { #""\#($0)":0"# }.joined(separator: ",") + "}"
        let marks = String(repeating: "\u{301}\u{316}", count: 8000)
        let names = "{" + (0..<3).map { #""\#(marks)\#($0)":0"# }.joined(separator: ",") + "}"
        let digits = String(repeating: "9", count: 65_000)
        let escapes = "\"" + String(repeating: #"\u00e9"#, count: 10_000) + "\""
        let arrays = "[" + String(repeating: "[],", count: 20_000) + "[]]"
        for text in [members, names, digits, escapes, arrays] {
            let bytes = Array(text.utf8)
            let duration = try processorTime { _ = try JSON(parsing: bytes, limits: JSON.Limits(bytes: 1 << 20)) }
            #expect(duration < .seconds(1), "\(text.prefix(20))…")
        }
    }

    @Test func `An error tells where and never what`() {
        let secret = "hunter2"
        for text in [#"{"\#(secret)":1,"\#(secret)":2}"#, "[\(secret)]", "\"\(secret)\u{1}\"", "{\"\(secret)\" 1}"] {
            do {
                _ = try read(text)
                Issue.record("accepted")
            } catch {
                #expect(!String(describing: error).contains(secret))
                #expect(!String(reflecting: error).contains(secret))
            }
        }
        #expect(throws: JSONError.duplicateName(offset: 7)) { try read(#"{"a":1,"a":2}"#) }
        #expect(throws: JSONError.syntax(offset: 3)) { try read("[1,]") }
        #expect(throws: JSONError.syntax(offset: 0)) { try read("") }
    }

    @Test func `A slice is read from its own start`() throws {
        let bytes = Array("xx[1]yy".utf8)
        #expect(try JSON(parsing: bytes[2..<5], limits: JSON.Limits(bytes: 3)) == .array([.integer(1)]))
        #expect(throws: JSONError.syntax(offset: 1)) { try JSON(parsing: bytes[2..<3], limits: JSON.Limits(bytes: 3)) }
    }

    @Test func `Members keep their order, and setting one keeps its place`() throws {
        var object = try #require(try read(#"{"b":1,"a":2,"c":3}"#).object)
        object["a"] = "x"
        object["b"] = nil
        object["d"] = .null
        #expect(JSON.object(object).text == #"{"a":"x","c":3,"d":null}"#)
    }
}
