/// A public key that verifies signatures.
package enum PublicKey: Hashable, Sendable {
    case rsa(RSA)
    case p256(P256)

    /// RFC 8017 §3.1; both numbers big-endian without leading zeros.
    package struct RSA: Hashable, Sendable {
        package let modulus: [UInt8]
        package let exponent: [UInt8]

        /// Nil unless the key is fit to verify: 2048 to 8192 bits (RFC 7518 §3.3; the upper bound caps the work a hostile
        /// set could ask for), an odd exponent from 3 to 2³², and no sign of the ROCA fault.
        package init?(modulus: [UInt8], exponent: [UInt8]) {
            let modulus = Array(modulus.drop { $0 == 0 })
            let exponent = Array(exponent.drop { $0 == 0 })
            guard let top = modulus.first, let low = modulus.last, low & 1 == 1 else { return nil }
            let bits = modulus.count * 8 - top.leadingZeroBitCount
            guard (2048...8192).contains(bits) else { return nil }
            guard let lowest = exponent.last, lowest & 1 == 1, exponent.count <= 4, exponent != [1] else { return nil }
            guard !ROCA.marks(modulus) else { return nil }
            self.modulus = modulus
            self.exponent = exponent
        }
    }

    /// A point of P-256; 32 bytes a coordinate. Whether it lies on the curve is checked by the cryptographic library.
    package struct P256: Hashable, Sendable {
        package let x: [UInt8]
        package let y: [UInt8]

        package init?(x: [UInt8], y: [UInt8]) {
            guard x.count == 32, y.count == 32 else { return nil }
            self.x = x
            self.y = y
        }

        /// `04‖x‖y` (SEC 1 §2.3.3).
        package var uncompressed: [UInt8] { [4] + x + y }
    }

    package var algorithm: SignatureAlgorithm {
        switch self {
        case .rsa: .rs256
        case .p256: .es256
        }
    }
}

/// CVE-2017-15361: moduli made by a faulty generator are powers of 65537 modulo every small prime, which others are only
/// by chance (one in 2²⁷ or so over these primes), and can be factored.
private enum ROCA {
    private static let primes: [UInt32] = [11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157]

    static func marks(_ modulus: [UInt8]) -> Bool {
        // Nearly every sound modulus leaves at one of the first primes, so this costs a pass or two over its bytes.
        primes.allSatisfy { prime in
            let residue = modulus.reduce(UInt32(0)) { ($0 << 8 | UInt32($1)) % prime }
            var power: UInt32 = 1
            repeat {
                if power == residue { return true }
                power = power * (65537 % prime) % prime
            } while power != 1
            return false
        }
    }
}
