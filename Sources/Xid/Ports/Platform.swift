package import JOSE

/// What Xid needs of the system that it runs on. Apple's systems and Linux each have one; tests make their own.
package struct Platform: Sendable {
    package var transport: any HTTPTransport
    package var cryptography: any TokenCryptography
    package var agent: any BrowserAgent
    /// Where tokens are kept when the app has named nothing else. Called at the first use.
    package var defaultStorage: @Sendable () throws -> any TokenStorageAdapter
    package var now: @Sendable () -> UnixTime

    package init(
        transport: any HTTPTransport, cryptography: any TokenCryptography, agent: any BrowserAgent,
        defaultStorage: @escaping @Sendable () throws -> any TokenStorageAdapter,
        now: @escaping @Sendable () -> UnixTime
    ) {
        self.transport = transport
        self.cryptography = cryptography
        self.agent = agent
        self.defaultStorage = defaultStorage
        self.now = now
    }

    /// The system that the program runs on.
    package static var current: Platform {
        #if canImport(AuthenticationServices)
        .apple
        #else
        .linux
        #endif
    }
}
