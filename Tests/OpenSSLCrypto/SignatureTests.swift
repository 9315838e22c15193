import JOSE
import OpenSSLCrypto
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
