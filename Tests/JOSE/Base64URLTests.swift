import Foundation
import JOSE
import Testing

struct Base64URLTests {
    /// Another implementation's word on what is the canonical text of some bytes.
    private func reference(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"),
    ])
    func `RFC 4648 §10, without padding`(plain: String, text: String) {
        #expect(Base64URL.encode(Array(plain.utf8)) == text)
        #expect(Base64URL.decode(text) == Array(plain.utf8))
    }

    @Test(arguments: [
        "A", "AAAAA", "Zg=", "Zg==", "Zm8=", "Zh", "Zm9", "Z g", " Zg", "Zg ", "Zg\n", "Zg\r\n", "\tZg", "Z+8_", "Zm8/",
        "Zm8~",
        "Zm8.", "=", "====", "Zm9v=", "Zm9v\0", "Zm9é", "Ｚg", "Zm9v%3D", "-_+_",
    ])
    func `Anything but the one canonical text is refused`(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func `It agrees with Foundation on random bytes of every length`() {
        var random = SystemRandomNumberGenerator()
        for count in 0..<300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = reference(bytes)
            #expect(Base64URL.encode(bytes) == text)
            #expect(Base64URL.encodedBytes(bytes) == Array(text.utf8))
            #expect(Base64URL.decode(text) == bytes)
        }
    }

    @Test func `Every change of one character gives other bytes or is refused`() {
        for count in [1, 2, 3, 16, 32] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 5) }
            let text = Base64URL.encodedBytes(bytes)
            for index in text.indices {
                for character in UInt8.min...UInt8.max where character != text[index] {
                    var changed = text
                    changed[index] = character
                    guard let decoded = Base64URL.decode(changed[...]) else { continue }
                    #expect(decoded != bytes)
                    #expect(Base64URL.encodedBytes(decoded) == changed)
                }
            }
        }
    }

    @Test func `One and two characters: each of the texts that decode is the one that encoding gives`() {
        var decodable = 0
        for first in UInt8.min...UInt8.max {
            #expect(Base64URL.decode([first][...]) == nil)
            for second in UInt8.min...UInt8.max {
                guard let bytes = Base64URL.decode([first, second][...]) else { continue }
                decodable += 1
                #expect(Base64URL.encodedBytes(bytes) == [first, second])
            }
        }
        #expect(decodable == 256)
    }
}
