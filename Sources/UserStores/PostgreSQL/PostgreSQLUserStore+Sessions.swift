#if PostgreSQL
package import Accounts
package import JOSE

extension PostgreSQLUserStore {
    package func session(_ id: UUIDv7) throws(StoreError) -> (Session, Account)? {
        guard try read({ () throws(PostgreSQLFailure) in try accountQueries() }).isMapped else {
            let rows = try perform { _ throws(PostgreSQLFailure) in
                [.session(id, isHeld: false), .account(ofSession: id)]
            }
            return try read { () throws(PostgreSQLFailure) in
                guard let session = try rows[0].first?.session(), let account = try rows[1].first?.account() else {
                    return nil
                }
                return (session, account)
            }
        }
        var found: (Session, Account)?
        try withSession(id, isHeld: false) { session, account in
            found = (session, account)
            return .keep
        }
        return found
    }

    /// Two round trips; three where the users table is the owner's, since the account is asked for by its id.
    package func change(
        session id: UUIDv7, _ decide: (Session, Account) -> SessionChange
    ) throws(StoreError) {
        try withSession(id, isHeld: true, decide)
    }

    /// The account is not held, only the session: what becomes of the one does not depend on the other, and a refresh writes one
    /// row. Who ends a session adds to the audit without holding the account, and may have to try again.
    private func withSession(
        _ id: UUIDv7, isHeld: Bool, _ decide: (Session, Account) -> SessionChange
    ) throws(StoreError) {
        try transaction { queries throws(PostgreSQLFailure) in
            [.session(id, isHeld: isHeld)] + (queries.isMapped ? [] : [.account(ofSession: id)])
        } _: { transaction, rows throws(PostgreSQLFailure) in
            guard let session = try rows[0].first?.session() else { return ((), []) }
            let found =
                transaction.queries.isMapped
                ? try transaction.read(transaction.queries.find(.id(session.accountID), isHeld: isHeld))[0] : rows[1]
            guard let account = try found.first?.account() else { return ((), []) }
            switch decide(session, account) {
            case .keep: return ((), [])
            case .update(let changed): return ((), [.update(changed)])
            case .end(let entry): return ((), SQLStatement.remove([session]) + SQLStatement.append([entry]))
            }
        }
    }

    package func sessions(of accountID: UUIDv7, at time: UnixTime) throws(StoreError) -> [Session] {
        let rows = try perform { _ throws(PostgreSQLFailure) in [.sessions(of: accountID, after: time)] }
        return try read { () throws(PostgreSQLFailure) in
            try rows[0].all.map { row throws(PostgreSQLFailure) in try row.session() }
        }
    }

    package func endSessions(
        of accountID: UUIDv7, except kept: UUIDv7?, audit: (Session) -> AuditEntry
    ) throws(StoreError) -> Int {
        try transaction { queries throws(PostgreSQLFailure) in
            queries.find(.id(accountID), isHeld: true) + [.sessions(of: accountID)]
        } _: { _, rows throws(PostgreSQLFailure) in
            let ended = try rows[1].all.map { row throws(PostgreSQLFailure) in try row.session() }
                .filter { $0.id != kept }
            return (ended.count, SQLStatement.remove(ended) + SQLStatement.append(ended.map(audit)))
        }
    }
}
#endif
