package import JOSE

/// One line of the audit: what happened to an account or a session, when, and on whose request. Entries are added and never
/// changed. They hold no token, no e-mail and no name.
package struct AuditEntry: Hashable, Sendable {
    package enum Event: String, Hashable, Sendable, CaseIterable {
        case accountCreated = "account_created"
        case signedIn = "signed_in"
        case signInRefused = "sign_in_refused"
        case refreshReused = "refresh_reused"
        case loggedOut = "logged_out"
        case sessionEnded = "session_ended"
        case accountDisabled = "account_disabled"
        case accountEnabled = "account_enabled"
        case accountDeleted = "account_deleted"
        case accountTransferred = "account_transferred"
        case accountLinked = "account_linked"
        case consentRevoked = "consent_revoked"
        case consentRestored = "consent_restored"
        case emailForwardingOff = "email_forwarding_off"
        case emailForwardingOn = "email_forwarding_on"
    }

    package var time: UnixTime
    package var event: Event
    package var accountID: UUIDv7
    package var sessionID: UUIDv7?
    /// A word of ours that says why, where the event does not.
    package var reason: String?
    package var origin: Origin

    package init(
        time: UnixTime, event: Event, accountID: UUIDv7, sessionID: UUIDv7? = nil, reason: String? = nil, origin: Origin
    ) {
        self.time = time
        self.event = event
        self.accountID = accountID
        self.sessionID = sessionID
        self.reason = reason
        self.origin = origin
    }

    init(
        _ event: Event, of account: Account, session: UUIDv7? = nil, reason: String? = nil, origin: Origin,
        at time: UnixTime
    ) {
        self.init(
            time: time, event: event, accountID: account.id, sessionID: session, reason: reason, origin: origin)
    }

    /// Where a request came from, by the runtime's word.
    package struct Origin: Hashable, Sendable {
        package var requestID: String
        package var sourceAddress: String?

        package init(requestID: String, sourceAddress: String? = nil) {
            self.requestID = requestID
            self.sourceAddress = sourceAddress
        }
    }
}
