internal import JOSE

/// A person has let an app in. It lasts until the person takes it back, the app revokes its token, or the account is
/// deleted; only the first sign-in under it gives the name away.
struct Consent: Hashable {
    var person: String
    var client: String
    /// Hide My Email; chosen once, as with Apple.
    var hidesEmail: Bool
    /// Whether mail to the relay address is passed on.
    var isForwarding = true
}

extension Consent {
    init?(_ json: JSON) {
        guard let person = json["person"]?.string, let client = json["client"]?.string,
            let hidesEmail = json["hides_email"]?.bool, let isForwarding = json["forwarding"]?.bool
        else { return nil }
        self.init(person: person, client: client, hidesEmail: hidesEmail, isForwarding: isForwarding)
    }

    var json: JSON {
        [
            "person": .string(person), "client": .string(client), "hides_email": .bool(hidesEmail),
            "forwarding": .bool(isForwarding),
        ]
    }
}
