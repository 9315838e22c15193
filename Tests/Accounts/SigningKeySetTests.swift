import Accounts
import JOSE
import TestSupport
import Testing

struct SigningKeySetTests {
    private static let one = TokenForge.newKey("one", for: .es256)
    private static let two = TokenForge.newKey("two", for: .es256)
    private static let three = TokenForge.newKey("three", for: .es256)

    private func parse(_ json: JSON) throws(SigningKeySet.Refusal) -> SigningKeySet {
        try SigningKeySet(parsing: json.serialized()[...], using: TokenForge.cryptography)
    }

    private static func entry(_ key: SigningKey, _ changes: [String: JSON?] = [:]) -> JSON {
        var object = key.secretJSON.object ?? [:]
        for (name, value) in changes { object[name] = value }
        return .object(object)
    }

    @Test func `One plain private key signs, in a set or alone, without a word on its state`() throws {
        for json in [Self.entry(Self.one), ["keys": .array([Self.entry(Self.one)])]] as [JSON] {
            let keys = try parse(json)
            #expect(keys.current == Self.one)
            #expect(keys.publicKeys.keys == [Self.one.jwk])
        }
    }

    @Test func `A key without a name is named by its thumbprint`() throws {
        let keys = try parse(Self.entry(Self.one, ["kid": JSON?.none]))
        #expect(keys.current.keyID == Self.one.privateKey.publicKey.thumbprint(using: TokenForge.cryptography))
    }

    @Test func `What a set writes, it reads back the same`() throws {
        let keys = SigningKeySet(current: Self.one, next: Self.two, at: TokenForge.now)
        let read = try parse(keys.secretJSON)
        #expect(read.secretJSON == keys.secretJSON)
        #expect(read.entries.map(\.state) == [.current, .next])
        #expect(read.entries.map(\.since) == [TokenForge.now, TokenForge.now])
    }

    @Test func `Only the public half is published`() throws {
        let keys = SigningKeySet(current: Self.one, next: TokenForge.key, at: TokenForge.now)
        let published = try #require(keys.publicKeys.json["keys"]?.array)
        #expect(published.count == 2)
        for key in published {
            let names = try #require(key.object).members.map(\.name)
            #expect(Set(names).isSubset(of: ["kty", "kid", "use", "alg", "crv", "x", "y", "n", "e"]))
        }
    }

    private static let notAKey = "key 1 is not an EC P-256 or RSA private key for signing"
    private static let noState = "key 1 has no \"state\": next, current or previous"
    private static let noSince = "key 1 has a \"since\" that is not a whole number of seconds"
    private static let notOneCurrent = "has not exactly one key whose \"state\" is \"current\""
    private static let current = entry(one, ["state": "current"])

    private static let refusals: [(String, JSON)] = [
        (notAKey, [:]), (notAKey, .array([])), (notAKey, ["keys": "one"]), (notAKey, one.jwk.json),
        (notAKey, entry(one, ["d": "AQ"])), (notAKey, entry(one, ["crv": "P-384"])),
        (notAKey, entry(one, ["use": "enc"])), (notAKey, entry(one, ["kid": ""])),
        (notAKey, entry(one, ["kid": .string(String(repeating: "k", count: 65))])),
        (notAKey, entry(TokenForge.newKey("rsa", for: .rs256), ["oth": .array([])])),
        (
            "key 2 is not an EC P-256 or RSA private key for signing",
            ["keys": .array([current, ["kty": "oct", "k": "AAAA"]])]
        ),
        (noState, entry(one, ["state": "Current"])), (noState, entry(one, ["state": .integer(1)])),
        (noState, entry(one, ["state": .null])),
        ("key 2 has no \"state\": next, current or previous", ["keys": .array([current, entry(two)])]),
        (noSince, entry(one, ["since": "now"])), (noSince, entry(one, ["since": .decimal("1.5")])),
        (notOneCurrent, ["keys": .array([])]), (notOneCurrent, entry(one, ["state": "next"])),
        (notOneCurrent, ["keys": .array([current, entry(two, ["state": "current"])])]),
        (
            "has more than one key whose \"state\" is \"next\"",
            ["keys": .array([current, entry(two, ["state": "next"]), entry(three, ["state": "next"])])]
        ),
        ("has two keys of one \"kid\"", ["keys": .array([current, entry(two, ["state": "next", "kid": "one"])])]),
    ]

    @Test(arguments: refusals.indices)
    func `A set that cannot serve is refused with its reason, in words that hold nothing of the keys`(
        _ index: Int
    ) throws {
        let (reason, json) = Self.refusals[index]
        let refusal = #expect(throws: SigningKeySet.Refusal.self) { try parse(json) }
        #expect(refusal?.reason == reason)
        let seen = Seen(try #require(refusal))
        for key in [Self.one, Self.two, Self.three] {
            for name in ["d", "x", "y"] { #expect(!seen.shows(try #require(key.secretJSON[name]?.string))) }
        }
    }

    @Test func `What is not JSON, too large, or says a member twice is refused`() {
        let key = Self.one.secretJSON.text
        let texts: [String] = [
            "", "-----BEGIN PRIVATE KEY-----", String(key.dropLast()), key + key,
            "\(key.dropLast()),\"d\":\"AAAA\"}", key + String(repeating: " ", count: 65_536),
        ]
        for text in texts {
            let refusal = #expect(throws: SigningKeySet.Refusal.self) {
                try SigningKeySet(parsing: Array(text.utf8)[...], using: TokenForge.cryptography)
            }
            #expect(refusal?.reason == "is not a JSON text")
        }
    }

    @Test(arguments: [Int64.min, -1, 0, .max])
    func `No time in the file traps, whatever it is`(_ since: Int64) throws {
        let states: [(SigningKey, JSON)] = [(Self.one, "current"), (Self.two, "next"), (Self.three, "previous")]
        var keys = try parse([
            "keys": .array(states.map { Self.entry($0.0, ["state": $0.1, "since": .integer(since)]) })
        ])
        let outcome = keys.rotate(
            next: TokenForge.newKey("four", for: .es256), at: TokenForge.now, accessTokenSeconds: 900)
        #expect((outcome == .rotated) == (since <= 0))
    }
}
