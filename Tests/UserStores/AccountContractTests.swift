import Accounts
import AppleID
import JOSE
import TestSupport
import Testing
import UserStores

/// What every store must keep when an operator or the person changes an account.
@Suite struct AccountContractTests {
    private let later = noon.adding(seconds: 60)

    @Test(arguments: StoreUnderTest.all)
    func aDisabledAccountHasNoSessionAndIsReadBackAsDisabled(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1")) { login(of: $0) }
            let second = try store.signIn(person("1")) { login(of: $0) }.session
            let stranger = try store.signIn(person("2")) { login(of: $0) }.session
            _ = try store.change(account: .id(made.account.id), once: nil, at: later) { account, sessions in
                #expect(account == made.account)
                #expect(Set(sessions.map(\.id)) == [made.session.id, second.id])
                return .update(
                    disabled(account), ending: sessions, audit: [entry(.accountDisabled, account.id, at: later)])
            }
            #expect(try store.account(made.account.id) == disabled(made.account))
            for id in [made.session.id, second.id] { #expect(try store.session(id) == nil) }
            #expect(try store.session(stranger.id) != nil)
            let refused = try store.signIn(person("1")) { account, _ in
                Opening(
                    account: account, session: nil,
                    audit: [entry(.signInRefused, account.id, reason: "disabled", at: later)])
            }
            #expect(refused.isDone && !refused.isNew)
            let account = try #require(refused.account)
            #expect(account.isDisabled)
            #expect(try store.sessions(of: account.id, at: noon).isEmpty)
            let events = try store.audit(of: account.id).map(\.event)
            #expect(events.suffix(2) == [.accountDisabled, .signInRefused])
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func anEnabledAccountIsUsedAgainAndKeepsItsSessions(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1")) { login(of: $0) }
            let id = made.account.id
            try store.change(account: id) { .update(disabled($0), audit: [entry(.accountDisabled, id, at: later)]) }
            try store.change(account: id) { .update(enabled($0), audit: [entry(.accountEnabled, id, at: later)]) }
            #expect(try store.account(id) == made.account)
            let session = try store.signIn(person("1")) { login(of: $0) }.session
            try store.change(account: id) { .update(enabled($0), audit: [entry(.accountEnabled, id, at: later)]) }
            #expect(try store.session(session.id)?.0 == session)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func whatIsKeptIsNotTouchedAndWhoIsUnknownIsNotAskedAbout(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1")) { login(of: $0) }
            let audit = try store.audit(of: made.account.id)
            try store.change(account: made.account.id) { _ in .keep }
            try store.change(account: person("2").id) { account in
                Issue.record("there is no such account")
                return .delete(revoking: true, remembering: nil, entry(.accountDeleted, account.id))
            }
            #expect(try store.account(made.account.id) == made.account)
            #expect(try store.session(made.session.id) != nil)
            #expect(try store.audit(of: made.account.id) == audit)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func ofADeletedAccountRemainsWhatHappenedAndWhen(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1", Profile(fullName: "Ana"))) { login(of: $0) }
            let stranger = try store.signIn(person("2")) { login(of: $0) }
            let id = made.account.id
            let before = try store.audit(of: id)
            try store.change(account: id) {
                .delete(revoking: true, remembering: nil, entry(.accountDeleted, $0.id, at: later))
            }
            #expect(try store.account(id) == nil)
            #expect(try store.session(made.session.id) == nil)
            #expect(try store.sessions(of: id, at: noon).isEmpty)
            let expected = (before + [entry(.accountDeleted, id, at: later)]).map { entry in
                var entry = entry
                entry.origin.sourceAddress = nil
                return entry
            }
            #expect(try store.audit(of: id) == expected)
            #expect(try store.audit(of: stranger.account.id).allSatisfy { $0.origin == here })
            #expect(try store.session(stranger.session.id) != nil)
            let again = try store.signIn(person("1")) { login(of: $0) }
            #expect(again.isNew, "the person may come again, as somebody new")
            #expect(again.account.id != id)
            #expect(again.account.profile == Profile())
        }
    }

    /// Nothing that is held about a person is out of reach of the export.
    @Test(arguments: StoreUnderTest.all)
    func allThatIsHeldAboutAPersonCanBeRead(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let email = AppleEmail(address: "ana@example.com", isVerified: true, isPrivate: false)
            let profile = Profile(fullName: "Ana", email: email, contactEmail: "a@example.com")
            let live = try store.signIn(person("1", profile)) { login(of: $0, on: ["name": "iPhone"]) }
            let expired = try store.signIn(person("1")) { login(of: $0, days: 1) }.session
            let id = live.account.id
            #expect(try store.account(id) == live.account)
            let all = UnixTime(milliseconds: .min)
            #expect(try Set(store.sessions(of: id, at: all)) == [live.session, expired])
            #expect(
                try store.audit(of: id) == [
                    entry(.accountCreated, id), entry(.signedIn, id, session: live.session.id),
                    entry(.signedIn, id, session: expired.id),
                ])
        }
    }

    private func disabled(_ account: Account) -> Account {
        var account = account
        account.disabledAt = later
        return account
    }

    private func enabled(_ account: Account) -> Account {
        var account = account
        account.disabledAt = nil
        return account
    }
}
