internal import JOSE

/// A person changes something at Apple, and the app is told.
extension StandIn {
    /// What the notification is about.
    struct Occasion {
        var kind: Notification.Kind
        var subject: String
        var client: String
        /// Nil for a subject that this simulator does not know.
        var person: Person?
    }

    /// Does here what the person has done at Apple, and makes the notification that says so.
    func notify(_ occasion: Occasion, in memory: inout Memory) throws -> String {
        var notification = Notification(
            type: occasion.kind.rawValue, subject: occasion.subject, audience: occasion.client, time: System.now(),
            id: try Notification.newID(using: cryptography))
        if occasion.kind.isAboutEmail {
            // The types about e-mail are about the relay's, which is all that Apple can pass on or not.
            notification.email = IdentityToken.relayAddress(of: occasion.subject, using: cryptography)
        }
        if let person = occasion.person { happen(occasion, to: person, in: &memory) }
        return try signed(notification.claims)
    }

    private func happen(_ occasion: Occasion, to person: Person, in memory: inout Memory) {
        switch occasion.kind {
        case .consentRevoked: memory.withdraw(person: person.id, client: occasion.client)
        case .accountDelete, .accountDeleted: memory.delete(person: person.id)
        case .emailDisabled, .emailEnabled:
            let consents = memory.consents.indices.filter {
                memory.consents[$0].person == person.id && memory.consents[$0].client == occasion.client
            }
            for index in consents { memory.consents[index].isForwarding = occasion.kind == .emailEnabled }
        }
    }
}
