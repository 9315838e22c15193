package import JOSE

/// Where accounts and sessions are kept. Each method is one transaction: it is done and durable when it returns, or it is
/// not done at all when it throws. Closures run inside it, decide, and do nothing else; a store may run one again.
package protocol UserRepository {
    /// Finds the account of `candidate.appleSubject` or inserts `candidate`, lets it learn what this login brought
    /// (`Account.learning`), and carries out what `open` answers.
    ///
    /// `appleSubject` is unique in the store itself: of any number of first logins at once exactly one inserts. Whether this
    /// one did is what the store says.
    func signIn(
        _ candidate: Account, _ open: (_ account: Account, _ isNew: Bool) -> Opening
    ) throws(StoreError) -> (account: Account, isNew: Bool)

    /// The account with this id.
    func account(_ id: UUIDv7) throws(StoreError) -> Account?

    /// The session with this id, and its account.
    func session(_ id: UUIDv7) throws(StoreError) -> (Session, Account)?

    /// Reads the session and its account, and carries out what `decide` answers: no other change comes between. Nothing
    /// happens when there is no such session.
    func change(
        session id: UUIDv7, _ decide: (Session, Account) -> SessionChange
    ) throws(StoreError)

    /// The sessions of an account that had not expired at `time`, the youngest first.
    func sessions(of accountID: UUIDv7, at time: UnixTime) throws(StoreError) -> [Session]

    /// Ends all sessions of an account but one, with an audit entry each that `audit` makes. Returns how many.
    func endSessions(
        of accountID: UUIDv7, except kept: UUIDv7?, audit: (Session) -> AuditEntry
    ) throws(StoreError) -> Int
}

/// What a sign-in leaves in the store besides the account.
package struct Opening {
    /// Nil when the account may not sign in.
    package var session: Session?
    package var audit: [AuditEntry]

    package init(session: Session?, audit: [AuditEntry]) {
        self.session = session
        self.audit = audit
    }
}

/// What becomes of a session.
package enum SessionChange {
    case keep
    /// Its refresh state and last use are written.
    case update(Session)
    /// It is removed, with what the audit says of it.
    case end(AuditEntry)
}

/// The store could not do what was asked. The request was not carried out.
package enum StoreError: Error, Hashable {
    /// Busy, unreachable, full, read-only: trying again later may help. The reason is for the log and holds no value of a
    /// request.
    case unavailable(reason: String)
    /// What the store holds is not what this program wrote: another or a newer schema, a damaged row.
    case unusable(reason: String)
}
