internal import JOSE

/// Why a text is not the private key of Apple's server API: for the operator, and without anything of the text.
package enum PrivateKeyRefusal: String, Error, Hashable, Sendable, CaseIterable {
    case empty
    case tooLarge = "too_large"
    case fileName = "file_name"
    case truncated
    case several
    case encrypted
    case publicKey = "public_key"
    case certificate
    case rsa
    case otherKind = "other_kind"
    case curve
    case notPair = "not_pair"
    case unreadable

    init(_ fault: PrivateKeyFault) {
        self =
            switch fault {
            case .truncated: .truncated
            case .encrypted: .encrypted
            case .publicKey: .publicKey
            case .certificate: .certificate
            case .rsa: .rsa
            case .otherKind: .otherKind
            case .curve: .curve
            case .notPair: .notPair
            case .unreadable: .unreadable
            }
    }

    /// Follows the name of the variable.
    package var reason: String {
        switch self {
        case .empty: "holds no key"
        case .tooLarge: "is too long for a key"
        case .fileName: "holds the name of a file and not what is in the file"
        case .truncated: "holds a key whose beginning or end is missing"
        case .several: "holds more than one key or certificate"
        case .encrypted: "holds a key that is encrypted with a passphrase"
        case .publicKey: "holds a public key"
        case .certificate: "holds a certificate"
        case .rsa: "holds an RSA key"
        case .otherKind: "holds a key of another kind than Apple's"
        case .curve: "holds a key on another curve than P-256"
        case .notPair: "holds a private key that does not belong to the public key in it"
        case .unreadable: "holds no key that can be read"
        }
    }

    package var remedy: String {
        switch self {
        case .empty: "set it to the content of the file AuthKey_….p8 that Apple gave"
        case .tooLarge, .several: "set it to the content of AuthKey_….p8 and nothing else"
        case .fileName: "set the variable of the same name that ends in _FILE instead"
        case .truncated: "copy the file AuthKey_….p8 again, from its first line to its last"
        case .encrypted:
            "remove the passphrase: openssl pkcs8 -topk8 -nocrypt -in FILE, or download a new key from Apple"
        case .publicKey, .certificate, .rsa, .otherKind, .curve:
            "set it to the content of AuthKey_….p8, which Apple gives once, under Certificates, Identifiers & Profiles: Keys"
        case .notPair, .unreadable: "copy the file AuthKey_….p8 again; if it is damaged, make a new key at Apple"
        }
    }
}
