package import JOSE

/// What we give to a browser for us to read again: a text that shows nothing, can be neither changed nor made by others, and
/// is opened by any process that has our signing keys. So a flow needs no store and no process of its own.
///
/// AES-256-GCM under a key that each text has for itself, made from a signing key and a salt. The signing key's name stands in
/// front: what was sealed before a rotation is opened after it.
package struct SealedText {
    /// A state is no code: what was sealed for one purpose does not open for another.
    package enum Purpose: String {
        case state = "auth-apple web state 1"
        case code = "auth-apple web code 1"
    }

    /// Bytes of a text that is looked at.
    static let maximumSize = 8192
    private static let saltBytes = 16

    private let purpose: Purpose
    private let keys: SigningKeySet
    private let cryptography: any Cryptography

    package init(purpose: Purpose, keys: SigningKeySet, cryptography: any Cryptography) {
        self.purpose = purpose
        self.keys = keys
        self.cryptography = cryptography
    }

    package func seal(_ json: JSON) throws(CryptographyError) -> String {
        let name = Array(keys.current.keyID.utf8)
        let salt = try cryptography.randomBytes(Self.saltBytes)
        let sealed = try cryptography.seal(
            json.serialized()[...], key: key(from: keys.sessionKey(using: cryptography), salt: salt[...]),
            associatedData: name[...])
        return Base64URL.encode(name) + "." + Base64URL.encode(salt + sealed)
    }

    /// Nil for whatever `seal` has not made for this purpose, under a key that is still there.
    package func open(_ text: String) -> JSON? {
        let text = Array(text.utf8)
        guard text.count <= Self.maximumSize, let dot = text.firstIndex(of: UInt8(ascii: ".")),
            let name = Base64URL.decode(text[..<dot]), let content = Base64URL.decode(text[(dot + 1)...]),
            content.count >= Self.saltBytes,
            let key = keys.sessionKey(named: String(decoding: name, as: UTF8.self), using: cryptography),
            let opened = cryptography.open(
                content[Self.saltBytes...], key: self.key(from: key, salt: content[..<Self.saltBytes]),
                associatedData: name[...])
        else { return nil }
        return try? JSON(parsing: opened, limits: JSON.Limits(bytes: Self.maximumSize, depth: 4))
    }

    private func key(from key: SecretBytes, salt: ArraySlice<UInt8>) -> SecretBytes {
        SecretBytes(cryptography.hmacSHA256((Array(purpose.rawValue.utf8) + salt)[...], key: key.bytes[...]))
    }
}
