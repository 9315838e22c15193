import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

private let cryptography = OpenSSLCryptography()

struct KeySetTests {
    private static let rsa = RFC7515Tests.rsaKey
    private static let ec = RFC7515Tests.ecKey

    private static func key(_ base: JSON, _ changes: [String: JSON?] = [:]) -> JSON {
        var object = base.object ?? JSON.Object()
        for (name, value) in changes { object[name] = value }
        return .object(object)
    }

    private static func bytes(_ count: Int, top: UInt8 = 0xC5, low: UInt8 = 0x01) -> JSON {
        var bytes = [UInt8](repeating: 0x5A, count: count)
        bytes[0] = top
        bytes[count - 1] = low
        return .string(Base64URL.encode(bytes))
    }

    private static let unusable: [(String, JSON)] = [
        ("1024 bits", key(rsa, ["n": bytes(128)])),
        ("2047 bits", key(rsa, ["n": bytes(256, top: 0x7F)])),
        ("more than 8192 bits", key(rsa, ["n": bytes(1025)])),
        ("an even modulus", key(rsa, ["n": bytes(256, low: 0x02)])),
        ("e = 1", key(rsa, ["e": "AQ"])),
        ("e = 0", key(rsa, ["e": "AA"])),
        ("e even", key(rsa, ["e": "AQAC"])),
        ("e of five bytes", key(rsa, ["e": "AQAAAAE"])),
        ("no modulus", key(rsa, ["n": JSON?.none])),
        ("modulus a number", key(rsa, ["n": .integer(3)])),
        ("modulus padded", key(rsa, ["n": .string((rsa["n"]?.string ?? "") + "==")])),
        ("for encryption", key(rsa, ["use": "enc"])),
        ("use not a string", key(rsa, ["use": .array(["sig"])])),
        ("use null", key(rsa, ["use": .null])),
        ("operations without verify", key(rsa, ["key_ops": .array(["encrypt"])])),
        ("operations not a list", key(rsa, ["key_ops": "verify"])),
        ("another algorithm of its kind", key(rsa, ["alg": "RS512"])),
        ("an algorithm of another kind", key(rsa, ["alg": "ES256"])),
        ("alg null", key(rsa, ["alg": .null])),
        ("a name that is a number", key(rsa, ["kid": .integer(1)])),
        ("an empty name", key(rsa, ["kid": ""])),
        ("another curve", key(ec, ["crv": "P-384"])),
        ("no curve", key(ec, ["crv": JSON?.none])),
        ("a coordinate of 31 bytes", key(ec, ["x": bytes(31)])),
        ("a coordinate of 33 bytes", key(ec, ["y": bytes(33)])),
        ("EC for RS256", key(ec, ["alg": "RS256"])),
        ("a secret", ["kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr8", "alg": "HS256"]),
        ("a kind of the future", ["kty": "AKP", "alg": "ML-DSA-44", "pub": "AAAA"]),
        ("no kind", key(rsa, ["kty": JSON?.none])),
        ("not an object", "key"),
        ("null", .null),
    ]

    @Test func `A set skips what cannot serve here and keeps the rest`() throws {
        let usable = [
            Self.key(Self.rsa, ["kid": "one"]), Self.key(Self.ec, ["kid": "two", "use": "sig", "alg": "ES256"]),
        ]
        let set = try KeySet(["keys": .array([usable[0]] + Self.unusable.map(\.1) + [usable[1]])])
        #expect(set.keys.map(\.keyID) == ["one", "two"])
        for (name, key) in Self.unusable {
            #expect(throws: JOSEError.self, "\(name)") { try JWK(key) }
            #expect(try KeySet(["keys": .array([key])]).keys.isEmpty, "\(name)")
        }
    }

    @Test(arguments: ["[]", "{}", #"{"keys":{}}"#, #"{"keys":null}"#, "", "<html>", #"{"keys":[],"keys":[]}"#])
    func `What is not a set is refused whole`(_ text: String) {
        #expect(throws: JOSEError.malformed) { try KeySet(parsing: Array(text.utf8)[...]) }
    }

    @Test func `A set of more than 64 KiB is not read`() {
        #expect(throws: JOSEError.tooLarge) { try KeySet(parsing: [UInt8](repeating: 0x20, count: 65_537)[...]) }
    }

    @Test func `A key is found by its whole name, and two of one name are refused`() throws {
        let one = try JWK(Self.key(Self.rsa, ["kid": "one"]))
        let other = try JWK(Self.key(Self.ec, ["kid": "one"]))
        let unnamed = try JWK(Self.rsa)
        let set = KeySet(keys: [one, unnamed])
        #expect(try set.key(named: "one") == one)
        #expect(throws: JOSEError.keyIDMissing) { try set.key(named: nil) }
        for name in ["", "on", "One", "one ", "two"] {
            #expect(throws: JOSEError.keyUnknown) { try set.key(named: name) }
            #expect(!set.contains(name))
        }
        #expect(throws: JOSEError.keyAmbiguous) { try KeySet(keys: [one, other]).key(named: "one") }
        #expect(throws: JOSEError.keyAmbiguous) { try KeySet(keys: [one, one]).key(named: "one") }
    }

    /// RFC 7515 §5.3. Swift's `==` takes the two names for equal, and once the set did too.
    @Test func `Names are compared without normalization`() throws {
        let set = KeySet(keys: [try JWK(Self.key(Self.rsa, ["kid": "K1"]))])
        #expect("K1" == "\u{212A}1")
        #expect(!set.contains("\u{212A}1"))
        #expect(throws: JOSEError.keyUnknown) { try set.key(named: "\u{212A}1") }
    }

    @Test func `A point off the curve verifies nothing`() throws {
        let y = try #require(Self.ec["y"]?.string.flatMap { Base64URL.decode($0) })
        let key = try JWK(Self.key(Self.ec, ["y": .string(Base64URL.encode(y.dropLast() + [y[31] ^ 1]))]))
        let token = "eyJhbGciOiJFUzI1NiJ9.\(RFC7515Tests.encodedPayload).\(RFC7515Tests.ecSignature)"
        let jws = try CompactJWS(parsing: Array(token.utf8)[...], allowing: [.es256])
        #expect(throws: JOSEError.signature) { try jws.verified(by: key, using: cryptography) }
        #expect(throws: Never.self) { try jws.verified(by: JWK(Self.ec), using: cryptography) }
    }

    @Test func `A set written is the set read, and shows no private part`() throws {
        let keys = [SignatureAlgorithm.es256, .rs256].map { TokenForge.newKey("key-\($0.rawValue)", for: $0) }
        let set = KeySet(keys: keys.map(\.jwk))
        #expect(try KeySet(parsing: set.json.serialized()[...]) == set)
        for key in set.json["keys"]?.array ?? [] {
            let names = Set(key.object?.members.map(\.name) ?? [])
            #expect(names.isDisjoint(with: ["d", "p", "q", "dp", "dq", "qi", "k", "oth"]))
            #expect(names.isSuperset(of: ["kty", "kid", "use", "alg"]))
        }
    }

    @Test(arguments: [SignatureAlgorithm.es256, .rs256])
    func `A private key written is the key read`(_ algorithm: SignatureAlgorithm) throws {
        let key = TokenForge.newKey("key", for: algorithm)
        #expect(try SigningKey(key.secretJSON, using: cryptography) == key)
    }
}
