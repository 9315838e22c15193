#if SQLite
package import Accounts
package import JOSE

extension SQLiteUserStore {
    package func restore(_ entry: StoreEntry) throws(StoreError) -> Bool {
        try transaction { connection throws(SQLiteFailure) in
            switch entry {
            case .account(let account, let sessions, let grants, let audit):
                guard try connection.isFree(account) else { return false }
                for session in sessions where try connection.session(session.id) != nil { return false }
                try connection.insert(account)
                for session in sessions { try connection.insert(session) }
                for grant in grants { try connection.keep(grant) }
                try connection.append(audit)
            case .formerAudit(let id, let audit):
                guard try connection.account(.id(id)) == nil, try !connection.hasAudit(of: id) else { return false }
                try connection.append(audit)
            case .revocation(let revocation):
                guard try !connection.isWaiting(revocation) else { return false }
                try connection.put(revocation)
            case .mark(let mark):
                // Spent until then already.
                let moment = UnixTime(milliseconds: mark.expiresAt.milliseconds - 1)
                guard try !connection.isSpent(mark, at: moment) else { return false }
                try connection.remember(mark)
            }
            return true
        }
    }

    /// Page by page, so that nobody who writes waits for whoever reads.
    package func forEachLoneEntry(at time: UnixTime, _ body: (StoreEntry) -> Bool) throws(StoreError) {
        var last: [UInt8] = []
        while true {
            let page = try perform { connection throws(SQLiteFailure) in try connection.formerAudits(after: last) }
            guard let end = page.last else { break }
            for (id, entries) in page {
                guard body(.formerAudit(of: id, entries)) else { return }
            }
            last = end.id.bytes
        }
        last = []
        while true {
            let page = try perform { connection throws(SQLiteFailure) in
                try connection.marks(after: last, aliveAt: time)
            }
            guard let end = page.last else { return }
            for mark in page {
                guard body(.mark(mark)) else { return }
            }
            last = end.name
        }
    }
}

extension Connection {
    /// Whether nothing is there, nor was, that this account would be twice.
    fileprivate func isFree(_ account: Account) throws(SQLiteFailure) -> Bool {
        guard try self.account(.id(account.id)) == nil, try !hasAudit(of: account.id) else { return false }
        if let subject = account.appleSubject, try self.account(.appleSubject(subject)) != nil { return false }
        if let transfer = account.transferSubject, try self.account(transferredAs: transfer) != nil { return false }
        return true
    }

    fileprivate func hasAudit(of account: UUIDv7) throws(SQLiteFailure) -> Bool {
        try integer("SELECT 1 FROM audit WHERE account_id = ?1 LIMIT 1", [.blob(account.bytes)]) != nil
    }

    fileprivate func isWaiting(_ revocation: Revocation) throws(SQLiteFailure) -> Bool {
        try integer(
            "SELECT 1 FROM revocations WHERE account_id = ?1 AND client_id = ?2",
            [.blob(revocation.grant.accountID.bytes), .text(revocation.grant.clientID)]) != nil
    }

    fileprivate func formerAudits(after last: [UInt8]) throws(SQLiteFailure) -> [(id: UUIDv7, [AuditEntry])] {
        var row = try prepare(
            """
            SELECT DISTINCT account_id FROM audit WHERE account_id > ?1
            AND NOT EXISTS (SELECT 1 FROM accounts WHERE id = account_id) ORDER BY account_id LIMIT ?2
            """)
        try row.bind([.blob(last), .integer(Self.batch)])
        var audits: [(id: UUIDv7, [AuditEntry])] = []
        while try row.step() {
            if let id = row.id(0) { audits.append((id, try audit(of: id))) }
        }
        return audits
    }

    fileprivate func marks(after last: [UInt8], aliveAt time: UnixTime) throws(SQLiteFailure) -> [Mark] {
        var row = try prepare(
            "SELECT name, expires_at FROM marks WHERE name > ?1 AND expires_at > ?2 ORDER BY name LIMIT ?3")
        try row.bind([.blob(last), .integer(time.milliseconds), .integer(Self.batch)])
        var marks: [Mark] = []
        while try row.step() {
            guard let name = row.blob(0), name.count == 32, let expiresAt = row.time(1) else {
                throw .unusable("a row of marks is damaged: restore the file from a backup")
            }
            marks.append(Mark(name: name, expiresAt: expiresAt))
        }
        return marks
    }
}
#endif
