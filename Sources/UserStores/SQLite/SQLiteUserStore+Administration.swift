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

    /// Sessions are found in the order of their ids, a few hundred at a time, and removed in a transaction each. An id says
    /// when it was made, so the search ends where all sessions are younger than `time`.
    package func purge(before time: UnixTime) throws(StoreError) -> PurgeCount {
        var count = PurgeCount()
        var last: [UInt8] = []
        let end = UUIDv7(at: time, random: Array(repeating: 0, count: 10)).bytes
        while true {
            let expired = try perform { connection throws(SQLiteFailure) in
                try connection.expiredSessions(at: time, after: last, before: end, limit: 500)
            }
            guard let newest = expired.last else { return count }
            count.sessions += try transaction { connection throws(SQLiteFailure) in
                try connection.removeSessions(expired, expiredAt: time)
            }
            last = newest
        }
    }

    package func check() throws(StoreError) -> String {
        do throws(SQLiteFailure) {
            guard let connection = try Connection.open(file.path, patience: patience) else {
                try file.checkThatItCanBeCreated()
                return "SQLite \(file.path): does not exist yet, the first sign-in creates it"
            }
            try file.checkProtection()
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
