package import Accounts
package import JOSE

extension DynamoDBUserStore {
    package func session(_ id: UUIDv7) throws(StoreError) -> (Session, Account)? {
        try perform { table throws(DynamoDBFailure) in
            guard let (session, account) = try table.session(id) else { return nil }
            return (session.session, account.account)
        }
    }

    package func change(
        session id: UUIDv7, _ decide: (Session, Account) -> SessionChange
    ) throws(StoreError) {
        try perform { table throws(DynamoDBFailure) in
            guard var (stored, account) = try table.session(id) else { return }
            switch decide(stored.session, account.account) {
            case .keep: break
            case .update(let changed):
                stored.session = changed
                try table.write(stored)
            case .end(let entry):
                var writes = StoredAudit.writes([entry], to: &account)
                writes += [.delete(stored.key, if: .unchanged(stored.item)), .delete(.owner(ofSession: id))]
                writes.append(try account.write())
                try table.write(together: writes)
            }
        }
    }

    package func sessions(of accountID: UUIDv7, at time: UnixTime) throws(StoreError) -> [Session] {
        try perform { table throws(DynamoDBFailure) in
            let found = try table.accountAndSessions(accountID)?.sessions ?? []
            return found.youngestFirst.map(\.session).filter { $0.isAlive(at: time) }
        }
    }
}

extension DynamoDBTable {
    /// A session and its account. Both are read in one request once it is known whose it is, which never changes.
    fileprivate func session(_ id: UUIDv7) throws(DynamoDBFailure) -> (StoredSession, StoredAccount)? {
        guard let owner = try item(.owner(ofSession: id)) else { return nil }
        guard let accountID = owner.string("account").flatMap({ UUIDv7($0) }) else { throw .damaged }
        let items = try items([.account(accountID), .session(id, of: accountID)])
        guard let account = items[.account(accountID)], let session = items[.session(id, of: accountID)] else {
            return nil
        }
        let stored = try StoredAccount(account)
        return stored.isOver(id) ? nil : (try StoredSession(session), stored)
    }

    /// Writes what changed of a session over what was read.
    fileprivate func write(_ stored: StoredSession) throws(DynamoDBFailure) {
        let version = Self.newVersion()
        do throws(DynamoDBFailure) {
            try write(stored.update(version: version))
        } catch .conflict(_, let found?) where found["version"] == version {
            // The answer was lost, and this is the write itself.
        }
    }
}
