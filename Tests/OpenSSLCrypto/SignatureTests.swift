import Foundation
import JOSE
import OpenSSLCrypto
import Synchronization
import TestSupport
import Testing

private let cryptography = OpenSSLCryptography()

struct SignatureTests {
    @Test(arguments: [SignatureAlgorithm.es256, .rs256])
    func `A new key signs, and its public half verifies exactly that`(_ algorithm: SignatureAlgorithm) throws {
        let key = try cryptography.generateKey(for: algorithm)
        #expect(key.algorithm == algorithm)
        let message = Array("a message".utf8)
        let signature = try cryptography.sign(message[...], with: key)
        #expect(signature.count == (algorithm == .es256 ? 64 : 256))
        func isValid(_ signature: [UInt8], _ message: [UInt8]) -> Bool {
            cryptography.isValid(signature[...], over: message[...], by: key.publicKey, algorithm: algorithm)
        }
        #expect(isValid(signature, message))
        #expect(!isValid(signature, message + [0]))
        #expect(!isValid(signature, []))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!isValid(changed, message))
        }
        for count in [0, 1, signature.count - 1] { #expect(!isValid(Array(signature[..<count]), message)) }
        #expect(!isValid(signature + [0], message))
        #expect(!isValid([0] + signature, message))
    }
}

struct KeyTests {
    private let message = Array("a message".utf8)[...]

    private func p256() throws -> (key: PrivateKey, point: PublicKey.P256) {
        let key = try cryptography.generateKey(for: .es256)
        guard case .p256(let point) = key.publicKey else { throw CryptographyError("not P-256") }
        return (key, point)
    }

    @Test func `A point off the curve verifies nothing, nor do zero and coordinates beyond the field`() throws {
        let (key, point) = try p256()
        let signature = try cryptography.sign(message, with: key)
        let zero = [UInt8](repeating: 0, count: 32)
        let beyond = [UInt8](repeating: 0xFF, count: 32)
        var moved = point.y
        moved[31] ^= 1
        for (x, y) in [(point.x, moved), (point.y, point.x), (zero, zero), (beyond, beyond), (point.x, zero)] {
            let other = try #require(PublicKey.P256(x: x, y: y))
            #expect(!cryptography.isValid(signature[...], over: message, by: .p256(other), algorithm: .es256))
        }
    }

    @Test func `A signature is no signature when r or s is zero, the order, or beyond it`() throws {
        let (key, _) = try p256()
        let signature = try cryptography.sign(message, with: key)
        let order = try #require([UInt8](hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"))
        let zero = [UInt8](repeating: 0, count: 32)
        let beyond = [UInt8](repeating: 0xFF, count: 32)
        for bad in [zero, order, beyond] {
            for raw in [bad + signature[32...], signature[..<32] + bad, bad + bad] {
                #expect(!cryptography.isValid(raw[...], over: message, by: key.publicKey, algorithm: .es256))
            }
        }
    }

    @Test func `A signature with bytes between r and s is no signature`() throws {
        let (key, _) = try p256()
        let raw = try cryptography.sign(message, with: key)
        for middle in [[0], [1], [UInt8](repeating: 0, count: 32)] as [[UInt8]] {
            let longer = raw[..<32] + middle + raw[32...]
            #expect(!cryptography.isValid(longer, over: message, by: key.publicKey, algorithm: .es256))
        }
    }

    @Test func `DER is not a JWS signature`() throws {
        let (key, _) = try p256()
        let raw = try cryptography.sign(message, with: key)
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            let short = Array(bytes.drop { $0 == 0 })
            let signed = short[0] & 0x80 == 0 ? short : [0] + short
            return [0x02, UInt8(signed.count)] + signed
        }
        let body = integer(raw[..<32]) + integer(raw[32...])
        let der = [0x30, UInt8(body.count)] + body
        #expect(!cryptography.isValid(der[...], over: message, by: key.publicKey, algorithm: .es256))
    }

    /// libcrypto's own failure ends the process; what a hostile set of keys holds must not look like one.
    @Test func `An RSA key that nobody could have made verifies nothing, whatever the signature`() throws {
        let ones = [UInt8](repeating: 0xFF, count: 1024)
        let zeros = [UInt8](repeating: 0, count: 1024)
        var moduli: [[UInt8]] = []
        for bytes in [256, 257, 384, 512, 1024] {
            let random = try cryptography.randomBytes(bytes)
            moduli.append([0x80] + zeros[..<(bytes - 2)] + [1])
            moduli.append(Array(ones[..<bytes]))
            moduli.append([0xC0 | random[0]] + random[1..<(bytes - 1)] + [random[bytes - 1] | 1])
        }
        for modulus in moduli {
            for exponent in [[3], [1, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]] {
                let key = PublicKey.rsa(try #require(PublicKey.RSA(modulus: modulus, exponent: exponent)))
                let length = modulus.count
                let signatures: [ArraySlice<UInt8>] = [
                    [], [0], zeros[..<length], zeros[..<(length - 1)] + [1], ones[..<length], modulus[...],
                    modulus[..<(length - 1)] + [0], [0] + modulus, modulus[1...], ones[...],
                ]
                for signature in signatures {
                    #expect(!cryptography.isValid(signature, over: message, by: key, algorithm: .rs256))
                }
            }
        }
    }

    @Test func `A key verifies by its own algorithm only`() throws {
        for algorithm in [SignatureAlgorithm.es256, .rs256] {
            let key = try cryptography.generateKey(for: algorithm)
            let signature = try cryptography.sign(message, with: key)
            let other: SignatureAlgorithm = algorithm == .es256 ? .rs256 : .es256
            #expect(!cryptography.isValid(signature[...], over: message, by: key.publicKey, algorithm: other))
        }
    }

    @Test func `New keys differ, and their parts have the form that JWK wants`() throws {
        let keys = try (0..<50).map { _ in try p256() }
        #expect(Set(keys.map(\.point)).count == 50)
        // Among fifty keys some number starts with a zero byte in one run of twelve: the length must be 32 all the same.
        for (key, point) in keys {
            #expect(point.x.count == 32 && point.y.count == 32)
            guard case .p256(let d) = key.parts else { throw CryptographyError("not P-256") }
            #expect(d.bytes.count == 32)
        }
        guard case .rsa(let rsa) = try cryptography.generateKey(for: .rs256).publicKey else {
            throw CryptographyError("not RSA")
        }
        #expect(rsa.modulus.count == 256)
        #expect(rsa.exponent == [1, 0, 1])
    }

    @Test func `A private key out of range cannot sign, and the error holds none of it`() throws {
        let (key, _) = try p256()
        for byte: UInt8 in [0x00, 0xFF] {
            let bad = SecretBytes([UInt8](repeating: byte, count: 32))
            let broken = try #require(PrivateKey(publicKey: key.publicKey, parts: .p256(bad)))
            let error = try #require(throws: CryptographyError.self) { try cryptography.sign(message, with: broken) }
            #expect(!error.reason.lowercased().contains("ffff"))
            #expect(error.reason.contains("OpenSSL error"))
        }
    }

    /// The curve's base point is that of the scalar one, and of the order and one as well.
    @Test func `A private key has one spelling, below the order`() throws {
        let x = try #require([UInt8](hex: "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"))
        let y = try #require([UInt8](hex: "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"))
        let point = try #require(PublicKey.P256(x: x, y: y))
        func key(_ hex: String) throws -> PrivateKey {
            let d = SecretBytes(try #require([UInt8](hex: hex)))
            return try #require(PrivateKey(publicKey: .p256(point), parts: .p256(d)))
        }
        _ = try cryptography.sign(message, with: key(String(repeating: "0", count: 63) + "1"))
        let beyond = try key("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552")
        #expect(throws: CryptographyError.self) { try cryptography.sign(message, with: beyond) }
    }

    @Test func `A P-256 key whose halves do not belong together cannot sign`() throws {
        let (one, _) = try p256()
        let (other, _) = try p256()
        let mixed = try #require(PrivateKey(publicKey: one.publicKey, parts: other.parts))
        #expect(throws: CryptographyError.self) { try cryptography.sign(message, with: mixed) }
    }

    @Test func `RSA parts that do not belong together never give a signature that verifies`() throws {
        let one = try cryptography.generateKey(for: .rs256)
        let other = try cryptography.generateKey(for: .rs256)
        let mixed = try #require(PrivateKey(publicKey: one.publicKey, parts: other.parts))
        if let signature = try? cryptography.sign(message, with: mixed) {
            #expect(!cryptography.isValid(signature[...], over: message, by: one.publicKey, algorithm: .rs256))
        }
    }

    /// OpenSSL queues errors a thread; one left behind would be taken for the cause of the next.
    @Test func `A refused key leaves no error for the next operation`() throws {
        let (key, _) = try p256()
        let zero = try #require(
            PrivateKey(publicKey: key.publicKey, parts: .p256(SecretBytes([UInt8](repeating: 0, count: 32)))))
        let huge = try #require(
            PrivateKey(publicKey: key.publicKey, parts: .p256(SecretBytes([UInt8](repeating: 0xFF, count: 32)))))
        let one = [UInt8](repeating: 1, count: 32)
        let offCurve = PublicKey.p256(try #require(PublicKey.P256(x: one, y: one)))
        let unlike = PrivateKey(publicKey: offCurve, parts: .p256(SecretBytes(one)))
        let bad = [zero, huge, try #require(unlike)]
        func error(_ key: PrivateKey) throws -> CryptographyError {
            try #require(throws: CryptographyError.self) { try cryptography.sign(message, with: key) }
        }
        let errors = try bad.map(error)
        for before in bad {
            for (key, expected) in zip(bad, errors) {
                _ = try error(before)
                #expect(try error(key) == expected)
                #expect(
                    !cryptography.isValid((one + one)[...], over: message, by: offCurve, algorithm: .es256))
                #expect(try error(key) == expected)
            }
        }
        #expect(Set(errors).count > 1)
    }

    /// Threads, because a task may wait for minutes where many tests run at once.
    @Test func `Many keys, more than are remembered, on many threads at once`() throws {
        let keys = try (0..<12).map { _ in try cryptography.generateKey(for: .es256) }
        let message = message
        let right = Mutex(0)
        let threads = (0..<8).map { first in
            Thread {
                for round in first..<first + 30 {
                    let key = keys[round % keys.count]
                    let other = keys[(round + 1) % keys.count]
                    guard let signature = try? cryptography.sign(message, with: key) else { continue }
                    if cryptography.isValid(signature[...], over: message, by: key.publicKey, algorithm: .es256),
                        !cryptography.isValid(signature[...], over: message, by: other.publicKey, algorithm: .es256)
                    {
                        right.withLock { $0 += 1 }
                    }
                }
            }
        }
        for thread in threads { thread.start() }
        while threads.contains(where: { !$0.isFinished }) { usleep(1000) }
        #expect(right.withLock { $0 } == 8 * 30)
    }
}
