internal import AppleID
internal import JOSE

/// What one event at Apple means for an account, as the account is when we hear of it.
struct AppleEvent {
    private let notification: AppleNotification
    /// When it happened. What has not happened yet, by more than clocks may differ, happened just now: an event of next year
    /// would outdate all that come until then.
    private let time: UnixTime
    /// What began later than this began after the event.
    private let end: UnixTime
    private let cryptography: any Cryptography
    private let origin: AuditEntry.Origin
    private let now: UnixTime

    init(
        _ notification: AppleNotification, leewaySeconds: Int64, cryptography: any Cryptography,
        origin: AuditEntry.Origin, now: UnixTime
    ) {
        self.notification = notification
        time = min(notification.time, now.adding(seconds: leewaySeconds))
        end = time.adding(seconds: leewaySeconds)
        self.cryptography = cryptography
        self.origin = origin
        self.now = now
    }

    func change(of account: Account, _ sessions: [Session]) -> (AppleNotifications.Outcome, AccountChange) {
        // The person was deleted since, and came back: the event was about the account before.
        guard account.createdAt <= end else { return (.outdated, .keep) }
        switch notification.kind {
        case .consentRevoked: return revocation(of: account, sessions)
        case .accountDeleted:
            // There is nothing left at Apple to revoke.
            let entry = entry(.accountDeleted, of: account, reason: "apple")
            return (.accountDeleted, .delete(revoking: false, remembering: departure(of: account), entry))
        case .emailDisabled: return forwarding(of: account, isOn: false)
        case .emailEnabled: return forwarding(of: account, isOn: true)
        case .unknown: return (.unknownType, .keep)
        }
    }

    private func revocation(
        of account: Account, _ sessions: [Session]
    ) -> (AppleNotifications.Outcome, AccountChange) {
        let ending = sessions.filter { $0.createdAt <= end }
        let withdrawal = Withdrawal(until: end, remembering: departure(of: account))
        var audit = ending.map { entry(.sessionEnded, of: account, session: $0.id, reason: "consent_revoked") }
        guard ending.count == sessions.count else {
            return (.consentRevokedEarlier, .update(account, ending: ending, withdrawal: withdrawal, audit: audit))
        }
        var account = account
        account.consentRevokedAt = max(account.consentRevokedAt ?? time, time)
        audit.append(entry(.consentRevoked, of: account))
        return (.consentRevoked, .update(account, ending: ending, withdrawal: withdrawal, audit: audit))
    }

    /// Apple's word on an address that we lack is taken; one that we have stays, since sign-ins say which it is, and these
    /// events only whether mail gets there.
    private func forwarding(of account: Account, isOn: Bool) -> (AppleNotifications.Outcome, AccountChange) {
        if let known = account.forwarding, known.since > time { return (.outdated, .keep) }
        var account = account
        if account.profile.email == nil, let email = notification.email {
            account = account.learning(Profile(email: email), at: now)
        }
        account.forwarding = EmailForwarding(isOn: isOn, since: time)
        return (
            isOn ? .emailForwardingOn : .emailForwardingOff,
            .update(account, audit: [entry(isOn ? .emailForwardingOn : .emailForwardingOff, of: account)])
        )
    }

    private func departure(of account: Account) -> Mark? {
        Departure.mark(of: account, at: time, using: cryptography)
    }

    private func entry(
        _ event: AuditEntry.Event, of account: Account, session: UUIDv7? = nil, reason: String? = nil
    ) -> AuditEntry {
        AuditEntry(event, of: account, session: session, reason: reason, origin: origin, at: now)
    }
}
