import Accounts
import Foundation
import JOSE
import Synchronization
import TestSupport
import Testing
import UserStores

/// What every store must keep of who left, by a deletion or a withdrawal: nobody comes in as them by what is older.
@Suite struct DepartureContractTests {
    private let name = randomBytes(32)

    @Test(arguments: StoreUnderTest.all)
    func whatADeletionLeavesKeepsOutWhatIsOlder(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            #expect(try open("1", 0, in: store).isDone)
            try delete("1", leaving: 600, in: store)
            let before = try store.check()
            for end in [Int64(0), 599] {
                let late = try open("1", end, in: store)
                guard case .departed = late.outcome else {
                    Issue.record("\(end): \(late.outcome)")
                    return
                }
            }
            #expect(try store.check() == before, "nothing was written")
            #expect(try open("2", 600, in: store).isDone)
            #expect(try open("1", 600, in: store).isNew)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func whoIsHereAgainIsNotReachedByWhatIsOlder(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            #expect(try open("1", 0, in: store).isDone)
            try delete("1", leaving: 600, in: store)
            #expect(try open("1", 600, in: store).isNew)
            let before = try store.check()
            guard case .departed = try open("1", 599, in: store).outcome else {
                Issue.record("it came in")
                return
            }
            #expect(try store.check() == before, "nothing was written")
            let again = try open("1", 600, in: store)
            #expect(again.isDone && !again.isNew)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aWithdrawalKeepsOutWhatIsOlder(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let account = try #require(try open("1", 0, in: store).account)
            for (end, kept) in [(Int64(600), Int64(600)), (700, 700), (650, 700)] {
                try store.change(account: account.id) {
                    let mark = Mark(name: name, expiresAt: noon.adding(seconds: end))
                    return .update($0, withdrawal: Withdrawal(until: noon, remembering: mark), audit: [])
                }
                guard case .departed = try open("1", kept - 1, in: store).outcome else {
                    Issue.record("\(end): it came in")
                    return
                }
                #expect(try !open("1", kept, in: store).isNew, "the account is the same")
                #expect(try open("2", 0, in: store).isDone)
            }
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func ofTwoDeletionsTheLaterCounts(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            for (end, kept) in [(Int64(600), Int64(600)), (700, 700), (650, 700)] {
                #expect(try open("1", 1000, in: store).isDone)
                try delete("1", leaving: end, in: store)
                guard case .departed = try open("1", kept - 1, in: store).outcome else {
                    Issue.record("\(end): it came back")
                    return
                }
            }
            #expect(try open("1", 700, in: store).isDone)
        }
    }

    /// Or nobody could come back before that time.
    @Test(arguments: StoreUnderTest.all)
    func aDeletionByAClockThatRanAheadKeepsNobodyOut(_ subject: StoreUnderTest) throws {
        let latest = 604_800 + 600 + 300
        try subject.withStore { store in
            for (end, isBelieved) in [(Int64(latest), true), (Int64(latest) + 1, false)] {
                #expect(try open("1", end, in: store).isDone)
                try delete("1", leaving: end, in: store)
                let late = try open("1", 0, in: store).outcome
                if case .departed = late { #expect(isBelieved) } else { #expect(!isBelieved) }
            }
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func whatIsRepeatedOrSpentComesFirst(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let used = Mark(name: randomBytes(32), expiresAt: noon.adding(seconds: 600))
            let receipt = Receipt(name: randomBytes(32), sealed: [1], expiresAt: noon.adding(seconds: 600))
            #expect(try open("2", 0, marks: [used], receipt: receipt, in: store).isDone)
            #expect(try open("1", 0, in: store).isDone)
            try delete("1", leaving: 600, in: store)
            guard case .spent = try open("1", 0, marks: [used], in: store).outcome,
                case .repeated(receipt) = try open("1", 0, marks: [used], receipt: receipt, in: store).outcome
            else {
                Issue.record("another order")
                return
            }
            // Who is kept out spends nothing.
            let fresh = Mark(name: randomBytes(32), expiresAt: noon.adding(seconds: 600))
            guard case .departed = try open("1", 0, marks: [fresh], in: store).outcome else {
                Issue.record("it came back")
                return
            }
            #expect(try open("1", 600, marks: [fresh], in: store).isDone)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func whatIsLeftIsPurgedAndMovedAsAnyMark(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            #expect(try open("1", 0, in: store).isDone)
            try delete("1", leaving: 600, in: store)
            let other = try UserStores.open("memory:")
            try store.forEachEntry(at: noon) { entry in
                _ = try? other.restore(entry)
                return true
            }
            guard case .departed = try open("1", 599, in: other).outcome else {
                Issue.record("it did not move")
                return
            }
            #expect(try store.purge(before: noon.adding(seconds: 599)) == PurgeCount())
            #expect(try store.purge(before: noon.adding(seconds: 600)) == PurgeCount(marks: 1))
            #expect(try open("1", 0, in: store).isDone)
        }
    }

    /// Who comes first holds the account, and who comes then waits and finds what that one left.
    @Test(arguments: StoreUnderTest.waiting)
    func whoComesDuringADeletionIsKeptOut(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            let store = try UserStores.open(url)
            #expect(try open("1", 0, in: store).isDone)
            let done = DispatchSemaphore(value: 0)
            let outcome = Mutex("nothing")
            try delete("1", leaving: 600, in: store) {
                Thread.detachNewThread {
                    let late = Result { try open("1", 599, in: UserStores.open(url)).outcome }
                    outcome.withLock { $0 = "\(late)" }
                    done.signal()
                }
                #expect(done.wait(timeout: .now() + 0.3) == .timedOut, "it waits")
            }
            #expect(done.wait(timeout: .now() + 10) == .success)
            #expect(outcome.withLock { $0 }.contains("departed"), "\(outcome.withLock { $0 })")
            #expect(try store.check().contains("0 accounts, 0 sessions"))
        }
    }

    /// Where nobody waits, what was decided on somebody who was not there yet, or on nobody, is not carried out.
    @Test(arguments: StoreUnderTest.optimistic, [true, false])
    func whoIsDeletedDuringASignInStaysSo(_ subject: StoreUnderTest, isBack: Bool) throws {
        try subject.withURL { url in
            let (store, other) = (try UserStores.open(url), try UserStores.open(url))
            var seen: [Bool] = []
            let old = Mark(name: name, expiresAt: noon.adding(seconds: 599))
            let late = try store.signIn(person("1"), since: old) { account, isNew in
                seen.append(isNew)
                if seen.count == 1 {
                    #expect((try? open("1", 600, in: other))?.isDone == true)
                    try? delete("1", leaving: 600, in: other)
                    if isBack { #expect((try? open("1", 600, in: other))?.isDone == true) }
                }
                return Opening(account: account, session: login(of: account), audit: [])
            }
            guard case .departed = late.outcome else {
                Issue.record("\(late.outcome)")
                return
            }
            #expect(seen == (isBack ? [true, false] : [true]))
            #expect(try store.check().contains(isBack ? "1 accounts, 1 sessions" : "0 accounts, 0 sessions"))
        }
    }

    /// - Parameter end: how long after noon a mark may be remembered that does not keep it out.
    private func open(
        _ subject: String, _ end: Int64, marks: [Mark] = [], receipt: Receipt? = nil, in store: any UserStore
    ) throws -> CandidateSignIn {
        let departure = Mark(name: subject == "1" ? name : randomBytes(32), expiresAt: noon.adding(seconds: end))
        return try store.signIn(person(subject), since: departure, repeating: receipt?.name, once: marks) {
            account, _ in
            Opening(
                account: account, session: login(of: account), audit: [entry(.signedIn, account.id)], receipt: receipt)
        }
    }

    private func delete(
        _ subject: String, leaving end: Int64, in store: any UserStore, inside: () -> Void = {}
    ) throws {
        let outcome = try store.change(account: .appleSubject(subject), once: nil, at: noon) { account, _ in
            inside()
            return .delete(
                revoking: true, remembering: Mark(name: name, expiresAt: noon.adding(seconds: end)),
                entry(.accountDeleted, account.id))
        }
        #expect(outcome == .done(revocations: 0))
    }
}
