package import Accounts
internal import AppleID
internal import JOSE

/// What happens to an account after its sign-in: `DELETE /auth/me` and `POST /auth/apple/notifications`, each if it is on.
package struct AccountLifeEndpoint {
    let deletion: AccountDeletion?
    let notifications: AppleNotifications?
    /// Whether Apple can be asked and told after an answer.
    let exchangesCodes: Bool

    package init(
        deletion: AccountDeletion? = nil, notifications: AppleNotifications? = nil, exchangesCodes: Bool = false
    ) {
        self.deletion = deletion
        self.notifications = notifications
        self.exchangesCodes = exchangesCodes
    }

    func delete(
        by accessToken: String?, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(Failure) -> AccountDeletion.Deleted {
        guard let deletion else { throw .notFound }
        do throws(DeletionFailure) {
            return try deletion(accessToken: accessToken, origin: origin, at: now)
        } catch {
            throw Failure(error)
        }
    }

    /// Where nothing is held by which Apple can be told, the person is: nobody else can do it.
    static func response(to deleted: AccountDeletion.Deleted, in language: Language) -> Response {
        guard deleted.revocations == 0 else { return SessionEndpoint.noContent }
        return Response(
            status: 200,
            json: [
                "code": "revoke_by_hand", "detail": .string(Phrase.deletedRevokeByHand.text(in: language)),
                "url": "https://account.apple.com",
            ], headers: ["cache-control": "no-store", "content-language": language.rawValue])
    }

    static func payload(of body: JSON.Object) throws(Failure) -> [UInt8] {
        guard let json = body["payload"], json != .null else { throw .invalidRequest([.init("payload", "required")]) }
        guard let text = json.string else { throw .invalidRequest([.init("payload", "not_a_string")]) }
        return Array(text.utf8)
    }

    func hear(
        _ payload: [UInt8], origin: AuditEntry.Origin, at now: UnixTime
    ) throws(Failure) -> (subject: String, reason: String) {
        guard let notifications else { throw .notFound }
        do throws(NotificationFailure) {
            let (notification, outcome) = try notifications(payload[...], origin: origin, at: now)
            guard case .unknown(let word) = notification.kind, word.utf8.allSatisfy(Self.isPlain) else {
                return (notification.subject, outcome.rawValue)
            }
            return (notification.subject, "\(outcome.rawValue): \(word)")
        } catch {
            throw Failure(error)
        }
    }

    /// What Apple's words are made of.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
    }

    /// Apple takes 200 for heard, and asks for no more.
    static let heard = Response(status: 200, json: [:], headers: ["cache-control": "no-store"])
}
