package import Accounts
package import JOSE

/// A repository as its operator sees it: what `auth-apple check` and `auth-apple store` ask of it.
///
/// A store is made for one thread. Nothing is opened, created or read before the first method is called, so that a request
/// that is refused never pays for a database.
package protocol UserStore: UserRepository, AttemptCounter {
    /// Creates or upgrades the schema. Doing it again changes nothing.
    func migrate() throws(StoreError) -> SchemaChange

    /// Removes what had expired at `time`: sessions, receipts, marks, windows of attempts, and audit entries that were then older
    /// than `auditDays`. It works in small transactions, so that sign-ins go on meanwhile.
    func purge(before time: UnixTime, auditDays: Int64) throws(StoreError) -> PurgeCount

    /// The accounts by their ids, those after `last`.
    func accounts(after last: UUIDv7?, limit: Int) throws(StoreError) -> [Account]

    /// Writes what another store held, as one transaction. False, and nothing is written, where something has its id or its `sub`
    /// already, or an account had it and was deleted. A mark is remembered for the longer of two times.
    func restore(_ entry: StoreEntry) throws(StoreError) -> Bool

    /// Gives what belongs to no account that is there, until `body` says no: the audits of deleted ones, and the marks that had not
    /// expired at `time`.
    func forEachLoneEntry(at time: UnixTime, _ body: (StoreEntry) -> Bool) throws(StoreError)

    /// Looks at the store without changing it, and tells in one line what it found. What would keep a sign-in from being
    /// carried out and kept safe is thrown, with the remedy.
    func check() throws(StoreError) -> String

    /// Whether the schema is as this program makes it, looked at without changing it: any request makes or upgrades one that is not.
    func hasCurrentSchema() throws(StoreError) -> Bool

    /// Lets go of what is open; the next call opens it anew. Before the process forks: no connection may be used on both sides.
    func close()
}

extension UserStore {
    /// Of a store in which requests make nothing of the kind.
    package func hasCurrentSchema() throws(StoreError) -> Bool { true }

    /// Keeps the audit for 400 days: a year, and the time to look back on it.
    package func purge(before time: UnixTime) throws(StoreError) -> PurgeCount {
        try purge(before: time, auditDays: 400)
    }
}

/// The schema's version before and after; version 0 is an empty store.
package struct SchemaChange: Hashable, Sendable {
    package let from: Int
    package let to: Int

    package init(from: Int, to: Int) {
        self.from = from
        self.to = to
    }
}

/// How much a purge removed, of each kind.
package struct PurgeCount: Hashable, Sendable {
    package var sessions: Int
    package var receipts: Int
    package var marks: Int
    package var attempts: Int
    package var auditEntries: Int

    package init(sessions: Int = 0, receipts: Int = 0, marks: Int = 0, attempts: Int = 0, auditEntries: Int = 0) {
        self.sessions = sessions
        self.receipts = receipts
        self.marks = marks
        self.attempts = attempts
        self.auditEntries = auditEntries
    }
}
