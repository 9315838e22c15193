import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

private let cryptography = OpenSSLCryptography()

struct SealingTests {
    private let key = SecretBytes(Array(0..<32))
    private let text = Array("an answer".utf8)
    private let name = Array("a request".utf8)

    /// Test cases 13 to 16 of the specification that NIST took over (McGrew and Viega, “The Galois/Counter Mode of
    /// Operation”, appendix B): AES-256 with a nonce of 96 bits.
    @Test(arguments: [
        (
            key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12), associatedData: "",
            plaintext: "", ciphertext: "", tag: "530f8afbc74536b9a963b4f1c4cb738b"
        ),
        (
            key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12), associatedData: "",
            plaintext: String(repeating: "00", count: 16), ciphertext: "cea7403d4d606b6e074ec5d3baf39d18",
            tag: "d0d1c8a799996bf0265b98b5d48ab919"
        ),
        (
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
            associatedData: "",
            plaintext: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
            ciphertext: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad",
            tag: "b094dac5d93471bdec1a502270e3cc6c"
        ),
        (
            key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
            associatedData: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
            plaintext: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
            ciphertext: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
            tag: "76fc6ece0f4e1768cddf8853bb2d551b"
        ),
    ])
    func `What the specification seals is opened`(
        vector: (key: String, nonce: String, associatedData: String, plaintext: String, ciphertext: String, tag: String)
    ) throws {
        let sealed = try #require([UInt8](hex: vector.nonce + vector.ciphertext + vector.tag))
        let associatedData = try #require([UInt8](hex: vector.associatedData))
        let opened = cryptography.open(
            sealed[...], key: SecretBytes(try #require([UInt8](hex: vector.key))), associatedData: associatedData[...])
        #expect(opened?.hex == vector.plaintext)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4096, 65_536])
    func `What was sealed is opened, and is as long as nonce, text and tag`(count: Int) throws {
        let text = try cryptography.randomBytes(count)
        for associatedData in [[], name] {
            let sealed = try cryptography.seal(text[...], key: key, associatedData: associatedData[...])
            #expect(sealed.count == 12 + count + 16)
            #expect(cryptography.open(sealed[...], key: key, associatedData: associatedData[...]) == text)
        }
    }

    @Test func `Pieces of larger arrays are taken for what they are`() throws {
        let sealed = try cryptography.seal(([1] + text + [2])[1...text.count], key: key, associatedData: name[2...])
        #expect(cryptography.open(([9] + sealed)[1...], key: key, associatedData: name[2...]) == text)
    }

    @Test func `One bit changed anywhere is refused, and so is a byte more or less`() throws {
        let sealed = try cryptography.seal(text[...], key: key, associatedData: name[...])
        for index in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[index] ^= 1 << bit
                #expect(cryptography.open(changed[...], key: key, associatedData: name[...]) == nil, "\(index).\(bit)")
            }
            #expect(cryptography.open(sealed[..<index], key: key, associatedData: name[...]) == nil)
            #expect(cryptography.open(sealed[(index + 1)...], key: key, associatedData: name[...]) == nil)
        }
        #expect(cryptography.open((sealed + [0])[...], key: key, associatedData: name[...]) == nil)
        #expect(cryptography.open(sealed[...], key: key, associatedData: name[...]) == text)
    }

    @Test func `Another key and other associated data open nothing`() throws {
        let sealed = try cryptography.seal(text[...], key: key, associatedData: name[...])
        for index in key.bytes.indices {
            var other = key.bytes
            other[index] ^= 1
            #expect(cryptography.open(sealed[...], key: SecretBytes(other), associatedData: name[...]) == nil)
        }
        #expect(cryptography.open(sealed[...], key: key, associatedData: []) == nil)
        #expect(cryptography.open(sealed[...], key: key, associatedData: name.dropLast()) == nil)
        #expect(cryptography.open(sealed[...], key: key, associatedData: (name + [0])[...]) == nil)
    }

    @Test(arguments: [0, 16, 24, 31, 33])
    func `A key of another length seals and opens nothing`(count: Int) throws {
        let short = SecretBytes(Array(repeating: 7, count: count))
        #expect(throws: CryptographyError.self) {
            try cryptography.seal(text[...], key: short, associatedData: name[...])
        }
        #expect(cryptography.open(Array(repeating: 0, count: 64)[...], key: short, associatedData: name[...]) == nil)
    }

    @Test func `One text sealed twice gives two that have nothing in common`() throws {
        let sealed = try (0..<1000).map { _ in try cryptography.seal(text[...], key: key, associatedData: name[...]) }
        #expect(Set(sealed.map { $0[..<12] }).count == 1000)
        #expect(Set(sealed.map { $0[12...] }).count == 1000)
    }
}
