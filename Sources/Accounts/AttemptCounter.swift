package import JOSE

/// Counts attempts over all processes, in fixed windows of time.
package protocol AttemptCounter {
    /// Counts one more under `key` and returns how many there are in the window that begins at `window` and is so many seconds
    /// long, this one included. A count of an earlier window is forgotten.
    func count(_ key: AttemptKey, window: UnixTime, of seconds: Int64) throws(StoreError) -> Int64
}

/// What is counted, as 16 bytes that give no address away to who reads the store.
package struct AttemptKey: Hashable, Sendable {
    package let bytes: [UInt8]

    /// - Parameters:
    ///   - kind: what is limited, such as `sign-in`.
    ///   - subject: whose attempts, such as an address.
    package init(kind: String, subject: [UInt8], secret: SecretBytes, using cryptography: any Cryptography) {
        bytes = Array(cryptography.hmacSHA256((Array(kind.utf8) + [0] + subject)[...], key: secret.bytes[...])[..<16])
    }
}
