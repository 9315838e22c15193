package import AppleID
package import JOSE

/// A person as we know them. Apple's `sub` identifies; nothing else does.
package struct Account: Hashable, Sendable {
    package let id: UUIDv7
    package let appleSubject: String
    package private(set) var profile: Profile
    package let createdAt: UnixTime
    package private(set) var updatedAt: UnixTime
    /// Since when the account may not be used, by the operator's will.
    package var disabledAt: UnixTime?

    package var isDisabled: Bool { disabledAt != nil }

    package init(
        id: UUIDv7, appleSubject: String, profile: Profile, createdAt: UnixTime, updatedAt: UnixTime,
        disabledAt: UnixTime? = nil
    ) {
        self.id = id
        self.appleSubject = appleSubject
        self.profile = profile
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.disabledAt = disabledAt
    }

    /// The account after another login that brought `newer`; equal to this one when it brought nothing new.
    package func learning(_ newer: Profile, at now: UnixTime) -> Account {
        var account = self
        account.profile = profile.filled(from: newer)
        if account.profile != profile { account.updatedAt = now }
        return account
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
