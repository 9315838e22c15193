package import JOSE

/// Where accounts and sessions are kept. Each method is one transaction: it is done and durable when it returns, or it is
/// not done at all when it throws. Closures run inside it, decide, and do nothing else; a store may run one again.
package protocol UserRepository: AppleGrantRepository {
    /// Finds the account that `lookup` names and carries out what `open` answers for it, or for nobody; on nil nothing is done
    /// at all.
    ///
    /// If the receipt that `repetition` names is remembered and has not expired at `now`, nothing is done but giving it back:
    /// the request is the repetition of one that was carried out. Else, if one of `marks` is remembered, nothing is done; if
    /// none is, all are remembered with the rest. Nor is anything done where the person left after what proves them was issued:
    /// where a mark of the name of `departure` is remembered for longer than this one, and not beyond `Departure.latestEnd`.
    ///
    /// `appleSubject` and `transferSubject` are unique in the store itself: of any number of first logins at once exactly one
    /// finds nobody. An account whose `appleSubject` becomes another loses its grants, which were the other team's.
    func signIn(
        _ lookup: AppleLookup, since departure: Mark?, repeating repetition: [UInt8]?, once marks: [Mark],
        at now: UnixTime, _ open: (_ known: Account?) -> Opening?
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

    /// Reads an account and all its sessions, the youngest first, and carries out what `decide` answers. Nothing happens when
    /// there is no such account, nor when `mark` is remembered; else it is remembered with the rest.
    func change(
        account key: AccountKey, once mark: Mark?, at now: UnixTime,
        _ decide: (Account, [Session]) -> AccountChange
    ) throws(StoreError) -> ChangeOutcome

    /// What the audit says of an account, the oldest first.
    func audit(of accountID: UUIDv7) throws(StoreError) -> [AuditEntry]

    /// Ends all sessions of an account but one, with an audit entry each that `audit` makes. Returns how many.
    func endSessions(
        of accountID: UUIDv7, except kept: UUIDv7?, audit: (Session) -> AuditEntry
    ) throws(StoreError) -> Int
}

/// By what a sign-in finds its account, in this order. The first that fits counts.
package struct AppleLookup: Hashable, Sendable {
    /// `sub` of the verified token.
    package var subject: String
    /// `transfer_sub` of the verified token: an account whose `transferSubject` it is.
    package var transferSubject: String?
    /// Where linking is configured, an address that Apple verified and that is no relay's: an account that has this address,
    /// verified, and no `appleSubject`. Only a users table of the owner's can hold one.
    package var verifiedEmail: String?

    package init(subject: String, transferSubject: String? = nil, verifiedEmail: String? = nil) {
        self.subject = subject
        self.transferSubject = transferSubject
        self.verifiedEmail = verifiedEmail
    }
}

package enum AccountKey: Hashable, Sendable {
    case id(UUIDv7)
    case appleSubject(String)
}

/// What is to happen once and never again, whatever process comes with it: the name is remembered until it can do no harm.
package struct Mark: Hashable, Sendable {
    /// 32 bytes that tell nothing of what they name.
    package let name: [UInt8]
    package let expiresAt: UnixTime

    package init(name: [UInt8], expiresAt: UnixTime) {
        precondition(name.count == 32, "a mark is named by a digest")
        self.name = name
        self.expiresAt = expiresAt
    }
}

/// What a sign-in leaves in the store.
package struct Opening {
    /// Inserted where nobody was found; else what can change of it is written.
    package var account: Account
    /// Nil when the account may not sign in.
    package var session: Session?
    package var audit: [AuditEntry]
    package var receipt: Receipt?

    package init(account: Account, session: Session?, audit: [AuditEntry], receipt: Receipt? = nil) {
        self.account = account
        self.session = session
        self.audit = audit
        self.receipt = receipt
    }
}

package enum SignInOutcome {
    /// What `open` answered was carried out.
    case done
    /// The receipt of the request that this one repeats.
    case repeated(Receipt)
    /// A mark was there already.
    case spent
    /// A mark is there of a later departure.
    case departed
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
    /// What can change is written, and those sessions end. Where one ends, where the account is disabled and where consent is
    /// withdrawn, no repetition of a sign-in gets its tokens again.
    case update(Account, ending: [Session] = [], withdrawal: Withdrawal? = nil, audit: [AuditEntry])
    /// The account goes with its sessions and all personal data. Of the audit remains what happened and when, without the
    /// addresses that requests came from. Its grants become revocations where `revoking` says so, and go otherwise.
    ///
    /// - Parameter remembering: what is left of it (see `Departure`). One of the same name that is remembered for longer stays.
    case delete(revoking: Bool, remembering: Mark?, AuditEntry)
}

/// That the person has withdrawn at Apple what they had granted.
package struct Withdrawal {
    /// Grants that Apple gave until then are worth nothing any more; those go.
    package let end: UnixTime
    /// What is left of it (see `Departure`). One of the same name that is remembered for longer stays.
    package let departure: Mark?

    package init(until end: UnixTime, remembering departure: Mark?) {
        self.end = end
        self.departure = departure
    }
}

package enum ChangeOutcome: Hashable, Sendable {
    /// What was decided was carried out; so many grants are to be revoked.
    case done(revocations: Int)
    /// The mark was there already.
    case spent
    case noAccount
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
