internal import Accounts
internal import AppleID
internal import AuthFunction
internal import JOSE

/// Apple's server API under one configuration, and what seals that which it gives.
struct AppleAPI {
    let server: AppleServer
    let sealing: AppleGrantSealing

    init(_ settings: AppleServerSettings, http: AppleHTTP, cryptography: any Cryptography) {
        server = AppleServer(
            endpoints: settings.endpoints, credentials: settings.credentials, cryptography: cryptography,
            send: AppleServerTransport(http).send)
        sealing = AppleGrantSealing(keys: settings.encryptionKeys, cryptography: cryptography)
    }
}
