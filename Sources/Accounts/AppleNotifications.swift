package import AppleID
package import JOSE

/// Does what Apple's notifications tell: once each, in whatever order they come.
///
/// A person who has signed in since an event has changed their mind since: what is younger than the event and the leeway stays.
package struct AppleNotifications {
    private let verifier: AppleTokenVerifier
    private let appleKeys: any AppleKeySource
    private let users: any UserRepository
    private let cryptography: any Cryptography

    /// - Parameter verifier: the one of sign-ins. A login's token may be wanted younger than a day; a notification is as good
    ///   on the last of Apple's attempts, so here the policy asks no less than a day.
    package init(
        verifier: AppleTokenVerifier, appleKeys: any AppleKeySource, users: any UserRepository,
        cryptography: any Cryptography
    ) {
        var policy = verifier.policy
        policy.maximumAgeSeconds = max(policy.maximumAgeSeconds, 86_400)
        self.verifier = AppleTokenVerifier(policy: policy, cryptography: cryptography)
        self.appleKeys = appleKeys
        self.users = users
        self.cryptography = cryptography
    }

    /// What came of a notification, for the log.
    package enum Outcome: String, Hashable, Sendable, CaseIterable {
        case consentRevoked = "consent_revoked"
        /// The person has signed in since: only what is older than the event has ended.
        case consentRevokedEarlier = "consent_revoked_earlier"
        case accountDeleted = "account_deleted"
        case emailForwardingOff = "email_forwarding_off"
        case emailForwardingOn = "email_forwarding_on"
        /// Older than what is known.
        case outdated
        /// It was told before.
        case repeated
        case unknownSubject = "unknown_subject"
        case unknownType = "unknown_type"
    }

    /// - Parameter payload: the JWS.
    package func callAsFunction(
        _ payload: ArraySlice<UInt8>, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(NotificationFailure) -> (notification: AppleNotification, outcome: Outcome) {
        let token: VerifiedAppleToken
        do throws(VerificationFailure) {
            token = try verifier.verify(payload, keys: appleKeys, at: now)
        } catch {
            throw .verification(error)
        }
        let notification: AppleNotification
        do throws(AppleNotificationRefusal) {
            notification = try AppleNotification(token)
        } catch {
            throw .notANotification(error)
        }
        if case .unknown = notification.kind { return (notification, .unknownType) }
        let event = AppleEvent(
            notification, leewaySeconds: verifier.policy.leewaySeconds, cryptography: cryptography, origin: origin,
            now: now)
        var outcome = Outcome.unknownSubject
        do throws(StoreError) {
            let change = try users.change(
                account: .appleSubject(notification.subject), once: mark(of: notification, in: token), at: now
            ) { account, sessions in
                let change: AccountChange
                (outcome, change) = event.change(of: account, sessions)
                return change
            }
            switch change {
            case .done: return (notification, outcome)
            case .spent: return (notification, .repeated)
            case .noAccount: return (notification, .unknownSubject)
            }
        } catch {
            throw .store(error)
        }
    }

    /// `jti` is unique for one issuer (RFC 7519 §4.1.7). When the mark is forgotten, the token is refused.
    private func mark(of notification: AppleNotification, in token: VerifiedAppleToken) -> Mark {
        let named = JSON.array([token.claims["iss"] ?? .null, .string(notification.id)])
        let name = cryptography.sha256((Array("auth-apple notification ".utf8) + named.serialized())[...])
        return Mark(name: name, expiresAt: token.expiresAt)
    }
}

/// Why nothing came of a notification.
package enum NotificationFailure: Error, Hashable {
    case verification(VerificationFailure)
    /// A token of Apple's, and no notification; an identity token, say.
    case notANotification(AppleNotificationRefusal)
    case store(StoreError)
}
