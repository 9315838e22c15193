internal import FoundationEssentials
internal import Glibc
internal import JOSE
internal import Xid

/// A session as it is shown: never with a token.
struct SessionText {
    let session: XidSession
    let clientID: String

    /// `Ana Ruiz <ana@example.com>`, or what there is.
    var person: String {
        let name = session.name ?? session.email ?? session.subject
        guard session.name != nil, let email = session.email else { return Terminal.visible(name) }
        return Terminal.visible("\(name) <\(email)>")
    }

    var lines: String {
        """
        \(person)
          subject  \(Terminal.visible(session.subject))
          issuer   \(Terminal.visible(session.issuer.absoluteString))
          client   \(Terminal.visible(clientID))
          scopes   \(Terminal.visible(session.scopes.joined(separator: " ")))
          token    \(session.tokenType), \(expiry)
        """
    }

    var json: String {
        var object: JSON.Object = [
            "signed_in": .bool(true), "issuer": .string(session.issuer.absoluteString), "client_id": .string(clientID),
            "subject": .string(session.subject), "name": session.name.map { .string($0) } ?? .null,
            "email": session.email.map { .string($0) } ?? .null, "email_verified": .bool(session.emailVerified),
            "scopes": .array(session.scopes.map { .string($0) }), "token_type": .string(session.tokenType),
        ]
        object["expires_at"] = Self.seconds(session.expiresAt).map { .integer($0) } ?? .null
        return Terminal.visible(json: JSON.object(object).text)
    }

    static let noneJSON = JSON.object(["signed_in": .bool(false)]).text

    static func seconds(_ date: Date?) -> Int64? {
        date.map { Int64($0.timeIntervalSince1970) }
    }

    private var expiry: String {
        guard let end = Self.seconds(session.expiresAt) else { return "whose end the provider has not told" }
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let minutes = max(0, (end - Int64(now.tv_sec)) / 60)
        return minutes < 120 ? "good for \(minutes) min" : "good for \(minutes / 60) h"
    }
}
