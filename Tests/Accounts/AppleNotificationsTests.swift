import Accounts
import AppleID
import JOSE
import TestSupport
import Testing
import UserStores

/// What Apple's notifications do to accounts: once each, in whatever order they come.
struct AppleNotificationsTests {
    private let users = MemoryUserStore()
    private let start = TokenForge.now

    private func notify(
        _ type: String, _ subject: String = TokenForge.subject, id: String = "n1", event: Int64 = 0, sent: Int64? = nil,
        claims: [String: JSON?] = [:], more: JSON.Object = [:], store: (any UserRepository)? = nil,
        maximumAge: Int64 = 86_400, keys: FixedKeys = TokenForge.keys
    ) throws(NotificationFailure) -> AppleNotifications.Outcome {
        let now = start.adding(seconds: sent ?? event)
        var events: JSON.Object = [
            "type": .string(type), "sub": .string(subject),
            "event_time": .integer(start.adding(seconds: event).milliseconds),
        ]
        for member in more.members { events[member.name] = member.value }
        var forge = TokenForge(at: now)
        forge.claims = [
            "iss": .string(TokenForge.issuer), "aud": .string(TokenForge.audience), "iat": .integer(now.seconds),
            "exp": .integer(now.seconds + 86_400), "jti": .string(id), "events": .string(JSON.object(events).text),
        ]
        guard let policy = TokenPolicy(audiences: [TokenForge.audience], maximumAgeSeconds: maximumAge) else {
            preconditionFailure()
        }
        let notifications = AppleNotifications(
            verifier: AppleTokenVerifier(policy: policy, cryptography: TokenForge.cryptography), appleKeys: keys,
            users: store ?? users, cryptography: TokenForge.cryptography)
        let token = forge.with(claims).token
        return try notifications(Array(token.utf8)[...], origin: TestService.origin, at: now).outcome
    }

    private func grant(_ account: Account, at seconds: Int64) throws -> AppleGrant {
        let grant = AppleGrant(
            accountID: account.id, clientID: "c\(seconds)", keyID: "k", sealed: [1],
            obtainedAt: start.adding(seconds: seconds))
        try users.keep(grant)
        return grant
    }

    private func events(_ account: Account) throws -> [AuditEntry.Event] {
        try users.audit(of: account.id).map(\.event)
    }

    @Test func `consent-revoked ends the sessions, takes the grants and marks the account`() throws {
        let (account, session) = try users.join()
        let stranger = try users.join("001.stranger")
        _ = try grant(account, at: 0)
        let other = try grant(stranger.account, at: 0)
        #expect(try notify("consent-revoked", event: 100) == .consentRevoked)
        let now = try #require(try users.account(account.id))
        #expect(now.consentRevokedAt == start.adding(seconds: 100))
        #expect(try users.session(session.id) == nil && users.grants(of: account.id).isEmpty)
        #expect(try users.session(stranger.session.id) != nil && users.grants(of: stranger.account.id) == [other])
        #expect(try events(account) == [.accountCreated, .signedIn, .sessionEnded, .consentRevoked])
        #expect(try users.audit(of: account.id)[2].reason == "consent_revoked")
        #expect(try users.revocations(limit: 9).isEmpty, "the person has done it")
    }

    @Test func `Who has signed in since an event stays signed in, and what is older ends`() throws {
        let (account, old) = try users.join()
        let new = try users.join(at: start.adding(seconds: 161)).session
        _ = try grant(account, at: 160)
        let kept = try grant(account, at: 161)
        #expect(try notify("consent-revoked", event: 100, sent: 1000) == .consentRevokedEarlier)
        #expect(try users.session(old.id) == nil && users.session(new.id) != nil)
        #expect(try users.grants(of: account.id) == [kept])
        #expect(try users.account(account.id)?.consentRevokedAt == nil)
    }

    @Test func `Within the leeway of the event a session ends`() throws {
        let session = try users.join(at: start.adding(seconds: 60)).session
        #expect(try notify("consent-revoked", event: 0, sent: 100) == .consentRevoked)
        #expect(try users.session(session.id) == nil)
    }

    @Test(arguments: ["account-delete", "account-deleted"])
    func `account-delete deletes, and there is nothing left to revoke`(_ type: String) throws {
        let (account, session) = try users.join()
        _ = try grant(account, at: 0)
        #expect(try notify(type, event: 100) == .accountDeleted)
        #expect(try users.account(account.id) == nil && users.session(session.id) == nil)
        #expect(try users.revocations(limit: 9).isEmpty)
        #expect(try users.audit(of: account.id).last?.reason == "apple")
        #expect(try users.audit(of: account.id).allSatisfy { $0.origin.sourceAddress == nil })
    }

    /// The second event has not happened yet: it happened just now, and a leeway is all that it is ahead.
    @Test(arguments: [(100, 1000, 100), (365 * 86_400, 40, 100)] as [(Int64, Int64, Int64)])
    func `After account-delete nobody comes back by a token of before the event`(
        _ event: Int64, _ sent: Int64, _ time: Int64
    ) throws {
        _ = try users.join()
        #expect(try notify("account-delete", event: event, sent: sent) == .accountDeleted)
        #expect(throws: SignInFailure.verification(.refused(.tooOld))) { try signIn(issuedAt: time - 61) }
        #expect(try signIn(issuedAt: time - 60).isNew)
    }

    /// Nor when they have come back already, and the event comes late.
    @Test(
        arguments: [(false, .consentRevoked), (true, .consentRevokedEarlier)] as [(Bool, AppleNotifications.Outcome)])
    func `After consent-revoked nobody comes in by a token of before the event`(
        _ isBack: Bool, _ outcome: AppleNotifications.Outcome
    ) throws {
        let account = try users.join().account
        if isBack { _ = try users.join(at: start.adding(seconds: 161)) }
        #expect(try notify("consent-revoked", event: 100, sent: 1000) == outcome)
        for issued in [Int64(39), 40, 39, 2000, 39] {
            guard issued < 40 else {
                #expect(try signIn(issuedAt: issued).account.id == account.id)
                continue
            }
            #expect(throws: SignInFailure.verification(.refused(.tooOld))) { try signIn(issuedAt: issued) }
            #expect(try users.audit(of: account.id).last?.event == .signInRefused)
        }
    }

    private func signIn(issuedAt seconds: Int64) throws -> SignedIn {
        try TestService(users: users).signIn(appleKeys: TokenForge.keys)(
            SignIn.Request(
                identityToken: Array(TokenForge(at: start.adding(seconds: seconds)).token.utf8)[...], nonce: nil,
                client: SignIn.Client(deviceInfo: try DeviceInfo([:]))),
            origin: TestService.origin, at: start.adding(seconds: 2000))
    }

    @Test(arguments: ["account-delete", "consent-revoked", "email-disabled"])
    func `An event of before the account was made is about the one before it`(_ type: String) throws {
        let (account, session) = try users.join(at: start.adding(seconds: 161))
        #expect(try notify(type, event: 100, sent: 1000) == .outdated)
        #expect(try users.account(account.id) == account && users.session(session.id) != nil)
    }

    @Test func `Forwarding is what the latest event says, in whatever order events come`() throws {
        let account = try users.join("001.relay", Profile(email: nil)).account
        func forwarding() throws -> EmailForwarding? { try users.account(account.id)?.forwarding }
        #expect(try notify("email-disabled", "001.relay", id: "a", event: 100) == .emailForwardingOff)
        #expect(try forwarding() == EmailForwarding(isOn: false, since: start.adding(seconds: 100)))
        #expect(try notify("email-enabled", "001.relay", id: "b", event: 300) == .emailForwardingOn)
        #expect(try notify("email-disabled", "001.relay", id: "c", event: 200, sent: 400) == .outdated)
        #expect(try forwarding() == EmailForwarding(isOn: true, since: start.adding(seconds: 300)))
        #expect(try events(account).suffix(2) == [.emailForwardingOff, .emailForwardingOn])
    }

    /// An event of next year once outdated all that came until then.
    @Test func `What has not happened yet happened just now, and keeps nothing from being heard`() throws {
        let account = try users.join("001.relay", Profile(email: nil)).account
        func now() throws -> Account? { try users.account(account.id) }
        let year: Int64 = 365 * 86_400
        #expect(try notify("email-disabled", "001.relay", id: "a", event: year, sent: 0) == .emailForwardingOff)
        #expect(try now()?.forwarding?.since == start.adding(seconds: 60), "the leeway")
        #expect(try notify("email-enabled", "001.relay", id: "b", event: 100) == .emailForwardingOn)
        #expect(try notify("consent-revoked", "001.relay", id: "c", event: year, sent: 200) == .consentRevoked)
        #expect(try now()?.consentRevokedAt == start.adding(seconds: 260))
    }

    @Test func `An address of Apple's fills an empty one, and takes no other's place`() throws {
        let known = AppleEmail(address: "ana@example.com", isVerified: true, isPrivate: false)
        let empty = try users.join("001.empty").account
        let full = try users.join("001.full", Profile(email: known)).account
        let more: JSON.Object = ["email": "x@privaterelay.appleid.com", "is_private_email": "true"]
        _ = try notify("email-enabled", "001.empty", id: "a", more: more)
        _ = try notify("email-enabled", "001.full", id: "b", more: more)
        let filled = try users.account(empty.id)?.profile.email
        #expect(filled?.address == "x@privaterelay.appleid.com" && filled?.isPrivate == true)
        #expect(try users.account(full.id)?.profile.email == known)
    }

    @Test func `The same notification again has no effect, whatever it says; another id is another one`() throws {
        let (account, _) = try users.join()
        #expect(try notify("consent-revoked", event: 1) == .consentRevoked)
        _ = try users.join(at: start.adding(seconds: 2))
        #expect(try notify("consent-revoked", event: 1) == .repeated)
        #expect(try notify("email-enabled", event: 3) == .repeated, "whatever it says")
        #expect(try users.sessions(of: account.id, at: start).count == 1)
        #expect(try notify("email-enabled", id: "n2", event: 3) == .emailForwardingOn)
    }

    @Test func `Unknown people and types change nothing`() throws {
        let (account, _) = try users.join()
        #expect(try notify("account-delete", "001.nobody") == .unknownSubject)
        #expect(try notify("account-merged") == .unknownType)
        #expect(try users.account(account.id) == account)
        // Who comes later is told: nothing was remembered.
        #expect(try notify("account-delete") == .accountDeleted)
    }

    @Test func `A disabled account is deleted as well when the person has none at Apple any more`() throws {
        let (account, _) = try users.join()
        _ = try users.change(account: .id(account.id), once: nil, at: start) { account, _ in
            var account = account
            account.disabledAt = start
            return .update(account, audit: [])
        }
        #expect(try notify("account-delete", event: 1) == .accountDeleted)
        #expect(try users.account(account.id) == nil)
    }

    @Test func `Apple repeats for a day, however young a login's token must be`() throws {
        _ = try users.join()
        let issued = JSON.integer(start.seconds)
        let outcome = try notify(
            "consent-revoked", sent: 80_000, claims: ["iat": issued, "exp": .integer(start.seconds + 86_400)],
            maximumAge: 600)
        #expect(outcome == .consentRevoked)
    }

    private static let bad: [([String: JSON?], TokenRefusal)] = [
        (["aud": "com.stranger.app"], .audience), (["iss": "https://example.com"], .issuer),
        (["exp": .integer(TokenForge.now.seconds - 61)], .expired), (["exp": JSON?.none], .malformed),
    ]

    @Test(arguments: bad.indices)
    func `What does not verify changes nothing`(_ index: Int) throws {
        let (account, session) = try users.join()
        let (claims, refusal) = Self.bad[index]
        #expect(throws: NotificationFailure.verification(.refused(refusal))) {
            try notify("account-delete", claims: claims)
        }
        #expect(try users.account(account.id) == account && users.session(session.id) != nil)
    }

    @Test func `A token that is no notification, keys that cannot be had and a store that is down are told apart`()
        throws
    {
        #expect(throws: NotificationFailure.notANotification(.events)) {
            try notify("consent-revoked", claims: ["events": JSON?.none])
        }
        #expect(throws: NotificationFailure.notANotification(.id)) {
            try notify("consent-revoked", claims: ["jti": JSON?.none])
        }
        let outage = KeysUnavailable(reason: "down", retryAfter: 1)
        #expect(throws: NotificationFailure.verification(.keysUnavailable(outage))) {
            try notify("consent-revoked", keys: FixedKeys(unavailable: outage))
        }
        let error = StoreError.unavailable(reason: "down")
        #expect(throws: NotificationFailure.store(error)) {
            try notify("consent-revoked", store: FailingUsers(error: error))
        }
    }
}
