/// Where accounts and sessions are kept. Each method is one transaction: it is done and durable when it returns, or it is
/// not done at all when it throws.
package protocol UserRepository {
    /// Finds the account of `candidate.appleSubject` or inserts `candidate`, lets it learn what this login brought
    /// (`Account.learning`), and opens a session on it.
    ///
    /// `appleSubject` is unique in the store itself: of any number of first logins at once exactly one inserts. Whether this
    /// one did is what the store says.
    ///
    /// - Parameter session: makes the session for the account that was found or inserted.
    func signIn(
        _ candidate: Account, opening session: (Account) -> Session
    ) throws(StoreError) -> (account: Account, isNew: Bool, session: Session)
}

/// The store could not do what was asked. The request was not carried out.
package enum StoreError: Error, Hashable {
    /// Busy, unreachable, full, read-only: trying again later may help. The reason is for the log and holds no value of a
    /// request.
    case unavailable(reason: String)
    /// What the store holds is not what this program wrote: another or a newer schema, a damaged row.
    case unusable(reason: String)
}
