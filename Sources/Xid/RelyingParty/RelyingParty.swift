#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One client at one provider: the state that every call shares, and the rules for changing it.
///
/// An actor may be entered again wherever it waits. So what must happen once is decided between two waits: a flow is taken out before
/// its code is sent, and a renewal that is under way is joined.
actor RelyingParty {
    /// A sign-in whose browser is open.
    final class Attempt {
        let number: Int
        var visit: (any BrowserVisit)?
        var isCancelled = false
        /// The flow's, once there is one.
        var state: SecretText?
        /// Set when the redirect has come, by whatever way.
        var redemption: Task<XidSession, any Error>?

        init(number: Int) {
            self.number = number
        }

        func check() throws(XidError) {
            guard isCancelled else { return }
            visit?.cancel()
            throw XidError(.cancelled)
        }
    }

    let client: Client
    let platform: Platform
    let vault: Vault
    let connection: ProviderConnection
    let provider: Provider

    var attempt: Attempt? {
        didSet { noteFlow() }
    }
    var attempts = 0
    /// The open sign-in; in the storage as well.
    var flow: PendingFlow? {
        didSet { noteFlow() }
    }
    /// The redirect that was taken last, by its digest, and what it leads to.
    var redemption: (redirect: [UInt8], task: Task<XidSession, any Error>)?
    var renewal: Task<SessionRecord, any Error>?
    /// A session that the storage did not take; it is offered again.
    var unsaved: SessionRecord?
    /// Grows when the app signs out: what was under way then is not kept.
    var epoch = 0

    private nonisolated let isPending = Guarded(false)

    init(client: Client, platform: Platform, storage: any TokenStorageAdapter) {
        self.client = client
        self.platform = platform
        vault = Vault(storage: storage, client: client, cryptography: platform.cryptography)
        connection = ProviderConnection(platform: platform)
        provider = Provider(client: client, connection: connection)
    }

    /// Whether a sign-in is open; known without waiting.
    nonisolated var isFlowPending: Bool {
        isPending.withLock { $0 }
    }

    private func noteFlow() {
        let isOpen = attempt != nil || flow != nil
        isPending.withLock { $0 = isOpen }
    }

    /// Keeps a session. When the storage does not take it, it stays in memory: its tokens exist, and the codes they came from are spent.
    func keep(_ record: SessionRecord) throws {
        unsaved = record
        try vault.save(record)
        unsaved = nil
    }

    /// The session as it is now; of several processes that share the storage, the one that wrote last is right.
    func currentRecord() throws -> SessionRecord? {
        guard let unsaved else { return try vault.session() }
        try? keep(unsaved)
        return unsaved
    }
}
