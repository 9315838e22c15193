#if SQLite
package import Accounts
package import JOSE

extension SQLiteUserStore {
    package func session(_ id: UUIDv7) throws(StoreError) -> (Session, Account)? {
        try perform { connection throws(SQLiteFailure) in try connection.session(id) }
    }

    package func change(
        session id: UUIDv7, _ decide: (Session, Account) -> SessionChange
    ) throws(StoreError) {
        try transaction { connection throws(SQLiteFailure) in
            guard let (session, account) = try connection.session(id) else { return }
            switch decide(session, account) {
            case .keep: break
            case .update(let changed): try connection.update(changed)
            case .end(let entry):
                try connection.remove(session)
                try connection.append([entry])
            }
        }
    }

    package func sessions(of accountID: UUIDv7, at time: UnixTime) throws(StoreError) -> [Session] {
        try perform { connection throws(SQLiteFailure) in try connection.sessions(of: accountID, after: time) }
    }

    package func endSessions(
        of accountID: UUIDv7, except kept: UUIDv7?, audit: (Session) -> AuditEntry
    ) throws(StoreError) -> Int {
        try transaction { connection throws(SQLiteFailure) in
            let ended = try connection.sessions(of: accountID).filter { $0.id != kept }
            for session in ended { try connection.remove(session) }
            try connection.append(ended.map(audit))
            return ended.count
        }
    }
}
#endif
