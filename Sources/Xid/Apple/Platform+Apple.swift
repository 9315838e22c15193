#if canImport(AuthenticationServices)
internal import Foundation
internal import JOSE

extension Platform {
    /// URLSession, CryptoKit and Security, ASWebAuthenticationSession, and the Keychain.
    package static var apple: Platform {
        Platform(
            transport: URLSessionTransport(), cryptography: CryptoKitCryptography(),
            agent: AuthenticationSessionAgent(), defaultStorage: { KeychainTokenStorage() },
            now: { UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) })
    }
}
#endif
