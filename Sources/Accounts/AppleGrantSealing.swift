package import JOSE

/// Apple's refresh token of one account and client, as the store keeps it: AES-256-GCM (nonce, ciphertext, tag).
package struct SealedGrant: Hashable, Sendable {
    /// Which of `EncryptionKeys` opens it.
    package let keyID: String
    package let bytes: [UInt8]

    package init(keyID: String, bytes: [UInt8]) {
        self.keyID = keyID
        self.bytes = bytes
    }
}

/// Seals Apple's refresh tokens for the store and opens them again.
///
/// A sealed token belongs to its account and its client: they are the associated data, so that a row that somebody moved to
/// another account opens for nobody.
package struct AppleGrantSealing: Sendable {
    private let keys: EncryptionKeys
    private let cryptography: any Cryptography

    package init(keys: EncryptionKeys, cryptography: any Cryptography) {
        self.keys = keys
        self.cryptography = cryptography
    }

    package func seal(
        refreshToken: String, accountID: UUIDv7, clientID: String
    ) throws(CryptographyError) -> SealedGrant {
        let sealed = try cryptography.seal(
            Array(refreshToken.utf8)[...], key: keys.sealing.key,
            associatedData: Self.associatedData(accountID: accountID, clientID: clientID)[...])
        return SealedGrant(keyID: keys.sealing.id, bytes: sealed)
    }

    /// The refresh token; nil when its key is gone, when it was sealed for another account or client, or when it was changed.
    package func open(_ grant: SealedGrant, accountID: UUIDv7, clientID: String) -> String? {
        guard let key = keys[grant.keyID] else { return nil }
        let opened = cryptography.open(
            grant.bytes[...], key: key,
            associatedData: Self.associatedData(accountID: accountID, clientID: clientID)[...])
        return opened.flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Whether it should be sealed anew, because another key seals by now.
    package func isStale(_ grant: SealedGrant) -> Bool {
        !grant.keyID.isIdentical(to: keys.sealingID)
    }

    /// A label of its own, so that nothing else that a key may ever seal opens here; then 16 bytes of id, and the rest is the
    /// client's name: no two pairs make one text.
    private static func associatedData(accountID: UUIDv7, clientID: String) -> [UInt8] {
        Array("auth-apple apple-grant 1 ".utf8) + accountID.bytes + Array(clientID.utf8)
    }
}
