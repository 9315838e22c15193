import Accounts
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

struct EncryptionKeysTests {
    /// 32 bytes whose base64 has both characters in which the alphabets differ, and padding.
    private static let one = "--__" + String(repeating: "A", count: 39)
    private static let two = String(repeating: "B", count: 42) + "A"

    private func ids(_ text: String) throws(EncryptionKeys.Refusal) -> [String] {
        try EncryptionKeys(parsing: text).entries.map(\.id)
    }

    private func refusal(_ text: String) -> String? {
        do throws(EncryptionKeys.Refusal) {
            _ = try EncryptionKeys(parsing: text)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `Keys are separated by commas, blanks or line ends, and the first seals`() throws {
        for separator in [",", " ", "\n", "\r\n", ", ", "\t", ",\n  "] {
            let keys = try EncryptionKeys(parsing: "2026-12.b_C:\(Self.one)\(separator)a:\(Self.two)\(separator)")
            #expect(keys.entries.map(\.id) == ["2026-12.b_C", "a"])
            #expect(keys.sealingID == "2026-12.b_C")
        }
    }

    @Test func `Both alphabets are the same key, padded or not`() throws {
        let account = UUIDv7(at: TokenForge.now, random: Array(repeating: 7, count: 10))
        let other = Self.one.replacing("-", with: "+").replacing("_", with: "/")
        func sealing(_ text: String) throws -> AppleGrantSealing {
            AppleGrantSealing(keys: try EncryptionKeys(parsing: "k:" + text), cryptography: TokenForge.cryptography)
        }
        let grant = try sealing(Self.one).seal(refreshToken: "r0", accountID: account, clientID: "c")
        for text in [Self.one + "=", other, other + "="] {
            #expect(try sealing(text).open(grant, accountID: account, clientID: "c") == "r0")
        }
        #expect(try sealing(Self.two).open(grant, accountID: account, clientID: "c") == nil)
    }

    private static let form = "is not an id, a colon and the key in base64"
    private static let idForm = "has an id that is not 1 to 32 letters, digits, full stops, underscores or hyphens"
    private static let refusals: [(String, String)] = [
        ("", "holds no key"), (" ,\n", "holds no key"), (one, "key 1 \(form)"), ("a:\(one),\(two)", "key 2 \(form)"),
        (":\(one)", "key 1 \(idForm)"), ("\(String(repeating: "i", count: 33)):\(one)", "key 1 \(idForm)"),
        ("ñ:\(one)", "key 1 \(idForm)"), ("a/b:\(one)", "key 1 \(idForm)"), ("\(two):a", "key 1 \(idForm)"),
        ("a:\(one)!", "key 1 is not base64"), ("a:é\(one)", "key 1 is not base64"),
        ("a:b:\(one)", "key 1 is not base64"),
        ("a:\(one)===", "key 1 is not base64"), ("a:\(one.dropLast())B", "key 1 is not base64"),
        ("a:", "key 1 is 0 bytes long and not 32"), ("a:\(one)A", "key 1 is 33 bytes long and not 32"),
        ("a:AAAA", "key 1 is 3 bytes long and not 32"),
        ("b:\(one) a:\(two) b:\(two)", "key 3 has the id of a key before it"),
    ]

    @Test(arguments: refusals.indices)
    func `What is no list of keys is refused in words that hold nothing of it`(_ index: Int) {
        let (text, reason) = Self.refusals[index]
        #expect(refusal(text) == reason)
        for key in [Self.one, Self.two] { #expect(refusal(text)?.contains(key.prefix(12)) == false) }
    }

    @Test func `An id may be as long as 32 characters`() throws {
        let id = String(repeating: "i", count: 32)
        #expect(try ids("\(id):\(Self.one)") == [id])
    }

    @Test func `Keys never show when printed, reflected or dumped`() throws {
        let keys = try EncryptionKeys(parsing: "canary:\(Self.two)")
        let sealing = AppleGrantSealing(keys: keys, cryptography: TokenForge.cryptography)
        let seen = Seen(keys, keys.entries, sealing)
        #expect(seen.shows("canary"))
        #expect(!seen.shows(try #require(Base64URL.decode(Self.two))))
    }
}

struct AppleGrantSealingTests {
    private static let keyA = "a:" + String(repeating: "A", count: 43)
    private static let keyB = "b:" + String(repeating: "B", count: 42) + "A"
    private let account = UUIDv7(at: TokenForge.now, random: Array(repeating: 1, count: 10))
    private let other = UUIDv7(at: TokenForge.now, random: Array(repeating: 2, count: 10))
    private let token = "r0.canary-refresh-token"

    private func sealing(_ keys: String...) throws -> AppleGrantSealing {
        AppleGrantSealing(
            keys: try EncryptionKeys(parsing: keys.joined(separator: ",")), cryptography: TokenForge.cryptography)
    }

    @Test func `What was sealed opens for its account and client, and for no other`() throws {
        let sealing = try sealing(Self.keyA)
        let grant = try sealing.seal(refreshToken: token, accountID: account, clientID: "com.finnova.app")
        #expect(grant.keyID == "a" && grant.bytes.count == 12 + token.utf8.count + 16)
        #expect(sealing.open(grant, accountID: account, clientID: "com.finnova.app") == token)
        #expect(sealing.open(grant, accountID: other, clientID: "com.finnova.app") == nil)
        for client in ["com.finnova.web", "com.finnova.ap", "com.finnova.app ", ""] {
            #expect(sealing.open(grant, accountID: account, clientID: client) == nil)
        }
    }

    @Test func `A changed bit, a lost byte, another key's name: nothing opens`() throws {
        let sealing = try sealing(Self.keyA, Self.keyB)
        let grant = try sealing.seal(refreshToken: token, accountID: account, clientID: "c")
        for index in grant.bytes.indices {
            var bytes = grant.bytes
            bytes[index] ^= 1
            let changed = SealedGrant(keyID: "a", bytes: bytes)
            #expect(sealing.open(changed, accountID: account, clientID: "c") == nil)
            let cut = SealedGrant(keyID: "a", bytes: Array(grant.bytes[..<index]))
            #expect(sealing.open(cut, accountID: account, clientID: "c") == nil)
        }
        for id in ["b", "A", "", "c"] {
            let renamed = SealedGrant(keyID: id, bytes: grant.bytes)
            #expect(sealing.open(renamed, accountID: account, clientID: "c") == nil)
        }
    }

    @Test func `A rotated key opens what it sealed until it is taken away, and is told to be old`() throws {
        let old = try sealing(Self.keyA).seal(refreshToken: token, accountID: account, clientID: "c")
        let rotated = try sealing(Self.keyB, Self.keyA)
        #expect(rotated.open(old, accountID: account, clientID: "c") == token)
        #expect(rotated.isStale(old))
        let new = try rotated.seal(refreshToken: token, accountID: account, clientID: "c")
        #expect(new.keyID == "b" && !rotated.isStale(new))
        #expect(try sealing(Self.keyB).open(old, accountID: account, clientID: "c") == nil)
        #expect(try sealing(Self.keyB).open(new, accountID: account, clientID: "c") == token)
    }

    /// What another part of the program seals under the same key is no grant.
    @Test func `Only what was sealed as a grant opens as one`() throws {
        let key = SecretBytes(Array(repeating: 0, count: 32))
        let sealed = try TokenForge.cryptography.seal(
            Array(token.utf8)[...], key: key, associatedData: (account.bytes + Array("c".utf8))[...])
        #expect(
            try sealing(Self.keyA).open(SealedGrant(keyID: "a", bytes: sealed), accountID: account, clientID: "c")
                == nil
        )
    }

    @Test func `A library that cannot seal says so, and nothing of the token`() throws {
        let broken = AppleGrantSealing(
            keys: try EncryptionKeys(parsing: Self.keyA), cryptography: UnableToSign(signs: true))
        let error = #expect(throws: CryptographyError.self) {
            try broken.seal(refreshToken: token, accountID: account, clientID: "c")
        }
        #expect(error?.reason == "the module is locked")
    }
}
