import Accounts
import AppleID
import JOSE
import TestSupport
import Testing
import UserStores

/// Who comes back under another `sub`, or after having told Apple to stop.
struct ReturningTests {
    private let bench = SignInBench()

    private func change(_ account: Account, _ body: (inout Account) -> Void) throws {
        _ = try bench.users.change(account: .id(account.id), once: nil, at: TokenForge.now) { account, _ in
            var account = account
            body(&account)
            return .update(account, audit: [])
        }
    }

    private func withdraw(_ account: Account, at time: UnixTime) throws {
        _ = try bench.users.change(account: .id(account.id), once: nil, at: TokenForge.now) { account, _ in
            var account = account
            account.consentRevokedAt = time
            let departure = Departure.mark(of: account, at: time, using: TokenForge.cryptography)
            return .update(account, withdrawal: Withdrawal(until: time, remembering: departure), audit: [])
        }
    }

    @Test func `After the app's move transfer_sub finds the account, once, and the name stays`() throws {
        let old = try bench.signIn(TokenForge(subject: "001.old"), name: "Ana")
        try change(old.account) { $0.transferSubject = "001.moving" }
        let moved = TokenForge(subject: "001.new").with(["transfer_sub": "001.moving"])
        let new = try bench.signIn(moved)
        #expect(!new.isNew && new.account.id == old.account.id)
        #expect(new.account.appleSubject == "001.new" && new.account.transferSubject == nil)
        #expect(new.account.profile.fullName == "Ana")
        #expect(try bench.audit(new.account) == [.accountCreated, .signedIn, .accountTransferred, .signedIn])
        // Apple says transfer_sub for 60 days: it is the same account, and nothing is moved again.
        #expect(try bench.signIn(moved).account.id == old.account.id)
        #expect(try bench.audit(new.account).count { $0 == .accountTransferred } == 1)
        // Who comes with the old sub, or with the name of the move alone, is somebody else.
        #expect(try bench.signIn(TokenForge(subject: "001.old").with(["transfer_sub": "001.moving"])).isNew)
    }

    @Test func `A transfer_sub that nobody has makes a new account`() throws {
        try bench.signIn(TokenForge(subject: "001.old"))
        #expect(try bench.signIn(TokenForge(subject: "001.new").with(["transfer_sub": "001.unknown"])).isNew)
        #expect(try bench.signIn(TokenForge(subject: "001.newer").with(["transfer_sub": .integer(1)])).isNew)
    }

    @Test func `A disabled account is not moved by knocking`() throws {
        let old = try bench.signIn(TokenForge(subject: "001.old"))
        try change(old.account) { $0.transferSubject = "001.moving" }
        try bench.disable(old.account)
        #expect(throws: SignInFailure.accountDisabled) {
            try bench.signIn(TokenForge(subject: "001.new").with(["transfer_sub": "001.moving"]))
        }
        #expect(try bench.users.account(old.account.id)?.appleSubject == "001.old")
    }

    /// Who had got hold of a token signed in with it after the person had told Apple to stop, and the audit said that they had come back.
    @Test func `A token of before the withdrawal is no word of the person's that they have come back`() throws {
        let first = try bench.signIn(name: "Ana")
        let later = TokenForge.now.adding(seconds: 3600)
        for (seconds, isOld) in [(Int64(0), false), (60, false), (61, true), (3600, true)] {
            let withdrawn = TokenForge.now.adding(seconds: seconds)
            try withdraw(first.account, at: withdrawn)
            if isOld {
                let known = try bench.users.account(first.account.id)
                #expect(throws: SignInFailure.verification(.refused(.tooOld)), "\(seconds)") {
                    try bench.signIn(name: "Eve", at: later)
                }
                #expect(try bench.users.account(first.account.id) == known)
                #expect(try bench.users.audit(of: first.account.id).last?.event == .signInRefused)
                #expect(try bench.users.audit(of: first.account.id).last?.reason == "too_old")
            }
            // By another token, within the leeway of Apple's word, they come back.
            let forge = TokenForge(at: isOld ? withdrawn.adding(seconds: -60) : TokenForge.now)
            #expect(try bench.signIn(forge, at: later).account.consentRevokedAt == nil, "\(seconds)")
            // A token of before is none of theirs, now that they are here as well.
            guard isOld else { continue }
            #expect(throws: SignInFailure.verification(.refused(.tooOld)), "\(seconds)") { try bench.signIn(at: later) }
        }
    }

    @Test func `Who comes back after having withdrawn has the same account, 200, and it says so no more`() throws {
        let first = try bench.signIn(name: "Ana")
        try withdraw(first.account, at: TokenForge.now)
        let again = try bench.signIn()
        #expect(!again.isNew && again.account.id == first.account.id && again.account.consentRevokedAt == nil)
        #expect(again.account.profile.fullName == "Ana")
        #expect(try bench.users.account(first.account.id)?.consentRevokedAt == nil)
        #expect(try bench.audit(first.account) == [.accountCreated, .signedIn, .consentRestored, .signedIn])
        try bench.signIn()
        #expect(try bench.audit(first.account).count { $0 == .consentRestored } == 1)
    }
}
