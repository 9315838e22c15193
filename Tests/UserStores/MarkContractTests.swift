import Accounts
import JOSE
import TestSupport
import Testing
import UserStores

/// What every store must keep of what may happen only once.
@Suite struct MarkContractTests {
    private let mark = Mark(name: randomBytes(32), expiresAt: noon.adding(seconds: 600))

    @Test(arguments: StoreUnderTest.all)
    func aMarkLetsOneSignInThrough(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let first = try signIn("1", in: store)
            #expect(first.isDone)
            for person in ["1", "2"] {
                let second = try signIn(person, in: store)
                guard case .spent = second.outcome else {
                    Issue.record("\(second.outcome)")
                    return
                }
                #expect(second.account == nil, "nobody is looked for")
            }
            #expect(try store.check().contains("1 accounts, 0 sessions"))
            #expect(try signIn("1", in: store, at: 600).isDone, "it has expired")
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aSignInThatIsNotOpenedSpendsNoMark(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            _ = try store.signIn(person("1"), once: [mark]) { _, _ in nil }
            #expect(try signIn("1", in: store).isDone)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aMarkLetsOneChangeThrough(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let account = try #require(try signIn("1", in: store, marks: []).account)
            #expect(
                try store.change(account: .appleSubject("2"), once: mark, at: noon) { _, _ in .keep } == .noAccount)
            let changed = try store.change(account: .appleSubject("1"), once: mark, at: noon) { known, _ in
                var known = known
                known.consentRevokedAt = noon
                return .update(known, audit: [entry(.consentRevoked, known.id)])
            }
            #expect(changed == .done(revocations: 0))
            let again = try store.change(account: .id(account.id), once: mark, at: noon) { _, _ in
                Issue.record("it was asked once more")
                return .keep
            }
            #expect(again == .spent)
            #expect(try store.account(account.id)?.consentRevokedAt == noon)
            #expect(try store.audit(of: account.id).map(\.event) == [.consentRevoked])
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aPurgeForgetsMarksThatHaveExpired(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            _ = try signIn("1", in: store)
            #expect(try store.purge(before: noon.adding(seconds: 599)) == PurgeCount())
            #expect(try store.purge(before: noon.adding(seconds: 600)) == PurgeCount(marks: 1))
        }
    }

    private func signIn(
        _ subject: String, in store: any UserStore, at seconds: Int64 = 0, marks: [Mark]? = nil
    ) throws -> CandidateSignIn {
        try store.signIn(person(subject, at: noon.adding(seconds: seconds)), once: marks ?? [mark]) { account, _ in
            Opening(account: account, session: nil, audit: [])
        }
    }
}
