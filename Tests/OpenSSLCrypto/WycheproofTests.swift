import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

private let cryptography = OpenSSLCryptography()

/// Wycheproof's signatures in exactly the form of RS256 and ES256, all of them.
@Suite(.enabled(if: Vectors.arePresent, "needs ../shared/vectors"))
struct WycheproofTests {
    private func verdicts(
        _ file: String, key: (_ group: JSON) throws -> PublicKey?
    ) throws -> (accepted: [Int64], count: Int, valid: [Int64], acceptable: [Int64]) {
        var accepted: [Int64] = []
        var valid: [Int64] = []
        var acceptable: [Int64] = []
        var count = 0
        for group in try #require(Vectors.json("wycheproof/\(file)")["testGroups"]?.array) {
            let key = try #require(try key(group))
            for test in try #require(group["tests"]?.array) {
                let id = try #require(test["tcId"]?.integer)
                let message = try #require(test["msg"]?.hexBytes)
                let signature = try #require(test["sig"]?.hexBytes)
                count += 1
                if cryptography.isValid(signature[...], over: message[...], by: key, algorithm: key.algorithm) {
                    accepted.append(id)
                }
                if test["result"] == "valid" { valid.append(id) }
                if test["result"] == "acceptable" { acceptable.append(id) }
            }
        }
        return (accepted, count, valid, acceptable)
    }

    @Test func `ES256: every valid signature is accepted, and no other`() throws {
        let verdicts = try verdicts("ecdsa_secp256r1_sha256_p1363_test.json") { group in
            let point = try #require(group["publicKey"]?["uncompressed"]?.hexBytes)
            return PublicKey.P256(x: Array(point[1...32]), y: Array(point[33...])).map { .p256($0) }
        }
        #expect(verdicts.count == 262)
        #expect(verdicts.valid.count == 173)
        #expect(verdicts.acceptable.isEmpty)
        #expect(verdicts.accepted == verdicts.valid)
    }

    /// Case 8 is “acceptable”: its DigestInfo lacks the NULL, which RFC 8017 A.2.4 demands of a signer and lets a verifier
    /// forgive. It is refused here: one message, one encoding.
    @Test func `RS256: every valid signature is accepted, and no other`() throws {
        let verdicts = try verdicts("rsa_signature_2048_sha256_test.json") { group in
            let modulus = try #require(group["publicKey"]?["modulus"]?.hexBytes)
            let exponent = try #require(group["publicKey"]?["publicExponent"]?.hexBytes)
            return PublicKey.RSA(modulus: modulus, exponent: exponent).map { .rsa($0) }
        }
        #expect(verdicts.count == 259)
        #expect(verdicts.valid.count == 9)
        #expect(verdicts.acceptable == [8])
        #expect(verdicts.accepted == verdicts.valid)
    }
}
