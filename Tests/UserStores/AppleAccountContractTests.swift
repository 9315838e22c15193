import Accounts
import AppleID
import JOSE
import TestSupport
import Testing
import UserStores

/// What every store must keep of the life of an Apple account: its move to another team, and what Apple tells of it.
@Suite struct AppleAccountContractTests {
    @Test(arguments: StoreUnderTest.all)
    func aMovedPersonIsFoundOnceByTheNameOfTheMove(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let known = try store.signIn(person("old", Profile(fullName: "Ana"))) { login(of: $0) }
            _ = try store.signIn(person("other")) { login(of: $0) }
            try store.change(account: known.account.id) { account in
                var account = account
                account.transferSubject = "moving"
                return .update(account, audit: [])
            }
            try store.keep(
                AppleGrant(accountID: known.account.id, clientID: "c", keyID: "k", sealed: [1], obtainedAt: noon))
            let lookup = AppleLookup(subject: "new", transferSubject: "moving")
            _ = try store.signIn(lookup, since: nil, repeating: nil, once: [], at: noon) { found in
                #expect(found?.id == known.account.id)
                #expect(found?.transferSubject == "moving")
                guard let account = found?.bound(to: "new", at: noon.adding(seconds: 1)) else { return nil }
                return Opening(account: account, session: nil, audit: [entry(.accountTransferred, account.id)])
            }
            let bound = try #require(try store.account(known.account.id))
            #expect(bound == known.account.bound(to: "new", at: noon.adding(seconds: 1)))
            #expect(bound.profile.fullName == "Ana")
            #expect(try store.grants(of: bound.id).isEmpty, "they were the other team's")
            #expect(try store.session(known.session.id) != nil, "who is signed in stays so")
            for subject in ["old", "elsewhere"] {
                let late = AppleLookup(subject: subject, transferSubject: "moving")
                _ = try store.signIn(late, since: nil, repeating: nil, once: [], at: noon) { found in
                    #expect(found == nil, "once")
                    return nil
                }
            }
            #expect(try !store.signIn(person("new")) { login(of: $0) }.isNew)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func theSubjectComesBeforeTheNameOfTheMove(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let moving = try store.signIn(person("1")) { login(of: $0) }.account
            try store.change(account: moving.id) { account in
                var account = account
                account.transferSubject = "moving"
                return .update(account, audit: [])
            }
            let known = try store.signIn(person("2")) { login(of: $0) }.account
            _ = try store.signIn(
                AppleLookup(subject: "2", transferSubject: "moving"), since: nil, repeating: nil, once: [], at: noon
            ) { found in
                #expect(found == known)
                return nil
            }
        }
    }

    @Test(arguments: StoreUnderTest.all, [true, false])
    func whatAppleTellsOfAPersonIsKept(_ subject: StoreUnderTest, isOn: Bool) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1")) { login(of: $0) }
            let kept = try store.signIn(person("1")) { login(of: $0) }.session
            try store.change(account: made.account.id) { account in
                var account = account
                account.consentRevokedAt = noon.adding(seconds: 5)
                account.forwarding = EmailForwarding(isOn: isOn, since: noon.adding(seconds: 7))
                return .update(account, ending: [made.session], audit: [entry(.consentRevoked, account.id)])
            }
            let account = try #require(try store.account(made.account.id))
            #expect(account.consentRevokedAt == noon.adding(seconds: 5))
            #expect(account.forwarding == EmailForwarding(isOn: isOn, since: noon.adding(seconds: 7)))
            #expect(try store.session(made.session.id) == nil)
            #expect(try store.session(kept.id)?.1 == account)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func accountsAreListedInPages(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let ids = try (0..<25).map { index in
                try store.signIn(person("\(index)", at: noon.adding(seconds: Int64(index)))) { login(of: $0) }.account
                    .id
            }
            var seen: [UUIDv7] = []
            while true {
                let page = try store.accounts(after: seen.last, limit: 10)
                #expect(page.count <= 10)
                guard !page.isEmpty else { break }
                seen += page.map(\.id)
            }
            #expect(seen == ids)
        }
    }
}
