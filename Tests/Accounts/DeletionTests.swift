import Accounts
import AppleID
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing
import UserStores

/// After a deletion nobody comes back by what Apple issued before it, and by what it issues from then on everybody does.
struct DeletionTests {
    private let users = MemoryUserStore()
    private let start = TokenForge.now

    /// At two hours, when all deletions here are over and the token is still young enough.
    private func signIn(_ forge: TokenForge = TokenForge(), after seconds: Int64 = 7200) throws -> SignedIn {
        try TestService(users: users).signIn(appleKeys: TokenForge.keys)(
            SignIn.Request(
                identityToken: Array(forge.token.utf8)[...], nonce: nil,
                client: SignIn.Client(deviceInfo: try DeviceInfo([:]), fullName: "Eve")),
            origin: TestService.origin, at: start.adding(seconds: seconds))
    }

    private func delete(_ signedIn: SignedIn, at time: UnixTime) throws {
        let service = TestService(users: users)
        let deletion = AccountDeletion(
            maximumSessionSeconds: 7200, users: users, sessions: service.sessions,
            cryptography: TokenForge.cryptography)
        // The access token's own life is no matter here.
        let token = try service.sessions.refresh(signedIn.tokens.refreshToken, origin: TestService.origin, at: time)
        _ = try deletion(accessToken: token.tokens.accessToken, origin: TestService.origin, at: time)
    }

    private var marks: [Mark] {
        get throws {
            var marks: [Mark] = []
            try users.forEachLoneEntry(at: start) { entry in
                if case .mark(let mark) = entry { marks.append(mark) }
                return true
            }
            return marks
        }
    }

    /// Who had got hold of a token undid the deletion with it, and had the account with the person's address.
    @Test(arguments: [
        (Int64(0), false), (60_000, false), (60_999, false), (61_000, true), (3_600_000, true),
    ])
    func `A token of before the deletion, by more than clocks may differ, makes no account`(
        _ milliseconds: Int64, isOld: Bool
    ) throws {
        let deleted = UnixTime(milliseconds: start.milliseconds + milliseconds)
        let account = try signIn(after: 0).account
        try delete(signIn(after: 0), at: deleted)
        if isOld {
            for _ in 0..<2 { #expect(throws: SignInFailure.verification(.refused(.tooOld))) { try signIn() } }
            #expect(try users.check().contains("0 accounts, 0 sessions"))
            #expect(try users.audit(of: account.id).last?.event == .accountDeleted)
        } else {
            #expect(try signIn().isNew)
        }
        #expect(try signIn(TokenForge(subject: "001.stranger")).isNew)
    }

    @Test func `By a token of after the deletion, or within the leeway, the person is somebody new at once`() throws {
        for issued in [Int64(40), 100, 101] {
            let old = try signIn(after: 0)
            try delete(old, at: start.adding(seconds: 100))
            let again = try signIn(TokenForge(at: start.adding(seconds: issued)), after: 101)
            #expect(again.isNew && again.account.id != old.account.id, "\(issued)")
            // Nor is the new account reached by a token of before, and what came of the attempt can be seen.
            #expect(throws: SignInFailure.verification(.refused(.tooOld))) { try signIn() }
            let audit = try users.audit(of: again.account.id)
            #expect(audit.map(\.event) == [.accountCreated, .signedIn, .signInRefused] && audit[2].reason == "too_old")
            #expect(try users.account(again.account.id)?.profile.fullName == "Eve")
            try delete(again, at: start.adding(seconds: 101))
            #expect(throws: SignInFailure.verification(.refused(.tooOld))) { try signIn() }
            _ = try users.purge(before: start.adding(seconds: 1_000_000))
        }
    }

    /// 604 800 s is the longest that a token may be configured to be good for, and 300 s the widest leeway.
    @Test func `What stays is a digest of the sub, for as long as any token of before could be good`() throws {
        try delete(signIn(after: 0), at: start.adding(seconds: 100))
        let name = TokenForge.cryptography.sha256(Array("auth-apple deleted \(TokenForge.subject)".utf8)[...])
        #expect(try marks == [Mark(name: name, expiresAt: start.adding(seconds: 100 + 604_800 + 600))])
        #expect(try users.purge(before: start.adding(seconds: 100 + 604_800 + 599)).marks == 0)
        #expect(try users.purge(before: start.adding(seconds: 100 + 604_800 + 600)).marks == 1)
        #expect(try signIn().isNew)
    }

    @Test func `A deletion by a clock that ran ahead keeps nobody out`() throws {
        let old = try signIn(after: 0)
        let mark = try #require(
            Departure.mark(
                of: old.account, at: start.adding(seconds: 86_400 * 3650), using: TokenForge.cryptography))
        _ = try users.change(account: .id(old.account.id), once: nil, at: start) { account, _ in
            let entry = AuditEntry(
                time: start, event: .accountDeleted, accountID: account.id, origin: TestService.origin)
            return .delete(revoking: false, remembering: mark, entry)
        }
        #expect(try signIn().isNew)
    }

    @Test func `Who has no sub leaves nothing`() {
        let account = Account(
            id: UUIDv7(at: start, random: Array(repeating: 0, count: 10)), appleSubject: nil, profile: Profile(),
            createdAt: start, updatedAt: start)
        #expect(Departure.mark(of: account, at: start, using: TokenForge.cryptography) == nil)
    }
}
