import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

private let cryptography = OpenSSLCryptography()

struct PrivateKeyTests {
    private let keys = OpenSSLKeys.shared

    private func fault(_ der: [UInt8]) -> PrivateKeyFault? {
        do throws(PrivateKeyFault) {
            _ = try cryptography.privateKey(der: der[...])
            return nil
        } catch {
            return error
        }
    }

    @Test func `One key is the same key in PKCS 8, in SEC 1, and in SEC 1 without its public half`() throws {
        let key = try cryptography.privateKey(der: keys.der("p8")[...])
        #expect(try cryptography.privateKey(der: keys.der("sec1")[...]) == key)
        #expect(try cryptography.privateKey(der: keys.der("sec1-private")[...]) == key)
        #expect(try cryptography.privateKey(der: keys.der("other")[...]) != key)
    }

    /// What it signs verifies by the public half that the `openssl` command wrote.
    @Test func `The key signs, and the public key of the openssl command verifies`() throws {
        let key = try cryptography.privateKey(der: keys.der("p8")[...])
        let message = Array("message".utf8)
        let signature = try cryptography.sign(message[...], with: key)
        let point = keys.der("public").suffix(64)
        let publicKey = try #require(PublicKey.P256(x: Array(point.prefix(32)), y: Array(point.suffix(32))))
        #expect(key.publicKey == .p256(publicKey))
        #expect(cryptography.isValid(signature[...], over: message[...], by: .p256(publicKey), algorithm: .es256))
    }

    @Test(arguments: [
        ("rsa", PrivateKeyFault.rsa), ("rsa-traditional", .rsa), ("ed25519", .otherKind), ("p384", .curve),
        ("p384-sec1", .curve), ("k1", .curve), ("public", .publicKey), ("certificate", .certificate),
        ("encrypted", .encrypted), ("request", .unreadable),
    ])
    func `What is not a P-256 private key is told apart`(_ name: String, _ expected: PrivateKeyFault) {
        #expect(fault(keys.der(name)) == expected)
    }

    @Test(arguments: ["p8", "sec1", "sec1-private"])
    func `Cut off anywhere it is truncated, and with a byte more it is no key`(_ name: String) {
        let der = keys.der(name)
        for count in 0..<der.count { #expect(fault(Array(der[..<count])) == (count == 0 ? .unreadable : .truncated)) }
        #expect(fault(der + [0]) == .unreadable)
        #expect(fault(Array(der.dropFirst())) != nil)
        #expect(fault(Array("not a key".utf8)) == .unreadable)
        #expect(fault([0x30, 0x85, 0, 0, 0, 0, 1, 0]) == .unreadable)
        #expect(fault([0x30, 0]) == .unreadable)
    }

    @Test func `A public half of another key is noticed`() throws {
        var der = keys.der("p8")
        der.replaceSubrange((der.count - 64)..., with: keys.der("other").suffix(64))
        #expect(fault(der) == .notPair)
    }

    @Test func `Any byte changed gives another key or none, and never ends the process`() throws {
        let der = keys.der("p8")
        let key = try cryptography.privateKey(der: der[...])
        for index in der.indices {
            var changed = der
            changed[index] ^= 0x5A
            if let other = try? cryptography.privateKey(der: changed[...]) {
                // Bytes that say nothing of the key: a version, an optional element.
                #expect(other == key, "\(index)")
            }
        }
    }

    @Test func `A piece of a larger array is read for what it is`() throws {
        let der = keys.der("p8")
        let padded = [0x30, 0x82] + der + [1, 2]
        #expect(try cryptography.privateKey(der: padded[2..<(2 + der.count)]) == cryptography.privateKey(der: der[...]))
    }
}
