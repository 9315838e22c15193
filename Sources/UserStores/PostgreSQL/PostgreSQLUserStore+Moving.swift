#if PostgreSQL
package import Accounts
package import JOSE

extension PostgreSQLUserStore {
    package func restore(_ entry: StoreEntry) throws(StoreError) -> Bool {
        try transaction { queries throws(PostgreSQLFailure) in
            guard !queries.isMapped else { throw .mappedTable }
            return queries.obstacles(to: entry)
        } _: { transaction, rows throws(PostgreSQLFailure) in
            guard rows.allSatisfy({ $0.count == 0 }) else { return (false, []) }
            switch entry {
            case .account(let account, let sessions, let grants, let audit):
                let insertion = transaction.queries.statement(.insert, account.parameters).map { [$0] } ?? []
                return (
                    true,
                    insertion + SQLStatement.insert(sessions) + grants.map { .keep($0) } + SQLStatement.append(audit)
                )
            case .formerAudit(_, let audit): return (true, SQLStatement.append(audit))
            case .revocation(let revocation): return (true, [.put(revocation)])
            case .mark(let mark): return (true, [.remember(mark, at: mark.expiresAt)])
            }
        }
    }

    package func forEachLoneEntry(at time: UnixTime, _ body: (StoreEntry) -> Bool) throws(StoreError) {
        var last = UUIDv7(bytes: Array(repeating: 0, count: 16))
        while true {
            let rows = try perform { queries throws(PostgreSQLFailure) in
                guard !queries.isMapped else { throw .mappedTable }
                return [.formerAccounts(after: last)]
            }
            let ids = try read { () throws(PostgreSQLFailure) in
                try rows[0].all.map { row throws(PostgreSQLFailure) in try row.id("account_id") }.compactMap { $0 }
            }
            guard let end = ids.last else { break }
            for id in ids {
                guard body(.formerAudit(of: id, try audit(of: id))) else { return }
            }
            last = end
        }
        var name: [UInt8] = []
        while true {
            let rows = try perform { _ throws(PostgreSQLFailure) in [.marks(after: name, aliveAt: time)] }
            let marks = try read { () throws(PostgreSQLFailure) in
                try rows[0].all.map { row throws(PostgreSQLFailure) in try row.mark() }
            }
            guard let end = marks.last else { return }
            for mark in marks {
                guard body(.mark(mark)) else { return }
            }
            name = end.name
        }
    }
}

extension PostgreSQLFailure {
    /// Its accounts may have no `sub`, and its columns are not ours to fill.
    fileprivate static let mappedTable = PostgreSQLFailure.unusable(
        "the users table is yours (AUTH_APPLE_ACCOUNT_QUERIES) and does not move by itself: use pg_dump")
}

extension AccountQueries {
    /// What gives a row for each thing that is in the way of an entry.
    fileprivate func obstacles(to entry: StoreEntry) -> [SQLStatement] {
        switch entry {
        case .account(let account, let sessions, _, _):
            find(.id(account.id), isHeld: false)
                + (account.appleSubject.map { find(.appleSubject($0), isHeld: false) } ?? [])
                + [
                    account.transferSubject.flatMap { statement(.findByTransferSubject, [.text($0)]) },
                    .anyAudit(of: account.id),
                ].compactMap { $0 } + SQLStatement.anyOf(sessions)
        case .formerAudit(let id, _): find(.id(id), isHeld: false) + [.anyAudit(of: id)]
        case .revocation(let revocation):
            [
                SQLStatement(
                    "SELECT 1 FROM revocations WHERE account_id = $1 AND client_id = $2 FOR UPDATE",
                    [.uuid(revocation.grant.accountID), .text(revocation.grant.clientID)])
            ]
        case .mark(let mark):
            [
                SQLStatement(
                    "SELECT 1 FROM marks WHERE name = $1 AND expires_at >= $2",
                    [.bytes(mark.name), .time(mark.expiresAt)])
            ]
        }
    }
}

extension SQLStatement {
    private static let batch: Int64 = 500

    fileprivate static func anyAudit(of account: UUIDv7) -> SQLStatement {
        SQLStatement("SELECT 1 FROM audit WHERE account_id = $1 LIMIT 1", [.uuid(account)])
    }

    /// The accounts that are gone and have an audit.
    fileprivate static func formerAccounts(after last: UUIDv7?) -> SQLStatement {
        SQLStatement(
            """
            SELECT DISTINCT account_id FROM audit WHERE account_id > $1
            AND NOT EXISTS (SELECT 1 FROM accounts WHERE id = audit.account_id) ORDER BY account_id LIMIT $2
            """, [.uuid(last), .integer(batch)])
    }

    fileprivate static func marks(after last: [UInt8], aliveAt time: UnixTime) -> SQLStatement {
        SQLStatement(
            "SELECT name, expires_at FROM marks WHERE name > $1 AND expires_at > $2 ORDER BY name LIMIT $3",
            [.bytes(last), .time(time), .integer(batch)])
    }
}

extension SQLRow {
    fileprivate func mark() throws(PostgreSQLFailure) -> Mark {
        guard let name = try bytes("name"), name.count == 32, let expiresAt = try time("expires_at") else {
            throw .unusable("a row of marks is damaged: restore it from a backup")
        }
        return Mark(name: name, expiresAt: expiresAt)
    }
}
#endif
