#if canImport(AuthenticationServices)
internal import Foundation
internal import Security

/// Tokens in the Keychain: the storage on Apple's systems. They stay on this device, and outlive the app. A Keychain that cannot
/// be read, as before the first unlock, is an error with its `OSStatus`, and never "no session".
public struct KeychainTokenStorage: TokenStorageAdapter {
    private let isReadableWhenLocked: Bool

    /// - Parameter isReadableWhenLocked: from the first unlock after a start on, for apps that also work in the background. Without it,
    ///   tokens can be read only while the device is unlocked. It holds for what is saved from now on.
    public init(isReadableWhenLocked: Bool = true) { self.isReadableWhenLocked = isReadableWhenLocked }

    /// Replaces the item at once.
    public func save(key: String, value: String) throws {
        let content: [String: Any] = [
            kSecValueData as String: Data(value.utf8),
            kSecAttrAccessible as String: isReadableWhenLocked
                ? kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly : kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
        ]
        let update = { SecItemUpdate(Self.item(key) as CFDictionary, content as CFDictionary) }
        var status = update()
        if status == errSecItemNotFound {
            status = SecItemAdd(Self.item(key).merging(content) { $1 } as CFDictionary, nil)
            // Another process was faster.
            if status == errSecDuplicateItem { status = update() }
        }
        guard status == errSecSuccess else { throw Self.failure(status) }
    }

    /// Nil only when there is no such item.
    public func load(key: String) throws -> String? {
        let query = Self.item(key).merging([kSecReturnData as String: true]) { $1 }
        var found: CFTypeRef?
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &found)
        if status == errSecItemNotFound { return nil }
        guard status == errSecSuccess else { throw Self.failure(status) }
        guard let data = found as? Data, let text = String(data: data, encoding: .utf8) else {
            throw XidError(.storageCorrupt)
        }
        return text
    }

    /// Removes the item.
    public func delete(key: String) throws {
        let status = SecItemDelete(Self.item(key) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else { throw Self.failure(status) }
    }

    /// Not for iCloud, and in the data protection keychain on macOS too: the older one there knows no accessibility.
    private static func item(_ key: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "xid",
            kSecAttrAccount as String: key, kSecAttrSynchronizable as String: false,
            kSecUseDataProtectionKeychain as String: true,
        ]
    }

    /// What passes by itself is "unavailable"; the rest, such as a missing entitlement (-34018), "failed".
    private static func failure(_ status: OSStatus) -> XidError {
        let passes = [errSecInteractionNotAllowed, errSecNotAvailable, errSecUserCanceled].contains(status)
        return XidError(passes ? .storageUnavailable : .storageFailed, systemCode: Int(status))
    }
}
#endif
