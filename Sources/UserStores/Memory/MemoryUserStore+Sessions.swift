package import Accounts
package import JOSE

extension MemoryUserStore {
    package func session(_ id: UUIDv7) throws(StoreError) -> (Session, Account)? {
        guard let session = sessions[id], let account = try account(session.accountID) else { return nil }
        return (session, account)
    }

    package func change(
        session id: UUIDv7, _ decide: (Session, Account) -> SessionChange
    ) throws(StoreError) {
        guard let (session, account) = try session(id) else { return }
        switch decide(session, account) {
        case .keep: break
        case .update(let changed): sessions[id] = changed
        case .end(let entry):
            sessions[id] = nil
            append([entry])
        }
    }

    package func sessions(of accountID: UUIDv7, at time: UnixTime) throws(StoreError) -> [Session] {
        sessions(of: accountID).filter { $0.isAlive(at: time) }
    }

    package func endSessions(
        of accountID: UUIDv7, except kept: UUIDv7?, audit: (Session) -> AuditEntry
    ) throws(StoreError) -> Int {
        let ended = sessions(of: accountID).filter { $0.id != kept }
        for session in ended { sessions[session.id] = nil }
        append(ended.map(audit))
        return ended.count
    }

    /// The youngest first, and of one moment the one with the larger id.
    func sessions(of accountID: UUIDv7) -> [Session] {
        sessions.values.filter { $0.accountID == accountID }.sorted { left, right in
            left.createdAt == right.createdAt
                ? right.id.bytes.lexicographicallyPrecedes(left.id.bytes) : left.createdAt > right.createdAt
        }
    }
}
