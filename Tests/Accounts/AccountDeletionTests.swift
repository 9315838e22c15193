import Accounts
import AppleID
import JOSE
import TestSupport
import Testing
import UserStores

/// The owner deletes their account.
struct AccountDeletionTests {
    private let users = MemoryUserStore()

    private func delete(
        _ token: String?, at seconds: Int64 = 0, store: (any UserRepository)? = nil, maximum: Int64 = 600
    ) throws(DeletionFailure) -> AccountDeletion.Deleted {
        let service = TestService(users: store ?? users)
        let deletion = AccountDeletion(
            maximumSessionSeconds: maximum, users: service.users, sessions: service.sessions,
            cryptography: TokenForge.cryptography)
        return try deletion(
            accessToken: token, origin: TestService.origin, at: TokenForge.now.adding(seconds: seconds))
    }

    /// A sign-in as `SignIn` does it, with its access token.
    private func signIn(
        _ subject: String = TokenForge.subject, store: (any UserRepository)? = nil
    ) throws -> SignedIn {
        let signIn = TestService(users: store ?? users).signIn(appleKeys: TokenForge.keys)
        return try signIn(
            SignIn.Request(
                identityToken: Array(TokenForge(subject: subject).token.utf8)[...], nonce: nil,
                client: SignIn.Client(deviceInfo: try DeviceInfo([:]), fullName: "Ana")),
            origin: TestService.origin, at: TokenForge.now)
    }

    @Test func `The account goes with its sessions, and its grants wait to be revoked`() throws {
        let ana = try signIn()
        let other = try signIn()
        let stranger = try signIn("001.stranger")
        let grant = AppleGrant(
            accountID: ana.account.id, clientID: "c", keyID: "k", sealed: [1], obtainedAt: TokenForge.now)
        try users.keep(grant)
        let deleted = try delete(ana.tokens.accessToken)
        #expect(deleted.revocations == 1 && deleted.account.id == ana.account.id)
        #expect(try users.account(ana.account.id) == nil)
        #expect(try users.session(ana.sessionID) == nil && users.session(other.sessionID) == nil)
        #expect(try users.account(stranger.account.id) != nil)
        #expect(try users.revocations(limit: 9).map(\.grant) == [grant])
        let last = try #require(try users.audit(of: ana.account.id).last)
        #expect(last.event == .accountDeleted && last.reason == "owner" && last.sessionID == ana.sessionID)
        // For all of them it is over, and who comes back is new.
        for token in [ana, other].map(\.tokens.accessToken) {
            #expect(throws: DeletionFailure.session(.refused(.sessionUnknown))) { try delete(token) }
        }
        #expect(try signIn().isNew)
    }

    @Test func `Without a grant there is nothing to revoke`() throws {
        #expect(try delete(signIn().tokens.accessToken).revocations == 0)
    }

    @Test func `The sign-in must be young, however new the token is`() throws {
        let ana = try signIn()
        let service = TestService(users: users)
        let now = TokenForge.now.adding(seconds: 601)
        let refreshed = try service.sessions.refresh(ana.tokens.refreshToken, origin: TestService.origin, at: now)
        #expect(throws: DeletionFailure.sessionTooOld(maximumSeconds: 600)) {
            try delete(refreshed.tokens.accessToken, at: 601)
        }
        #expect(try users.account(ana.account.id) != nil)
        #expect(try delete(refreshed.tokens.accessToken, at: 600).account.id == ana.account.id)
    }

    @Test func `A disabled account is not deleted by its owner`() throws {
        let ana = try signIn()
        _ = try users.change(account: .id(ana.account.id), once: nil, at: TokenForge.now) { account, _ in
            var account = account
            account.disabledAt = TokenForge.now
            return .update(account, audit: [])
        }
        #expect(throws: DeletionFailure.session(.accountDisabled)) { try delete(ana.tokens.accessToken) }
        #expect(try users.account(ana.account.id) != nil)
    }

    @Test func `A session that ends between the two looks deletes nothing, and nor does an account disabled there`()
        throws
    {
        let racing = RecordingUsers()
        let ana = try signIn(store: racing)
        racing.beforeChange = { store throws(StoreError) in
            _ = try store.change(account: .id(ana.account.id), once: nil, at: TokenForge.now) { account, _ in
                var account = account
                account.disabledAt = TokenForge.now
                return .update(account, audit: [])
            }
        }
        #expect(throws: DeletionFailure.session(.accountDisabled)) {
            try delete(ana.tokens.accessToken, store: racing)
        }
        let eva = try signIn("001.eva", store: racing)
        racing.beforeChange = { store throws(StoreError) in
            try store.change(session: eva.sessionID) { session, account in
                .end(
                    AuditEntry(
                        time: TokenForge.now, event: .loggedOut, accountID: account.id, sessionID: session.id,
                        origin: TestService.origin))
            }
        }
        #expect(throws: DeletionFailure.session(.refused(.sessionUnknown))) {
            try delete(eva.tokens.accessToken, store: racing)
        }
        for id in [ana.account.id, eva.account.id] { #expect(try racing.account(id) != nil) }
    }

    @Test func `Who brings no token, or a store that is down, deletes nothing`() throws {
        let ana = try signIn()
        #expect(throws: DeletionFailure.session(.refused(.accessTokenMissing))) { try delete(nil) }
        #expect(throws: DeletionFailure.session(.refused(.accessTokenMalformed))) { try delete(TokenForge().token) }
        let error = StoreError.unavailable(reason: "down")
        #expect(throws: DeletionFailure.session(.store(error))) {
            try delete(ana.tokens.accessToken, store: FailingUsers(error: error))
        }
        #expect(try users.account(ana.account.id) != nil)
    }
}
