// Compiles only against a module in which the Apple-only files were.
import Foundation
import JOSE
import Xid

func proof() throws {
    let storage: any TokenStorageAdapter = KeychainTokenStorage(isReadableWhenLocked: false)
    try Xid.shared.setTokenStorage(storage)
    let platform = Platform.apple
    let cryptography: any TokenCryptography.Type = CryptoKitCryptography.self
    let transport: any HTTPTransport.Type = URLSessionTransport.self
    let agent: any BrowserAgent.Type = AuthenticationSessionAgent.self
    _ = (platform.now(), cryptography, transport, agent)
}
