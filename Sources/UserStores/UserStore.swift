package import Accounts
package import JOSE

/// A repository as its operator sees it: what `auth-apple check` and `auth-apple store` ask of it.
///
/// A store is made for one thread. Nothing is opened, created or read before the first method is called, so that a request
/// that is refused never pays for a database.
package protocol UserStore: UserRepository {
    func account(_ id: UUIDv7) throws(StoreError) -> Account?

    func session(_ id: UUIDv7) throws(StoreError) -> Session?

    /// Creates or upgrades the schema. Doing it again changes nothing.
    func migrate() throws(StoreError) -> SchemaChange

    /// Removes what had expired at `time`. It works in small transactions, so that sign-ins go on meanwhile.
    func purge(before time: UnixTime) throws(StoreError) -> PurgeCount

    /// Looks at the store without changing it, and tells in one line what it found. What would keep a sign-in from being
    /// carried out and kept safe is thrown, with the remedy.
    func check() throws(StoreError) -> String
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

    package init(sessions: Int = 0) {
        self.sessions = sessions
    }
}
