#if PostgreSQL
internal import Accounts
internal import AppleID
internal import JOSE

extension SQLRow {
    func account() throws(PostgreSQLFailure) -> Account {
        guard let id = try id("id"), let createdAt = try time("created_at"), let updatedAt = try time("updated_at")
        else {
            throw .unusable("an account has no id, created_at or updated_at")
        }
        var profile = Profile(fullName: try text("full_name"), contactEmail: try text("contact_email"))
        if let address = try text("email") {
            profile.email = AppleEmail(
                address: address, isVerified: try bool("email_verified"),
                isPrivate: try bool("is_private_email") ?? false)
        }
        var forwarding: EmailForwarding?
        if let isOn = try bool("email_forwarding"), let since = try time("email_forwarding_since") {
            forwarding = EmailForwarding(isOn: isOn, since: since)
        }
        return Account(
            id: id, appleSubject: try text("apple_sub"), transferSubject: try text("transfer_sub"), profile: profile,
            createdAt: createdAt, updatedAt: updatedAt, disabledAt: try time("disabled_at"),
            consentRevokedAt: try time("consent_revoked_at"), forwarding: forwarding)
    }
}

extension Account {
    /// In the order of `AccountQueries.Column`.
    var parameters: [SQLParameter] {
        AccountQueries.Column.allCases.map { column in
            switch column {
            case .id: .uuid(id)
            case .appleSubject: .text(appleSubject)
            case .transferSubject: .text(transferSubject)
            case .fullName: .text(profile.fullName)
            case .email: .text(profile.email?.address)
            case .isEmailVerified: .bool(profile.email?.isVerified)
            case .isPrivateEmail: .bool(profile.email?.isPrivate)
            case .contactEmail: .text(profile.contactEmail)
            case .createdAt: .time(createdAt)
            case .updatedAt: .time(updatedAt)
            case .disabledAt: .time(disabledAt)
            case .consentRevokedAt: .time(consentRevokedAt)
            case .forwarding: .bool(forwarding?.isOn)
            case .forwardingSince: .time(forwarding?.since)
            }
        }
    }
}
#endif
