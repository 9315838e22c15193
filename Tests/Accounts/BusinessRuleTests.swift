import Accounts
import AppleID
import JOSE
import TestSupport
import Testing

/// RF04: its five rules, and those of its scenarios that are decided here.
struct BusinessRuleTests {
    let bench = SignInBench()

    @Test(arguments: TokenForge.faults + TokenForge.embeddedKeyFaults)
    func `RN-04.1: a token that does not verify opens nothing, whatever the body says`(_ fault: TokenForge.Fault) {
        #expect(throws: SignInFailure.verification(.refused(fault.refusal))) {
            try bench.signIn(token: fault.token, name: "Ana", email: "ana@example.com")
        }
        #expect(bench.users.accounts.isEmpty)
        #expect(bench.users.sessions.isEmpty)
    }

    @Test func `RN-04.1: keys that cannot be had are an outage and not a bad token, and open nothing`() {
        let outage = KeysUnavailable(reason: "connection refused", retryAfter: 7)
        let bench = SignInBench(keys: FixedKeys(unavailable: outage))
        #expect(throws: SignInFailure.verification(.keysUnavailable(outage))) { try bench.signIn() }
        #expect(bench.users.accounts.isEmpty)
    }

    @Test func `RN-04.2: the sub identifies: one sub with two addresses is one account`() throws {
        let first = try bench.signIn(TokenForge().with(["email": "one@example.com"]))
        let second = try bench.signIn(TokenForge().with(["email": "two@example.com"]))
        #expect(first.account.id == second.account.id)
        #expect(!second.isNew)
    }

    @Test func `RN-04.2: the e-mail does not identify: two subs with one address are two accounts`() throws {
        let shared: [String: JSON?] = ["email": "shared@example.com", "is_private_email": .bool(false)]
        let first = try bench.signIn(TokenForge(subject: "one").with(shared))
        let second = try bench.signIn(TokenForge(subject: "two").with(shared))
        #expect(first.account.id != second.account.id)
        #expect(second.isNew)
        #expect(bench.users.accounts.count == 2)
    }

    @Test func `RN-04.2: subs compare by their bytes, in no other case and in no other spelling`() throws {
        for subject in ["abc", "ABC", "abc ", "caf\u{E9}", "cafe\u{301}"] {
            #expect(try bench.signIn(TokenForge(subject: subject)).isNew)
        }
        #expect(try bench.signIn(TokenForge(subject: "cafe\u{301}")).isNew == false)
    }

    @Test func `RN-04.3: name and e-mail of the first login are kept`() throws {
        try bench.signIn(name: "Ana Pérez")
        let profile = try #require(bench.users.accounts[TokenForge.subject]).profile
        #expect(profile.fullName == "Ana Pérez")
        #expect(
            profile.email
                == AppleEmail(address: "x7k2m9@privaterelay.appleid.com", isVerified: true, isPrivate: true))
    }

    @Test func `RN-04.3: a first login whose answer was lost keeps its account, and fills what was empty`() throws {
        let lost = try bench.signIn(TokenForge().withoutEmail, name: nil)
        let repeated = try bench.signIn(name: "Ana Pérez", at: TokenForge.now.adding(seconds: 5))
        #expect(repeated.account.id == lost.account.id)
        #expect(!repeated.isNew)
        #expect(repeated.account.profile.fullName == "Ana Pérez")
        #expect(repeated.account.profile.email?.address == "x7k2m9@privaterelay.appleid.com")
        #expect(repeated.account.createdAt == TokenForge.now)
        #expect(repeated.account.updatedAt == TokenForge.now.adding(seconds: 5))
    }

    @Test func `RN-04.3: a stored name is overwritten by nothing, not even by another name`() throws {
        try bench.signIn(name: "Ana Pérez")
        for later in [nil, "Mallory"] {
            #expect(try bench.signIn(name: later).account.profile.fullName == "Ana Pérez")
        }
    }

    @Test func `RN-04.4: a relay alias makes a new account and is never linked`() throws {
        let known = try bench.signIn(
            TokenForge(subject: "known").with(["email": "ana@example.com", "is_private_email": .bool(false)]))
        let relay = try bench.signIn(TokenForge(subject: "relay"), email: "ana@example.com")
        #expect(relay.isNew)
        #expect(relay.account.id != known.account.id)
        #expect(relay.account.profile.email?.isPrivate == true)
        #expect(relay.account.profile.contactEmail == nil)
        #expect(bench.users.accounts["known"] == known.account)
    }

    @Test func `RN-04.4: the relay's domain is a relay alias even where Apple's claim says nothing`() throws {
        let forge = TokenForge().with(["email": "A@PrivateRelay.AppleID.com", "is_private_email": JSON?.none])
        #expect(try bench.signIn(forge).account.profile.email?.isPrivate == true)
    }

    @Test func `RN-04.5: every login opens a session of its own, and nothing of Apple's token is kept`() throws {
        let appleToken = TokenForge().token
        let first = try bench.signIn(token: appleToken, device: ["model": "iPhone"])
        let second = try bench.signIn(token: appleToken, device: ["model": "iPad"])
        #expect(first.sessionID != second.sessionID)
        #expect(bench.users.sessions.map(\.id) == [first.sessionID, second.sessionID])
        #expect(bench.users.sessions.allSatisfy { $0.accountID == first.account.id })
        #expect(bench.users.sessions.map(\.deviceInfo.json) == [["model": "iPhone"], ["model": "iPad"]])
        #expect(bench.users.sessions.first?.expiresAt == TokenForge.now.adding(seconds: 2_592_000))
        #expect(first.tokens.accessToken != second.tokens.accessToken)
        #expect(first.tokens.refreshToken != second.tokens.refreshToken)
        let kept = Seen(bench.users.sessions, bench.users.accounts)
        for part in appleToken.split(separator: ".") { #expect(!kept.shows(String(part))) }
    }

    @Test func `Scenario 1: an unknown sub makes an account with sub, name and e-mail`() throws {
        let signedIn = try bench.signIn(name: "Ana Pérez")
        #expect(signedIn.isNew)
        #expect(signedIn.account.appleSubject == TokenForge.subject)
        #expect(signedIn.account.profile.fullName == "Ana Pérez")
        #expect(signedIn.account.profile.email?.address == "x7k2m9@privaterelay.appleid.com")
    }

    @Test func `Scenario 2: a known sub without name and e-mail keeps those that are stored`() throws {
        let first = try bench.signIn(name: "Ana Pérez")
        let second = try bench.signIn(TokenForge().withoutEmail, at: TokenForge.now.adding(seconds: 60))
        #expect(!second.isNew)
        #expect(second.account == first.account)
    }

    @Test func `Scenario 3: a new sub with a relay alias is a new account`() throws {
        let signedIn = try bench.signIn(TokenForge(subject: "new"))
        #expect(signedIn.isNew)
        #expect(signedIn.account.profile.email?.isPrivate == true)
    }

    @Test(arguments: [TokenRefusal.expired, .signature, .audience])
    func `Scenario 4: expired, badly signed or another audience's: no account, no session`(_ refusal: TokenRefusal) {
        let faults = TokenForge.faults.filter { $0.refusal == refusal }
        #expect(!faults.isEmpty)
        for fault in faults {
            #expect(throws: SignInFailure.verification(.refused(refusal))) { try bench.signIn(token: fault.token) }
        }
        #expect(bench.users.accounts.isEmpty && bench.users.sessions.isEmpty)
    }

    @Test func `A nonce that does not match opens nothing`() {
        #expect(throws: SignInFailure.verification(.refused(.nonceMismatch))) {
            try bench.signIn(TokenForge().with(["nonce": "one"]), nonce: "another")
        }
        #expect(bench.users.accounts.isEmpty)
    }
}
