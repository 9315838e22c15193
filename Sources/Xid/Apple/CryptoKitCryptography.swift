#if canImport(AuthenticationServices)
internal import CryptoKit
internal import Foundation
package import JOSE
internal import Security

/// `TokenCryptography` by CryptoKit, and for RSA, which CryptoKit does not have, by Security. RSA keys verify and do not sign.
package struct CryptoKitCryptography: TokenCryptography {
    package func isValid(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, by key: PublicKey,
        algorithm: SignatureAlgorithm
    ) -> Bool {
        switch (key, algorithm) {
        case (.p256(let point), .es256):
            // The initialiser refuses a point that is off the curve.
            guard let key = try? P256.Signing.PublicKey(x963Representation: point.uncompressed),
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: message)
        case (.rsa(let numbers), .rs256):
            let attributes: [String: Any] = [
                kSecAttrKeyType as String: kSecAttrKeyTypeRSA, kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
            ]
            // RFC 8017 §8.2.2: as long as the modulus, to begin with.
            guard signature.count == numbers.modulus.count,
                let key = SecKeyCreateWithData(Data(numbers.der) as CFData, attributes as CFDictionary, nil)
            else { return false }
            return SecKeyVerifySignature(
                key, .rsaSignatureMessagePKCS1v15SHA256, Data(message) as CFData, Data(signature) as CFData, nil)
        case (.p256, .rs256), (.rsa, .es256): return false
        }
    }

    package func sign(_ message: ArraySlice<UInt8>, with key: PrivateKey) throws(CryptographyError) -> [UInt8] {
        guard case (.p256(let point), .p256(let secret)) = (key.publicKey, key.parts),
            let pair = try? P256.Signing.PrivateKey(rawRepresentation: secret.bytes),
            pair.publicKey.x963Representation.elementsEqual(point.uncompressed),
            let signature = try? pair.signature(for: message)
        else { throw CryptographyError("sign: not a pair of P-256") }
        return Array(signature.rawRepresentation)
    }

    package func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    package func randomBytes(_ count: Int) throws(CryptographyError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        guard unsafe SecRandomCopyBytes(kSecRandomDefault, count, &bytes) == errSecSuccess else {
            throw CryptographyError("random bytes: the system gives none")
        }
        return bytes
    }

    /// By their digests: where those begin to differ says nothing of where the bytes do.
    package func areEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        left.count == right.count && SHA256.hash(data: left) == SHA256.hash(data: right)
    }

    package func generateP256Key() throws(CryptographyError) -> PrivateKey {
        let pair = P256.Signing.PrivateKey()
        let point = Array(pair.publicKey.x963Representation)
        guard let point = PublicKey.P256(x: Array(point[1..<33]), y: Array(point[33...])),
            let key = PrivateKey(publicKey: .p256(point), parts: .p256(SecretBytes(Array(pair.rawRepresentation))))
        else { throw CryptographyError("generate a key") }
        return key
    }
}
#endif
