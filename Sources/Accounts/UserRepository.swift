package import JOSE

/// Where accounts and sessions are kept. Each method is one transaction: it is done and durable when it returns, or it is
/// not done at all when it throws. Closures run inside it, decide, and do nothing else; a store may run one again.
package protocol UserRepository {
    /// Finds the account of `candidate.appleSubject` or inserts `candidate`, lets it learn what this login brought
    /// (`Account.learning`), and carries out what `open` answers; on nil nothing is done at all.
    ///
    /// If a receipt of that name is remembered that has not expired at `candidate.updatedAt`, nothing is done but giving it
    /// back: the request is the repetition of one that was carried out.
    ///
    /// `appleSubject` is unique in the store itself: of any number of first logins at once exactly one inserts. Whether this
    /// one did is what the store says.
    func signIn(
        _ candidate: Account, receipt name: [UInt8]?, _ open: (_ account: Account, _ isNew: Bool) -> Opening?
    ) throws(StoreError) -> SignInOutcome

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

    /// Reads the account and carries out what `decide` answers. Nothing happens when there is no such account.
    func change(account id: UUIDv7, _ decide: (Account) -> AccountChange) throws(StoreError)

    /// What the audit says of an account, the oldest first.
    func audit(of accountID: UUIDv7) throws(StoreError) -> [AuditEntry]

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
    package var receipt: Receipt?

    package init(session: Session?, audit: [AuditEntry], receipt: Receipt? = nil) {
        self.session = session
        self.audit = audit
        self.receipt = receipt
    }
}

package enum SignInOutcome {
    /// What `open` answered was carried out for this account.
    case done(Account, isNew: Bool)
    /// The receipt of the request that this one repeats.
    case repeated(Receipt)
    /// `open` answered nil.
    case nothing
}

/// The answer to a request, sealed, so that a repetition gets it again (see `Idempotency`).
package struct Receipt: Hashable, Sendable {
    /// Names the request without telling anything of it: 32 bytes.
    package let name: [UInt8]
    /// Can be opened only with what the client sent.
    package let sealed: [UInt8]
    package let expiresAt: UnixTime

    package init(name: [UInt8], sealed: [UInt8], expiresAt: UnixTime) {
        self.name = name
        self.sealed = sealed
        self.expiresAt = expiresAt
    }
}

/// What becomes of an account.
package enum AccountChange {
    case keep
    /// `disabledAt` is written; when it is set, all sessions end.
    case update(Account, AuditEntry)
    /// The account goes with its sessions and all personal data. Of the audit remains what happened and when, without the
    /// addresses that requests came from.
    case delete(AuditEntry)
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
