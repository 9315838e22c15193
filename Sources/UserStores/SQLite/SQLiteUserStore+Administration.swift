#if SQLite
package import Accounts
package import JOSE

extension SQLiteUserStore {
    package func migrate() throws(StoreError) -> SchemaChange {
        do throws(SQLiteFailure) {
            let change = try openedOrCreated().migrate()
            return SchemaChange(from: change.from, to: change.to)
        } catch {
            throw error.error(for: file.path)
        }
    }

    package func purge(before time: UnixTime, auditDays: Int64) throws(StoreError) -> PurgeCount {
        try overwriteWhatIsRemoved()
        let begun = AttemptWindow.over(at: time)
        let kept = time.adding(seconds: -auditDays * 86_400)
        let count = PurgeCount(
            sessions: try purge { connection, last throws(SQLiteFailure) in
                try connection.expiredSessions(at: time, after: last)
            } removing: { connection, ids throws(SQLiteFailure) in
                try connection.removeSessions(ids, expiredAt: time)
            },
            receipts: try purge { connection, last throws(SQLiteFailure) in
                try connection.expiredReceipts(at: time, after: last)
            } removing: { connection, names throws(SQLiteFailure) in
                try connection.removeReceipts(names, expiredAt: time)
            },
            marks: try purge { connection, last throws(SQLiteFailure) in
                try connection.expiredMarks(at: time, after: last)
            } removing: { connection, names throws(SQLiteFailure) in
                try connection.removeMarks(names, expiredAt: time)
            },
            attempts: try purge { connection, last throws(SQLiteFailure) in
                try connection.attempts(begunBy: begun, after: last)
            } removing: { connection, keys throws(SQLiteFailure) in
                try connection.removeAttempts(keys, begunBy: begun)
            },
            auditEntries: try purge { connection, last throws(SQLiteFailure) in
                try connection.accountsWithAudit(before: kept, after: last)
            } removing: { connection, accounts throws(SQLiteFailure) in
                try connection.removeAudit(of: accounts, before: kept)
            })
        try emptyLog()
        return count
    }

    /// What is removed is overwritten with zeros and not only forgotten. Debian's SQLite does so by itself, others do not.
    func overwriteWhatIsRemoved() throws(StoreError) {
        try perform { connection throws(SQLiteFailure) in try connection.execute("PRAGMA secure_delete = ON") }
    }

    /// The log still has the pages as they were. Somebody who reads for long keeps it from being emptied; then the next purge
    /// does it.
    private func emptyLog() throws(StoreError) {
        try perform { connection throws(SQLiteFailure) in try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    /// Goes through the keys that `find` gives, each time those after the last one, and removes them in a transaction each.
    private func purge(
        _ find: (borrowing Connection, _ last: [UInt8]) throws(SQLiteFailure) -> [[UInt8]],
        removing remove: (borrowing Connection, [[UInt8]]) throws(SQLiteFailure) -> Int
    ) throws(StoreError) -> Int {
        var count = 0
        var last: [UInt8] = []
        while true {
            let found = try perform { connection throws(SQLiteFailure) in try find(connection, last) }
            guard let end = found.last else { return count }
            count += try transaction { connection throws(SQLiteFailure) in try remove(connection, found) }
            last = end
        }
    }

    package func accounts(after last: UUIDv7?, limit: Int) throws(StoreError) -> [Account] {
        try perform { connection throws(SQLiteFailure) in try connection.accounts(after: last, limit: limit) }
    }

    package func hasCurrentSchema() throws(StoreError) -> Bool {
        do throws(SQLiteFailure) {
            if file.exists { try file.checkProtection() }
            guard let connection = try Connection.open(file.path, patience: patience) else { return false }
            return try connection.hasCurrentSchema()
        } catch {
            throw error.error(for: file.path)
        }
    }

    package func check() throws(StoreError) -> String {
        do throws(SQLiteFailure) {
            if file.exists { try file.checkProtection() }
            guard let connection = try Connection.open(file.path, patience: patience) else {
                try file.checkThatItCanBeCreated()
                return "SQLite \(file.path): does not exist yet, the first sign-in creates it"
            }
            // The lock that a sign-in needs is taken and given back: whether one may write is not known before.
            let version = try connection.transaction { connection throws(SQLiteFailure) in
                try connection.schemaVersion()
            }
            guard version > 0 else { return "SQLite \(file.path): empty, the first sign-in creates the schema" }
            guard try connection.text("PRAGMA quick_check(1)") == "ok" else {
                throw .unusable("the file is damaged: restore it from a backup")
            }
            let accounts = try connection.integer("SELECT count(*) FROM accounts") ?? 0
            let sessions = try connection.integer("SELECT count(*) FROM sessions") ?? 0
            let schema =
                version == Schema.steps.count
                ? "schema \(version)" : "schema \(version), to become \(Schema.steps.count)"
            return "SQLite \(file.path): \(schema), \(accounts) accounts, \(sessions) sessions"
        } catch {
            throw error.error(for: file.path)
        }
    }
}
#endif
