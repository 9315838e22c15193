package import JOSE

/// What Apple tells a server on its own: that a person withdrew, deleted their account, or turned the forwarding of mail off
/// or on. Made of a verified token and of nothing else.
package struct AppleNotification: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case consentRevoked
        case accountDeleted
        case emailDisabled
        case emailEnabled
        /// Apple's word for a kind that came after us, cut to 64 characters.
        case unknown(String)
    }

    /// `jti`: one delivery and all its repetitions.
    package let id: String
    package let kind: Kind
    /// `sub`: the person.
    package let subject: String
    /// When it happened, which may be in another order than it is told.
    package let time: UnixTime
    package let email: AppleEmail?

    package init(_ token: VerifiedAppleToken) throws(AppleNotificationRefusal) {
        guard let id = Self.name("jti", in: token.claims) else { throw .id }
        let event = try Self.event(in: token.claims)
        guard let kind = event["type"]?.string.flatMap(Kind.init) else { throw .kind }
        guard let subject = Self.name("sub", in: event) else { throw .subject }
        guard let time = event["event_time"]?.integer.flatMap(UnixTime.init(eventTime:)) else { throw .time }
        self.id = id
        self.kind = kind
        self.subject = subject
        self.time = time
        email = AppleEmail(claims: event)
    }

    /// Apple sends the one event as a JSON text inside a string, in spite of the plural; an object is taken as well.
    private static func event(in claims: JSON.Object) throws(AppleNotificationRefusal) -> JSON.Object {
        switch claims["events"] {
        case .object(let event)?:
            return event
        case .string(let text)?:
            let limits = JSON.Limits(bytes: CompactJWS.maximumSize, depth: 8)
            guard let json = try? JSON(parsing: Array(text.utf8), limits: limits), let event = json.object else {
                throw .events
            }
            return event
        default:
            throw .events
        }
    }

    private static func name(_ name: String, in object: JSON.Object) -> String? {
        object[name]?.string.flatMap { $0.isEmpty || $0.unicodeScalars.count > 255 ? nil : $0 }
    }
}

/// Why a token of Apple's is no notification.
package enum AppleNotificationRefusal: String, Error, Hashable, Sendable, CaseIterable {
    case id = "jti"
    case events
    case kind = "type"
    case subject = "sub"
    case time = "event_time"
}

extension AppleNotification.Kind {
    /// Nil for an empty word.
    init?(_ word: String) {
        guard !word.isEmpty else { return nil }
        self =
            switch word {
            case "consent-revoked": .consentRevoked
            // Apple's page says the second; what came was the first.
            case "account-delete", "account-deleted": .accountDeleted
            case "email-disabled": .emailDisabled
            case "email-enabled": .emailEnabled
            default: .unknown(String(String.UnicodeScalarView(word.unicodeScalars.prefix(64))))
            }
    }
}

extension UnixTime {
    /// Milliseconds, as Apple sends them. Its page shows seconds; a number too small for milliseconds of this century is one of
    /// those, or the two would not be in order.
    init?(eventTime number: Int64) {
        switch number {
        case 1..<100_000_000_000: self.init(seconds: number)
        case 100_000_000_000..<100_000_000_000_000: self.init(milliseconds: number)
        default: return nil
        }
    }
}
