import Accounts
import AppleID
import JOSE

/// A store that fails as it is told to.
package struct FailingUsers: UserRepository, AttemptCounter {
    private let error: StoreError

    package init(error: StoreError) { self.error = error }

    package func signIn(
        _ lookup: AppleLookup, since departure: Mark?, repeating repetition: [UInt8]?, once marks: [Mark],
        at now: UnixTime, _ open: (_ known: Account?) -> Opening?
    ) throws(StoreError) -> SignInOutcome { throw error }
    package func account(_ id: UUIDv7) throws(StoreError) -> Account? { throw error }
    package func session(_ id: UUIDv7) throws(StoreError) -> (Session, Account)? { throw error }
    package func change(session id: UUIDv7, _ decide: (Session, Account) -> SessionChange) throws(StoreError) {
        throw error
    }
    package func sessions(of accountID: UUIDv7, at time: UnixTime) throws(StoreError) -> [Session] { throw error }
    package func change(
        account key: AccountKey, once mark: Mark?, at now: UnixTime, _ decide: (Account, [Session]) -> AccountChange
    ) throws(StoreError) -> ChangeOutcome { throw error }
    package func audit(of accountID: UUIDv7) throws(StoreError) -> [AuditEntry] { throw error }
    package func endSessions(
        of accountID: UUIDv7, except kept: UUIDv7?, audit: (Session) -> AuditEntry
    ) throws(StoreError) -> Int { throw error }
    package func keep(_ grant: AppleGrant) throws(StoreError) { throw error }
    package func grants(of accountID: UUIDv7) throws(StoreError) -> [AppleGrant] { throw error }
    package func replace(_ old: AppleGrant, by new: AppleGrant) throws(StoreError) { throw error }
    package func takeRevocations(due now: UnixTime, limit: Int) throws(StoreError) -> [Revocation] { throw error }
    package func finish(_ revocation: Revocation) throws(StoreError) { throw error }
    package func revocations(limit: Int) throws(StoreError) -> [Revocation] { throw error }
    package func count(_ key: AttemptKey, window: UnixTime, of seconds: Int64) throws(StoreError) -> Int64 {
        throw error
    }
}
