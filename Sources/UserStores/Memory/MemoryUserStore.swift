package import Accounts
package import JOSE

/// Accounts and sessions in this process only, gone when it ends: for tests and for a first look.
///
/// It keeps the rules of the durable stores, so that what passes here is not refused there.
package final class MemoryUserStore: UserStore {
    /// By the bytes of `sub`: Swift holds two spellings of one letter equal, databases do not, and neither does Apple.
    var accounts: [[UInt8]: Account] = [:]
    var sessions: [UUIDv7: Session] = [:]

    package init() {}

    package func signIn(
        _ candidate: Account, opening session: (Account) -> Session
    ) throws(StoreError) -> (account: Account, isNew: Bool, session: Session) {
        let subject = Array(candidate.appleSubject.utf8)
        let known = accounts[subject]
        let account = known?.learning(candidate.profile, at: candidate.updatedAt) ?? candidate
        let opened = session(account)
        guard opened.accountID == account.id, sessions[opened.id] == nil else {
            throw .unusable(reason: "memory: the session's id is taken, or it is another account's")
        }
        accounts[subject] = account
        sessions[opened.id] = opened
        return (account, known == nil, opened)
    }

    package func account(_ id: UUIDv7) throws(StoreError) -> Account? {
        accounts.values.first { $0.id == id }
    }

    package func session(_ id: UUIDv7) throws(StoreError) -> Session? {
        sessions[id]
    }

    package func migrate() throws(StoreError) -> SchemaChange {
        SchemaChange(from: 0, to: 0)
    }

    package func purge(before time: UnixTime) throws(StoreError) -> PurgeCount {
        let before = sessions.count
        sessions = sessions.filter { $0.value.expiresAt > time }
        return PurgeCount(sessions: before - sessions.count)
    }

    package func check() throws(StoreError) -> String {
        "memory: \(accounts.count) accounts, \(sessions.count) sessions; all is lost when the process ends"
    }
}
