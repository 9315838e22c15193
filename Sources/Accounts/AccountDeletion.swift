package import JOSE

/// Deletes one's own account, with all that is held of the person (App Store Review Guideline 5.1.1(v)).
///
/// It wants a session whose sign-in is young: a phone left on a table must not be enough. A disabled account is not deleted
/// by its owner: signing in again would make another that is not disabled. The operator can.
package struct AccountDeletion {
    /// How old the sign-in of the session may be.
    package let maximumSessionSeconds: Int64
    private let users: any UserRepository
    private let sessions: Sessions
    private let cryptography: any Cryptography

    package init(
        maximumSessionSeconds: Int64, users: any UserRepository, sessions: Sessions, cryptography: any Cryptography
    ) {
        self.maximumSessionSeconds = maximumSessionSeconds
        self.users = users
        self.sessions = sessions
        self.cryptography = cryptography
    }

    package struct Deleted: Sendable {
        /// As it was.
        package let account: Account
        /// How many grants Apple is to be told of; with none the person has to revoke by hand.
        package let revocations: Int
    }

    package func callAsFunction(
        accessToken: String?, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(DeletionFailure) -> Deleted {
        let (account, session): (Account, Session)
        do throws(SessionFailure) {
            (account, session) = try sessions.current(accessToken: accessToken, at: now)
        } catch {
            throw .session(error)
        }
        guard now <= session.createdAt.adding(seconds: maximumSessionSeconds) else {
            throw .sessionTooOld(maximumSeconds: maximumSessionSeconds)
        }
        // The session may end, and the account be disabled, between the two looks; the second is the one that counts.
        var refusal: SessionFailure?
        let outcome: ChangeOutcome
        do throws(StoreError) {
            outcome = try users.change(account: .id(account.id), once: nil, at: now) { account, sessions in
                guard sessions.contains(where: { $0.id == session.id }) else {
                    refusal = .refused(.sessionUnknown)
                    return .keep
                }
                guard !account.isDisabled else {
                    refusal = .accountDisabled
                    return .keep
                }
                refusal = nil
                return .delete(
                    revoking: true,
                    remembering: Departure.mark(of: account, at: now, using: cryptography),
                    AuditEntry(
                        .accountDeleted, of: account, session: session.id, reason: "owner", origin: origin, at: now))
            }
        } catch {
            throw .session(.store(error))
        }
        if let refusal { throw .session(refusal) }
        guard case .done(let revocations) = outcome else { throw .session(.refused(.sessionUnknown)) }
        return Deleted(account: account, revocations: revocations)
    }
}

package enum DeletionFailure: Error, Hashable {
    case session(SessionFailure)
    /// The person is to sign in again first.
    case sessionTooOld(maximumSeconds: Int64)
}
