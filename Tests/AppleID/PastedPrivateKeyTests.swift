import AppleID
import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

struct PastedPrivateKeyTests {
    private static let keys = OpenSSLKeys.shared
    private static let key: PrivateKey = {
        do { return try TokenForge.cryptography.privateKey(der: keys.der("p8")[...]) } catch { fatalError("\(error)") }
    }()

    private func read(_ text: String) throws(PrivateKeyRefusal) -> PrivateKey {
        try PastedPrivateKey.read(text, using: TokenForge.cryptography)
    }

    private func refusal(_ text: String) -> PrivateKeyRefusal? {
        do throws(PrivateKeyRefusal) {
            _ = try read(text)
            return nil
        } catch {
            return error
        }
    }

    /// What happens to a text on its way into a variable.
    private static let forms: [(String, @Sendable (String) -> String)] = [
        ("as it is", { $0 }),
        ("no line feed at its end", { $0.trimmingCharacters(in: .newlines) }),
        ("CRLF", { $0.replacing("\n", with: "\r\n") }),
        ("CR", { $0.replacing("\n", with: "\r") }),
        ("literal \\n", { $0.replacing("\n", with: #"\n"#) }),
        ("literal \\r\\n", { $0.replacing("\n", with: #"\r\n"#) }),
        ("escaped twice", { $0.replacing("\n", with: #"\\n"#) }),
        ("escaped three times", { $0.replacing("\n", with: #"\\\\\\\n"#) }),
        ("literal \\n and line feeds", { $0.replacing("\n", with: "\\n\n") }),
        ("continued lines", { $0.replacing("\n", with: "\\\n") }),
        ("JSON with escaped slashes", { $0.replacing("/", with: #"\/"#).replacing("\n", with: #"\n"#) }),
        ("one line with spaces", { $0.replacing("\n", with: " ") }),
        ("one line without anything", { $0.replacing("\n", with: "") }),
        ("tabs and indentation", { $0.replacing("\n", with: "\n\t    ") }),
        ("empty lines", { $0.replacing("\n", with: "\n\n") }),
        ("blanks around", { "  \n\t" + $0 + " \r\n " }),
        ("no-break spaces", { "\u{A0}" + $0.replacing("\n", with: "\u{A0}\n") }),
        ("byte order mark", { "\u{FEFF}" + $0 }),
        ("double quotes", { "\"" + $0 + "\"" }),
        ("single quotes", { "'" + $0.trimmingCharacters(in: .newlines) + "'" }),
        ("quotes twice, blanks between", { "\"'" + $0 + "' \" " }),
        ("curly quotes", { "\u{201C}" + $0 + "\u{201D}" }),
        ("escaped quotes", { #"\""# + $0.replacing("\n", with: #"\n"#) + #"\""# }),
        ("quotes and byte order mark", { "\u{FEFF}\"\u{FEFF}" + $0 + "\"" }),
        ("without header and footer", { $0.replacing(#/-----[A-Z0-9 ]+-----/#, with: "") }),
        ("the same on one line", { $0.replacing(#/-----[A-Z0-9 ]+-----|\n/#, with: "") }),
        ("the same without padding", { $0.replacing(#/-----[A-Z0-9 ]+-----|\n|=/#, with: "") }),
        (
            "the same as base64url",
            { text in
                text.replacing(#/-----[A-Z0-9 ]+-----|\n|=/#, with: "").replacing("+", with: "-")
                    .replacing("/", with: "_")
            }
        ),
        ("base64 of the whole", { Data($0.utf8).base64EncodedString() }),
        ("base64 of the whole, in lines", { Data($0.utf8).base64EncodedString(options: .lineLength64Characters) }),
        ("base64url of the whole", { Base64URL.encode(Array($0.utf8)) }),
        (
            "base64 of it with CRLF and a mark",
            { Data(("\u{FEFF}" + $0.replacing("\n", with: "\r\n")).utf8).base64EncodedString() }
        ),
        ("base64 of literal \\n", { Data($0.replacing("\n", with: #"\n"#).utf8).base64EncodedString() }),
        ("commentary around", { "Key for Sign in with Apple\n" + $0 + "\nmade on Monday\n" }),
    ]

    @Test(arguments: ["p8", "sec1", "sec1-private"], forms.indices)
    func `Every form in which people paste a key gives the key`(_ kind: String, _ index: Int) throws {
        let (name, form) = Self.forms[index]
        #expect(try read(form(Self.keys[kind])) == Self.key, "\(name)")
    }

    @Test func `The parameters that openssl writes before a key are passed over`() throws {
        #expect(Self.keys["parameters"].contains("BEGIN EC PARAMETERS"))
        #expect(try read(Self.keys["parameters"]).algorithm == .es256)
        #expect(refusal(String(Self.keys["parameters"].split(separator: "-----BEGIN EC PRIVATE")[0])) == .unreadable)
    }

    private static let others: [(String, PrivateKeyRefusal)] = [
        ("rsa", .rsa), ("rsa-traditional", .rsa), ("public", .publicKey), ("encrypted", .encrypted),
        ("encrypted-sec1", .encrypted), ("p384", .curve), ("p384-sec1", .curve), ("k1", .curve),
        ("certificate", .certificate), ("ed25519", .otherKind), ("request", .otherKind),
    ]

    @Test(arguments: others)
    func `Whatever else a PEM holds is refused for what it is`(_ kind: String, _ expected: PrivateKeyRefusal) {
        let text = Self.keys[kind]
        #expect(refusal(text) == expected)
        #expect(refusal(text.replacing("\n", with: #"\n"#)) == expected)
        #expect(refusal(Data(text.utf8).base64EncodedString()) == expected)
    }

    @Test func `Without its header it is refused for what is in it`() {
        for (kind, expected) in Self.others where kind != "encrypted-sec1" && kind != "request" {
            let text = Self.keys[kind].replacing(#/-----[A-Z0-9 ]+-----/#, with: "")
            #expect(refusal(text) == expected, "\(kind)")
        }
    }

    private static let key256 = keys["p8"]
    private static let broken: [(String, PrivateKeyRefusal)] = [
        ("", .empty), (" \n\t", .empty), ("\"\"", .empty), ("\u{FEFF}''", .empty),
        (String(repeating: "A", count: 16_385), .tooLarge),
        ("/etc/keys/AuthKey_ABC123DEFG.p8", .fileName), ("AuthKey_ABC123DEFG.p8\n", .fileName), ("key.pem", .fileName),
        (String(key256.dropLast(10)), .truncated), (String(key256.prefix(100)), .truncated),
        (String(key256.dropFirst(5)), .truncated), ("-----BEGIN PRIVATE KEY", .truncated),
        ("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", .truncated),
        (key256.replacing("-----END PRIVATE KEY-----", with: "-----END EC PRIVATE KEY-----"), .truncated),
        (key256 + key256, .several), (key256 + keys["certificate"], .several),
        ("not a key!", .unreadable), ("{\"kty\":\"EC\"}", .unreadable), ("AAAA", .unreadable), ("abcd", .unreadable),
        (key256.replacing("MI", with: "M*"), .unreadable), (key256.replacing("MI", with: "M=I"), .unreadable),
        (key256.replacing("MI", with: "Mé"), .unreadable),
        (Data(Data(key256.utf8).base64EncodedString().utf8).base64EncodedString(), .unreadable),
    ]

    @Test(arguments: broken.indices)
    func `What is cut, doubled, damaged or no key at all is refused for that`(_ index: Int) {
        let (text, expected) = Self.broken[index]
        #expect(refusal(text) == expected)
    }

    /// Every line of base64 of a key file, lost on the way.
    @Test func `A key without one of its lines is refused`() {
        let lines = Self.key256.split(separator: "\n")
        for index in lines.indices {
            var some = lines
            some.remove(at: index)
            let refusal = refusal(some.joined(separator: "\n"))
            #expect([.truncated, .unreadable].contains(refusal), "\(index): \(String(describing: refusal))")
        }
    }

    @Test func `No reason is without a case, and each has its own words and a remedy`() throws {
        var pair = Self.keys.der("p8")
        pair.replaceSubrange((pair.count - 64)..., with: Self.keys.der("other").suffix(64))
        #expect(refusal(Data(pair).base64EncodedString()) == .notPair)
        let shown = Set(Self.others.map(\.1) + Self.broken.map(\.1) + [.notPair])
        #expect(Set(PrivateKeyRefusal.allCases) == shown)
        #expect(Set(PrivateKeyRefusal.allCases.map(\.reason)).count == PrivateKeyRefusal.allCases.count)
        for refusal in PrivateKeyRefusal.allCases { #expect(!refusal.remedy.isEmpty) }
    }
}
