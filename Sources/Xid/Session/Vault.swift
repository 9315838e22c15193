internal import JOSE

/// The two records of one client at one issuer in the storage: the open sign-in and the session.
struct Vault: Sendable {
    private let storage: any TokenStorageAdapter
    private let client: Client
    private let cryptography: any TokenCryptography
    private let flowKey: String
    private let sessionKey: String

    init(storage: any TokenStorageAdapter, client: Client, cryptography: any TokenCryptography) {
        self.storage = storage
        self.client = client
        self.cryptography = cryptography
        let namespace = client.namespace(using: cryptography)
        flowKey = "xid.flow.\(namespace)"
        sessionKey = "xid.session.\(namespace)"
    }

    /// A record that cannot be read is of no use to anybody, and counts as none.
    func flow() throws(XidError) -> PendingFlow? {
        try load(flowKey).flatMap { PendingFlow(parsing: $0, using: cryptography) }
    }

    func save(_ flow: PendingFlow) throws(XidError) {
        try save(flow.text, as: flowKey)
    }

    func eraseFlow() throws(XidError) {
        try erase(flowKey)
    }

    /// Nil only when the storage says that there is none.
    func session() throws(XidError) -> SessionRecord? {
        guard let text = try load(sessionKey) else { return nil }
        guard let record = SessionRecord(parsing: text, of: client, using: cryptography) else {
            throw XidError(.storageCorrupt)
        }
        return record
    }

    func save(_ record: SessionRecord) throws(XidError) {
        try save(record.text, as: sessionKey)
    }

    func eraseSession() throws(XidError) {
        try erase(sessionKey)
    }

    /// Waits until no other process renews the session. Others stay away for as long as what is returned lives. Nil where the storage
    /// has no turns to give.
    func turnToRenew() async throws -> (any Sendable)? {
        guard let storage = storage as? any SharedTokenStorage else { return nil }
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            do {
                if let turn = try storage.turn(for: sessionKey) { return turn }
            } catch {
                // What keeps turns from being given must not keep the person from the session; the tokens' own files say what it is.
                return nil
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw XidError(.timeout)
    }

    private func load(_ key: String) throws(XidError) -> String? {
        do {
            let text = try storage.load(key: key)
            return text == "" ? nil : text
        } catch {
            throw Self.failure(error)
        }
    }

    private func save(_ text: String, as key: String) throws(XidError) {
        do {
            try storage.save(key: key, value: text)
        } catch {
            throw Self.failure(error)
        }
    }

    private func erase(_ key: String) throws(XidError) {
        do {
            try storage.delete(key: key)
        } catch {
            // What matters is that the secret is gone; an empty record counts as none.
            do { try storage.save(key: key, value: "") } catch { throw Self.failure(error) }
        }
    }

    /// An adapter's own words may hold anything, the value included, and are not repeated.
    private static func failure(_ error: any Error) -> XidError {
        error as? XidError ?? XidError(.storageFailed)
    }
}

/// A storage that several processes may use at once.
protocol SharedTokenStorage: TokenStorageAdapter {
    /// The turn to change what is kept under `key`, over all processes, until what is returned goes; nil while another has it.
    func turn(for key: String) throws -> (any Sendable)?
}
