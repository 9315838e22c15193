package import JOSE

/// The migration of an app's users to another developer team (TN3159), within 60 days of the app's transfer. The old team asks
/// for a person's transfer identifier, the new team for the person behind it.
extension AppleServer {
    /// A token for the other two requests.
    package func migrationToken(
        clientID: String, at now: UnixTime
    ) throws(AppleServerFailure) -> AppleMigrationToken {
        let fields = [("grant_type", "client_credentials"), ("scope", "user.migration")]
        let answer = try ask(endpoints.token, fields, clientID: clientID, at: now)
        guard let text = AppleTokens.token("access_token", in: answer) else { throw .unavailable(.unreadable) }
        // Apple gives an hour. Without a word on it, or with an absurd one, it is renewed soon.
        let seconds = answer["expires_in"]?.integer.flatMap { (1...86_400).contains($0) ? $0 : nil } ?? 300
        return AppleMigrationToken(text: text, expiresAt: now.adding(seconds: seconds))
    }

    /// The old team's question: what the person is called on the way to the team `target`.
    package func transferIdentifier(
        sub: String, target: String, clientID: String, token: AppleMigrationToken, at now: UnixTime
    ) throws(AppleServerFailure) -> String {
        let answer = try ask(
            endpoints.migration, [("sub", sub), ("target", target)], clientID: clientID, bearer: token.text, at: now)
        guard let identifier = Self.subject("transfer_sub", in: answer) else { throw .unavailable(.unreadable) }
        return identifier
    }

    /// The new team's question: who the person is with this team.
    package func person(
        transferIdentifier: String, clientID: String, token: AppleMigrationToken, at now: UnixTime
    ) throws(AppleServerFailure) -> TransferredPerson {
        let answer = try ask(
            endpoints.migration, [("transfer_sub", transferIdentifier)], clientID: clientID, bearer: token.text, at: now
        )
        guard let subject = Self.subject("sub", in: answer) else { throw .unavailable(.unreadable) }
        return TransferredPerson(subject: subject, email: AppleEmail(claims: answer))
    }

    /// As long as in an identity token.
    private static func subject(_ name: String, in answer: JSON.Object) -> String? {
        answer[name]?.string.flatMap { $0.isEmpty || $0.unicodeScalars.count > 255 ? nil : $0 }
    }
}

/// A bearer token for the migration. It does not show when printed.
package struct AppleMigrationToken: Sendable, CustomStringConvertible, CustomReflectable {
    let text: String
    package let expiresAt: UnixTime

    package var description: String { "<migration token>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A person as the new team knows them: another `sub`, and another relay address.
package struct TransferredPerson: Hashable, Sendable {
    package let subject: String
    package let email: AppleEmail?
}
