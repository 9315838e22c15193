import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

/// RFC 8017 §A.1.1, read by somebody else: what Apple's Security framework would get is given to `openssl`.
@Suite struct PublicKeyDERTests {
    @Test func opensslReadsAnRSAPublicKeyAndWritesTheSameBytes() throws {
        let key = try OpenSSLCryptography().generateKey(for: .rs256).publicKey
        guard case .rsa(let numbers) = key else {
            Issue.record("not RSA")
            return
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "der-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (ours, theirs) = (folder.appending(path: "ours"), folder.appending(path: "theirs"))
        try Data(numbers.der).write(to: ours)
        let command = ["/usr/bin/env", "openssl", "rsa", "-RSAPublicKey_in", "-inform", "DER", "-in", ours.path()]
        let written = try Ran(command + ["-RSAPublicKey_out", "-outform", "DER", "-out", theirs.path()])
        #expect(written.status == 0)
        #expect(try Data(contentsOf: theirs) == Data(numbers.der))
        let modulus = numbers.modulus.map { String(format: "%02X", $0) }.joined()
        #expect(try Ran(command + ["-noout", "-modulus"]).text.hasPrefix("Modulus=\(modulus)\n"))
    }

    @Test func aNumberWhoseFirstBitIsSetGetsAZeroInFront() throws {
        let modulus = [0x80] + [UInt8](repeating: 0, count: 254) + [0x01]
        let key = try #require(PublicKey.RSA(modulus: modulus, exponent: [3]))
        // SEQUENCE of 264 bytes: INTEGER of 257, INTEGER of 1.
        #expect(key.der == [0x30, 0x82, 0x01, 0x08, 0x02, 0x82, 0x01, 0x01, 0x00] + modulus + [0x02, 0x01, 0x03])
    }
}
