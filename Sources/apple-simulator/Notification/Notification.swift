internal import JOSE

/// What Apple tells an app's server of its own accord: a signed token whose `events` is a JSON text of one object.
struct Notification {
    enum Kind: String, CaseIterable {
        case consentRevoked = "consent-revoked"
        /// Seen in use; the current page says `account-deleted`.
        case accountDelete = "account-delete"
        case accountDeleted = "account-deleted"
        case emailDisabled = "email-disabled"
        case emailEnabled = "email-enabled"

        var isAboutEmail: Bool {
            switch self {
            case .emailDisabled, .emailEnabled: true
            case .consentRevoked, .accountDelete, .accountDeleted: false
            }
        }

        static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
    }

    /// A day.
    static let lifetime: Int64 = 86_400

    /// One of `Kind`, or what there is none of.
    var type: String
    var subject: String
    var audience: String
    var time: UnixTime
    /// For the types about e-mail.
    var email: String?
    var isPrivateEmail: JSON?
    /// Unguessable, and new each time unless it is to be the same.
    var id: String

    /// The event itself; its time is in milliseconds.
    var event: JSON.Object {
        var event: JSON.Object = [
            "type": .string(type), "sub": .string(subject), "event_time": .integer(time.milliseconds),
        ]
        if let email {
            event["email"] = .string(email)
            event["is_private_email"] = isPrivateEmail ?? "true"
        }
        return event
    }

    var claims: JSON.Object {
        [
            "iss": .string(IdentityToken.issuer), "aud": .string(audience),
            "exp": .integer(time.seconds + Self.lifetime), "iat": .integer(time.seconds), "jti": .string(id),
            "events": .string(JSON.object(event).text),
        ]
    }

    static func newID(using cryptography: any Cryptography) throws(CryptographyError) -> String {
        Base64URL.encode(try cryptography.randomBytes(18))
    }

    /// As it is posted.
    static func body(_ token: String) -> JSON { ["payload": .string(token)] }
}
