internal import JOSE

/// The keys that the simulator signs with: three of RSA 2048 with short random names, as Apple has them.
///
/// Three and not one, because programs that take the first of the set instead of the one that the token names work until
/// the day on which Apple signs with another.
struct SimulatedKeys {
    static let count = 3

    /// The oldest first.
    private(set) var all: [SigningKey]

    static func make(using cryptography: any Cryptography) throws(CryptographyError) -> SimulatedKeys {
        var all: [SigningKey] = []
        for _ in 0..<count { all.append(try newKey(using: cryptography)) }
        return SimulatedKeys(all: all)
    }

    /// Out with the oldest, as when Apple rotates.
    mutating func rotate(using cryptography: any Cryptography) throws(CryptographyError) {
        all.removeFirst()
        all.append(try Self.newKey(using: cryptography))
    }

    /// What everybody may see.
    var publicKeys: KeySet { KeySet(keys: all.map(\.jwk)) }

    private static func newKey(using cryptography: any Cryptography) throws(CryptographyError) -> SigningKey {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        let name = try cryptography.randomBytes(10).map { alphabet[Int($0) % alphabet.count] }
        return SigningKey(
            keyID: String(decoding: name, as: UTF8.self), privateKey: try cryptography.generateKey(for: .rs256))
    }
}

extension SimulatedKeys {
    /// Reads what `secretJSON` wrote; nil for anything else.
    init?(parsing bytes: [UInt8], using cryptography: any Cryptography) {
        guard let json = try? JSON(parsing: bytes, limits: JSON.Limits(bytes: KeyFile.maximumSize, depth: 4)),
            let members = json["keys"]?.array, members.count == Self.count
        else { return nil }
        all = []
        for member in members {
            guard let key = try? SigningKey(member, using: cryptography), key.privateKey.algorithm == .rs256 else {
                return nil
            }
            all.append(key)
        }
    }

    /// The private keys: for the key file and nothing else.
    var secretJSON: JSON { ["keys": .array(all.map(\.secretJSON))] }
}
