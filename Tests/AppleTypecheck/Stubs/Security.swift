// Of Security only what the sources name. Nothing here works.
@_exported import Foundation

/// https://developer.apple.com/documentation/kernel/osstatus
public typealias OSStatus = Int32

// MARK: Keychain items

/// https://developer.apple.com/documentation/security/ksecclass
public let kSecClass: CFString = ""
/// https://developer.apple.com/documentation/security/ksecclassgenericpassword
public let kSecClassGenericPassword: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattrservice
public let kSecAttrService: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattraccount
public let kSecAttrAccount: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattrsynchronizable
public let kSecAttrSynchronizable: CFString = ""
/// https://developer.apple.com/documentation/security/ksecusedataprotectionkeychain
@available(macOS 10.15, iOS 13.0, *)
public let kSecUseDataProtectionKeychain: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattraccessible
public let kSecAttrAccessible: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattraccessibleafterfirstunlockthisdeviceonly
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattraccessiblewhenunlockedthisdeviceonly
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = ""
/// https://developer.apple.com/documentation/security/ksecvaluedata
public let kSecValueData: CFString = ""
/// https://developer.apple.com/documentation/security/ksecreturndata
public let kSecReturnData: CFString = ""

/// https://developer.apple.com/documentation/security/secitemadd(_:_:)
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    fatalError()
}
/// https://developer.apple.com/documentation/security/secitemcopymatching(_:_:)
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    fatalError()
}
/// https://developer.apple.com/documentation/security/secitemupdate(_:_:)
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { fatalError() }
/// https://developer.apple.com/documentation/security/secitemdelete(_:)
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { fatalError() }

/// https://developer.apple.com/documentation/security/errsecsuccess
public var errSecSuccess: OSStatus { fatalError() }
/// https://developer.apple.com/documentation/security/errsecitemnotfound
public var errSecItemNotFound: OSStatus { fatalError() }
/// https://developer.apple.com/documentation/security/errsecduplicateitem
public var errSecDuplicateItem: OSStatus { fatalError() }
/// https://developer.apple.com/documentation/security/errsecinteractionnotallowed
public var errSecInteractionNotAllowed: OSStatus { fatalError() }
/// https://developer.apple.com/documentation/security/errsecnotavailable
public var errSecNotAvailable: OSStatus { fatalError() }
/// https://developer.apple.com/documentation/security/errsecusercanceled
public var errSecUserCanceled: OSStatus { fatalError() }

// MARK: Keys

/// https://developer.apple.com/documentation/security/seckey
public final class SecKey {}
/// https://developer.apple.com/documentation/security/ksecattrkeytype
public let kSecAttrKeyType: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattrkeytypersa
public let kSecAttrKeyTypeRSA: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattrkeyclass
public let kSecAttrKeyClass: CFString = ""
/// https://developer.apple.com/documentation/security/ksecattrkeyclasspublic
public let kSecAttrKeyClassPublic: CFString = ""
/// https://developer.apple.com/documentation/security/seckeycreatewithdata(_:_:_:)
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    fatalError()
}
/// https://developer.apple.com/documentation/security/seckeyalgorithm
public struct SecKeyAlgorithm: Hashable, Sendable {
    /// https://developer.apple.com/documentation/security/seckeyalgorithm/rsasignaturemessagepkcs1v15sha256
    public static var rsaSignatureMessagePKCS1v15SHA256: SecKeyAlgorithm { fatalError() }
}
/// https://developer.apple.com/documentation/security/seckeyverifysignature(_:_:_:_:_:)
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    fatalError()
}

// MARK: Randomness

/// https://developer.apple.com/documentation/security/secrandomref
public final class SecRandom: Sendable {}
/// https://developer.apple.com/documentation/security/secrandomref
public typealias SecRandomRef = SecRandom
/// https://developer.apple.com/documentation/security/ksecrandomdefault
public let kSecRandomDefault = SecRandom()
/// https://developer.apple.com/documentation/security/secrandomcopybytes(_:_:_:)
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    fatalError()
}
