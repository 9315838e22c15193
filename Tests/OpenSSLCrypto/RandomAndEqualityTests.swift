import JOSE
import OpenSSLCrypto
import Testing

private let cryptography = OpenSSLCryptography()

struct RandomAndEqualityTests {
    @Test func `Random bytes have the length asked for and do not come twice`() throws {
        for count in [0, 1, 31, 256, 257, 100_000] {
            #expect(try cryptography.randomBytes(count).count == count)
        }
        let many = try (0..<1000).map { _ in try cryptography.randomBytes(16) }
        #expect(Set(many).count == 1000)
    }

    @Test func `Every value of a byte comes, about as often as the others`() throws {
        var counts = [Int](repeating: 0, count: 256)
        for byte in try cryptography.randomBytes(256 * 1000) { counts[Int(byte)] += 1 }
        // 1000 expected, standard deviation 32: ten of them are beyond all chance.
        #expect(counts.allSatisfy { (680...1320).contains($0) })
    }

    @Test func `Equal is equal in length and in every byte`() {
        let bytes = [UInt8](0..<64)
        #expect(cryptography.areEqual(bytes[...], bytes[...]))
        #expect(cryptography.areEqual([], []))
        #expect(cryptography.areEqual([0, 1, 2, 3][1..<3], [1, 2]))
        #expect(!cryptography.areEqual([], [0]))
        #expect(!cryptography.areEqual(bytes[...], bytes[..<63]))
        #expect(!cryptography.areEqual(bytes[..<63], bytes[...]))
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(!cryptography.areEqual(bytes[...], changed[...]))
            }
        }
    }
}
