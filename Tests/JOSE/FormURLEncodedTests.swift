import JOSE
import TestSupport
import Testing

struct FormURLEncodedTests {
    private func form(_ text: String, maximumFields: Int = 8) -> FormURLEncoded? {
        FormURLEncoded(parsing: Array(text.utf8)[...], maximumFields: maximumFields)
    }

    private func encoded(_ fields: [(String, String)]) -> String {
        String(decoding: FormURLEncoded.encode(fields), as: UTF8.self)
    }

    /// The characters U+0020, U+0025, U+0026, U+002B, U+00A3, U+20AC.
    @Test func `RFC 6749, Appendix B: the example is written and read`() {
        // The vector has `+` for the space, which is read; what is written is `%20`, the other spelling.
        #expect(encoded([("v", " %&+£€")]) == "v=%20%25%26%2B%C2%A3%E2%82%AC")
        #expect(form("v=+%25%26%2B%C2%A3%E2%82%AC")?["v"] == " %&+£€")
        #expect(form("v=+%25%26%2b%c2%a3%e2%82%ac")?["v"] == " %&+£€")
    }

    @Test func `What was written is read back, in its order, whatever it is`() {
        let everything = String(String.UnicodeScalarView((0..<0x500).compactMap(Unicode.Scalar.init)))
        let fields = [("b", everything), ("a", ""), ("ñ&=", "=&="), ("b", "again")]
        let read = form(encoded(fields))
        #expect(read?.fields.map(\.name) == fields.map(\.0))
        #expect(read?.fields.map(\.value) == fields.map(\.1))
    }

    @Test func `Nothing written needs an escape in a URL or splits a field`() {
        for byte in FormURLEncoded.encode([
            ("a", String(String.UnicodeScalarView((0..<128).map { Unicode.Scalar($0) })))
        ]) {
            let character = Character(Unicode.Scalar(byte))
            #expect(character.isASCII && (character.isLetter || character.isNumber || "=%-._~".contains(character)))
        }
    }

    @Test(arguments: [
        "a=%", "a=%2", "a=%2g", "a=%g2", "a=%+2", "a=%%41", "%=a", "a=%C3", "a=%ED%A0%80", "a=%C0%AF", "a=%FF",
        "%E2%82=a",
        "a= ", "a=\u{0}", "a=\n", "a=é", "é=a", "=a", "=", "a=1&=2",
    ])
    func `A form that can be read in two ways is not read at all`(_ text: String) {
        #expect(form(text) == nil)
    }

    @Test(arguments: [
        ("", []), ("a", ["a:"]), ("a=", ["a:"]), ("a=b=c", ["a:b=c"]), ("a=1&b=2", ["a:1", "b:2"]),
        ("&a=1&&b=2&", ["a:1", "b:2"]), ("a=https://x/?y", ["a:https://x/?y"]), ("a=%00", ["a:\u{0}"]),
    ])
    func `What browsers and people send is read`(_ text: String, _ expected: [String]) {
        #expect(form(text)?.fields.map { "\($0.name):\($0.value)" } == expected)
    }

    @Test func `Absent, once and repeated are three things, and only once is a value`() throws {
        let form = try #require(self.form("a=1&b=2&a=1&c="))
        #expect(form.occurrence(of: "a") == .repeated && form["a"] == nil)
        #expect(form.occurrence(of: "b") == .once("2") && form["b"] == "2")
        #expect(form.occurrence(of: "c") == .once("") && form["c"] == "")
        #expect(form.occurrence(of: "d") == .absent && form["d"] == nil)
        #expect(form.occurrence(of: "B") == .absent)
    }

    /// To Swift U+212A KELVIN SIGN is equal to K.
    @Test func `Names are compared by their bytes`() {
        #expect(form("%E2%84%AA=1")?.occurrence(of: "K") == .absent)
    }

    @Test func `No more fields are read than allowed`() {
        #expect(form("a&b&c", maximumFields: 3)?.fields.count == 3)
        #expect(form("a&b&c&d", maximumFields: 3) == nil)
    }

    @Test func `A piece of a larger array is read for what it is`() {
        let bytes = Array("xx=1&a=%41&yy=2".utf8)
        #expect(FormURLEncoded(parsing: bytes[5..<10], maximumFields: 1)?["a"] == "A")
    }

    @Test func `A form does not show its fields when it is printed`() throws {
        let form = try #require(self.form("code=canary"))
        var dumped = ""
        dump(form, to: &dumped)
        for text in ["\(form)", String(reflecting: form), dumped, "\([form])"] { #expect(!text.contains("canary")) }
    }
}
