// Of CryptoKit only what the sources name. Nothing here works.
public import Foundation

/// https://developer.apple.com/documentation/cryptokit/sha256
public struct SHA256 {
    /// https://developer.apple.com/documentation/cryptokit/hashfunction/hash(data:)
    public static func hash<Bytes: DataProtocol>(data: Bytes) -> SHA256Digest { fatalError() }
}
/// https://developer.apple.com/documentation/cryptokit/sha256digest
public struct SHA256Digest: Hashable, Sendable, Sequence {
    /// https://developer.apple.com/documentation/cryptokit/sha256digest/element
    public typealias Element = UInt8
    /// https://developer.apple.com/documentation/cryptokit/sha256digest/makeiterator()
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}
/// https://developer.apple.com/documentation/cryptokit/p256
public enum P256 {
    /// https://developer.apple.com/documentation/cryptokit/p256/signing
    public enum Signing {
        /// https://developer.apple.com/documentation/cryptokit/p256/signing/publickey
        public struct PublicKey: Sendable {
            /// https://developer.apple.com/documentation/cryptokit/p256/signing/publickey/init(x963representation:)
            public init<Bytes: ContiguousBytes>(x963Representation: Bytes) throws {}
            /// https://developer.apple.com/documentation/cryptokit/p256/signing/publickey/x963representation
            public var x963Representation: Data { fatalError() }
            /// https://developer.apple.com/documentation/cryptokit/p256/signing/publickey/isvalidsignature(_:for:)
            public func isValidSignature<Bytes: DataProtocol>(_ signature: ECDSASignature, for data: Bytes) -> Bool {
                fatalError()
            }
        }
        /// https://developer.apple.com/documentation/cryptokit/p256/signing/privatekey
        public struct PrivateKey: Sendable {
            /// https://developer.apple.com/documentation/cryptokit/p256/signing/privatekey/init(compactrepresentable:)
            public init(compactRepresentable: Bool = true) {}
            /// https://developer.apple.com/documentation/cryptokit/p256/signing/privatekey/init(rawrepresentation:)
            public init<Bytes: ContiguousBytes>(rawRepresentation: Bytes) throws {}
            /// https://developer.apple.com/documentation/cryptokit/p256/signing/privatekey/publickey
            public var publicKey: PublicKey { fatalError() }
            /// https://developer.apple.com/documentation/cryptokit/p256/signing/privatekey/rawrepresentation
            public var rawRepresentation: Data { fatalError() }
            /// https://developer.apple.com/documentation/cryptokit/p256/signing/privatekey/signature(for:)
            public func signature<Bytes: DataProtocol>(for data: Bytes) throws -> ECDSASignature { fatalError() }
        }
        /// https://developer.apple.com/documentation/cryptokit/p256/signing/ecdsasignature
        public struct ECDSASignature: Sendable {
            /// https://developer.apple.com/documentation/cryptokit/p256/signing/ecdsasignature/init(rawrepresentation:)
            public init<Bytes: DataProtocol>(rawRepresentation: Bytes) throws {}
            /// https://developer.apple.com/documentation/cryptokit/p256/signing/ecdsasignature/rawrepresentation
            public var rawRepresentation: Data { fatalError() }
        }
    }
}
