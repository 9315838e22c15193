internal import Accounts
internal import AppleID
internal import AuthFunction
internal import JOSE
internal import UserStores

/// What is on of an account's whole life, what is off, and how to turn it on.
extension CheckCommand {
    /// Proves the credentials: Apple looks at who asks before it looks at the code, so a code that never was is answered
    /// `invalid_grant` to those whom Apple knows and `invalid_client` to all others. Nothing changes there.
    static func checkAppleServer(_ rooms: Rooms) -> Bool {
        let subject = "Apple's API"
        guard let settings = rooms.configuration.accountLife.server else {
            off(
                subject,
                """
                no code is exchanged, so Apple is not told of deletions: set AUTH_APPLE_TEAM_ID, AUTH_APPLE_KEY_ID, \
                AUTH_APPLE_PRIVATE_KEY_FILE and AUTH_APPLE_ENCRYPTION_KEYS
                """)
            return true
        }
        let http = AppleHTTP(rooms.configuration, deadline: Deadline())
        let server = AppleAPI(settings, http: http, cryptography: rooms.cryptography).server
        let results = rooms.configuration.policy.audiences.sorted().map { audience in
            do throws(AppleServerFailure) {
                _ = try server.exchange(
                    code: "auth-apple-check", clientID: audience, redirectURI: nil, at: System.now())
                line(false, subject, "\(audience): Apple took a code that never was; check AUTH_APPLE_TOKEN_URL")
                return false
            } catch {
                return judge(error, of: audience, subject)
            }
        }
        line(
            true, "encryption keys",
            "\(settings.encryptionKeys.sealingID) seals, \(settings.encryptionKeys.entries.count) open")
        return results.allSatisfy { $0 }
    }

    private static func judge(_ failure: AppleServerFailure, of audience: String, _ subject: String) -> Bool {
        switch failure {
        case .refused(.invalidGrant):
            line(true, subject, "\(audience): Apple knows the team and its key")
            return true
        case .refused(.invalidClient), .refused(.unauthorizedClient):
            line(
                false, subject,
                """
                \(audience): Apple does not know us by it (\(failure.word)): check AUTH_APPLE_TEAM_ID, AUTH_APPLE_KEY_ID, \
                AUTH_APPLE_PRIVATE_KEY, and that the key is for this app's primary App ID
                """)
        case .refused:
            line(false, subject, "\(audience): Apple refuses the request (\(failure.word))")
        case .unavailable:
            let detail = failure.detail.map { ", \($0)" } ?? ""
            line(
                false, subject,
                "\(audience): no usable answer (\(failure.word)\(detail)): check AUTH_APPLE_TOKEN_URL and the network")
        }
        return false
    }

    /// What waits to be told to Apple is no fault; what cannot be told, because nobody is configured to, is.
    static func checkOutbox(_ rooms: Rooms) -> Bool {
        do throws(StoreError) {
            // Reading would make the store, or upgrade it, before the program that serves knows the new schema.
            guard try rooms.store.hasCurrentSchema() else { return true }
            let waiting = try rooms.store.revocations(limit: 1000)
            guard let first = waiting.first else { return true }
            let count = waiting.count == 1000 ? "1000 or more" : "\(waiting.count)"
            let isOn = rooms.configuration.accountLife.server != nil
            line(
                isOn, "outbox",
                "\(count) to be revoked at Apple, the next at \(first.dueAt.rfc3339): "
                    + (isOn
                        ? "let a timer run auth-apple outbox run" : "turn Apple's API on, then: auth-apple outbox run"))
            return isOn
        } catch {
            // The line of the store says it.
            return true
        }
    }

    static func tellWhatIsOff(_ rooms: Rooms) {
        let life = rooms.configuration.accountLife
        if let seconds = life.deletionSeconds {
            let how = life.server == nil ? "; people are told to revoke at Apple by hand" : ""
            line(true, "deletion", "DELETE /auth/me, within \(seconds) s of signing in\(how)")
        } else {
            off(
                "deletion",
                "people cannot delete their accounts (App Store 5.1.1(v)): set AUTH_APPLE_DELETION_SESSION_SECONDS=600")
        }
        if life.takesNotifications {
            line(
                true, "notifications",
                "POST /auth/apple/notifications; its URL belongs under Sign in with Apple of the App ID, at developer.apple.com"
            )
        } else {
            off("notifications", "nobody hears what people do at Apple: set AUTH_APPLE_NOTIFICATIONS=true")
        }
        if rooms.configuration.signInPolicy.isOneTime {
            line(true, "one-time tokens", "an identity token opens one session")
        } else {
            off(
                "one-time tokens",
                "an identity token signs in as often as it is sent: set AUTH_APPLE_ONE_TIME_TOKENS=true")
        }
    }
}
