package import AppleID
package import JOSE

/// A person as we know them. Apple's `sub` identifies; nothing else does.
package struct Account: Hashable, Sendable {
    package let id: UUIDv7
    /// Nil only in a users table of the owner's, for who has never signed in with Apple.
    package private(set) var appleSubject: String?
    /// The name that Apple gave the person for the move of the app to another team (TN3159): by it the account is found once,
    /// when they sign in there under another `sub`.
    package var transferSubject: String?
    package private(set) var profile: Profile
    package let createdAt: UnixTime
    package private(set) var updatedAt: UnixTime
    /// Since when the account may not be used, by the operator's will.
    package var disabledAt: UnixTime?
    /// When the person told Apple to stop; nil again after their next sign-in.
    package var consentRevokedAt: UnixTime?
    /// Whether Apple passes on mail to the relay address, as it last said.
    package var forwarding: EmailForwarding?

    package var isDisabled: Bool { disabledAt != nil }

    package init(
        id: UUIDv7, appleSubject: String?, transferSubject: String? = nil, profile: Profile, createdAt: UnixTime,
        updatedAt: UnixTime, disabledAt: UnixTime? = nil, consentRevokedAt: UnixTime? = nil,
        forwarding: EmailForwarding? = nil
    ) {
        self.id = id
        self.appleSubject = appleSubject
        self.transferSubject = transferSubject
        self.profile = profile
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.disabledAt = disabledAt
        self.consentRevokedAt = consentRevokedAt
        self.forwarding = forwarding
    }

    /// The account after another login that brought `newer`; equal to this one when it brought nothing new.
    package func learning(_ newer: Profile, at now: UnixTime) -> Account {
        var account = self
        account.profile = profile.filled(from: newer)
        if account.profile != profile { account.updatedAt = now }
        return account
    }

    /// Whether this is the same account under another `sub`.
    package func isRebound(from known: Account) -> Bool {
        guard let old = known.appleSubject else { return false }
        return appleSubject?.isIdentical(to: old) != true
    }

    /// The account under the `sub` that it has from now on.
    package func bound(to subject: String, at now: UnixTime) -> Account {
        var account = self
        account.appleSubject = subject
        account.transferSubject = nil
        account.updatedAt = now
        return account
    }
}

/// What Apple's notifications say of mail to a person (email-disabled, email-enabled).
package struct EmailForwarding: Hashable, Sendable {
    package var isOn: Bool
    /// `event_time`: what an older notification says does not count any more.
    package var since: UnixTime

    package init(isOn: Bool, since: UnixTime) {
        self.isOn = isOn
        self.since = since
    }
}

/// What a person is called and where they can be reached.
package struct Profile: Hashable, Sendable {
    /// Unverified text that the app sent.
    package var fullName: String?
    /// From Apple's token only.
    package var email: AppleEmail?
    /// An address that the app sent while the token carried none: unverified, never identity, never shown as `email`.
    package var contactEmail: String?

    package init(fullName: String? = nil, email: AppleEmail? = nil, contactEmail: String? = nil) {
        self.fullName = fullName
        self.email = email
        self.contactEmail = contactEmail
    }

    /// Nothing never overwrites something, and what was empty is filled when it comes later, because the answer to the
    /// first login may have been lost. A name once stored stays: the body that brings another is not verified. The
    /// address follows Apple's token, which is.
    func filled(from newer: Profile) -> Profile {
        Profile(
            fullName: fullName ?? newer.fullName, email: newer.email ?? email,
            contactEmail: contactEmail ?? newer.contactEmail)
    }
}
