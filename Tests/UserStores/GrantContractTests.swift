import Accounts
import Foundation
import JOSE
import Synchronization
import Testing
import UserStores

/// What every store must keep of Apple's grants, and of those that are still to be revoked.
@Suite struct GrantContractTests {
    @Test(arguments: StoreUnderTest.all)
    func oneGrantIsKeptAPersonAndClient(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let one = try store.signIn(person("1")) { login(of: $0) }.account.id
            let two = try store.signIn(person("2")) { login(of: $0) }.account.id
            #expect(try store.grants(of: one).isEmpty)
            let app = grant(of: one, "com.example.app")
            let web = grant(of: one, "com.example.web")
            let other = grant(of: two, "com.example.app")
            for grant in [grant(of: one, "com.example.app"), app, web, other] { try store.keep(grant) }
            #expect(try store.grants(of: one) == [app, web])
            #expect(try store.grants(of: two) == [other])
            #expect(try store.revocations(limit: 10).isEmpty)
        }
    }

    @Test(arguments: StoreUnderTest.all, [true, false])
    func theGrantsOfADeletedAccountAreToBeRevoked(_ subject: StoreUnderTest, isRevoking: Bool) throws {
        try subject.withStore { store in
            let id = try store.signIn(person("1")) { login(of: $0) }.account.id
            let stranger = try store.signIn(person("2")) { login(of: $0) }.account.id
            let grants = [grant(of: id, "com.example.app"), grant(of: id, "com.example.web")]
            for grant in grants + [grant(of: stranger, "com.example.app")] { try store.keep(grant) }
            let outcome = try store.change(account: id) { _ in
                .delete(revoking: isRevoking, remembering: nil, entry(.accountDeleted, id))
            }
            #expect(outcome == .done(revocations: isRevoking ? 2 : 0))
            #expect(try store.grants(of: id).isEmpty)
            let expected = isRevoking ? grants.map { Revocation(grant: $0, dueAt: noon) } : []
            #expect(try Set(store.revocations(limit: 10)) == Set(expected))
            #expect(try store.grants(of: stranger).count == 1)
        }
    }

    /// The exchange of a code takes its time, and the person may be gone when it is done.
    @Test(arguments: StoreUnderTest.all)
    func aGrantThatComesAfterTheDeletionIsToBeRevoked(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let late = grant(of: person("1").id, "com.example.app")
            try store.keep(late)
            #expect(try store.grants(of: late.accountID).isEmpty)
            #expect(try store.revocations(limit: 10) == [Revocation(grant: late, dueAt: late.obtainedAt)])
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func whatIsTakenIsPutOffUntilItIsFinished(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            for number in 0..<3 { try store.keep(grant(of: person("\(number)").id, "c", at: Int64(number))) }
            #expect(try store.takeRevocations(due: noon.adding(seconds: -1), limit: 10).isEmpty)
            let first = try store.takeRevocations(due: noon.adding(seconds: 10), limit: 2)
            #expect(first.map(\.dueAt) == [noon, noon.adding(seconds: 1)])
            #expect(first.map(\.attempts) == [0, 0])
            let rest = try store.takeRevocations(due: noon.adding(seconds: 10), limit: 10)
            #expect(rest.map(\.dueAt) == [noon.adding(seconds: 2)])
            try store.finish(first[0])
            #expect(try store.takeRevocations(due: noon.adding(seconds: 69), limit: 10).isEmpty)
            let again = try store.takeRevocations(due: noon.adding(seconds: 70), limit: 10)
            #expect(Set(again.map(\.grant)) == [first[1].grant, rest[0].grant])
            #expect(again.map(\.attempts) == [1, 1])
            for revocation in again { try store.finish(revocation) }
            #expect(try store.revocations(limit: 10).isEmpty)
        }
    }

    /// An account that was deleted by a clock ten years ahead would be told of in ten years.
    @Test(arguments: StoreUnderTest.all)
    func whatIsDueLaterThanAnythingWaitsIsDueNow(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let day: Int64 = 86_400
            let (far, near) = (
                grant(of: person("1").id, "far", at: 3650 * day), grant(of: person("2").id, "near", at: day)
            )
            for grant in [far, near] { try store.keep(grant) }
            #expect(try store.takeRevocations(due: noon, limit: 9).map(\.grant) == [far])
            #expect(try store.takeRevocations(due: noon.adding(seconds: 59), limit: 9).isEmpty)
            #expect(try store.takeRevocations(due: noon.adding(seconds: 60), limit: 9).map(\.attempts) == [1])
            #expect(try store.takeRevocations(due: noon.adding(seconds: -1), limit: 1).map(\.grant) == [near])
        }
    }

    @Test(arguments: StoreUnderTest.shared)
    func ofManyWhoTakeAtOnceOneGetsEach(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            let store = try UserStores.open(url)
            for number in 0..<20 { try store.keep(grant(of: person("\(number)").id, "c", at: Int64(number))) }
            let taken = Mutex<[Revocation]>([])
            // Threads, because a task may wait for long where many tests run at once.
            let threads = (0..<4).map { _ in
                Thread {
                    let mine = try? UserStores.open(url).takeRevocations(due: noon.adding(seconds: 30), limit: 20)
                    taken.withLock { $0 += mine ?? [] }
                }
            }
            for thread in threads { thread.start() }
            while threads.contains(where: { !$0.isFinished }) { usleep(1000) }
            #expect(taken.withLock { $0.count } == 20)
            #expect(taken.withLock { Set($0.map(\.grant)).count } == 20)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func whatCameInThePlaceOfARevokedGrantWaitsOn(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let id = person("1").id
            try store.keep(grant(of: id, "c"))
            let taken = try store.takeRevocations(due: noon, limit: 1)
            let newer = grant(of: id, "c", at: 5)
            try store.keep(newer)
            for revocation in taken { try store.finish(revocation) }
            #expect(try store.revocations(limit: 10).map(\.grant) == [newer])
        }
    }

    @Test func theWaitGrowsFromAMinuteToADay() {
        var revocation = Revocation(grant: grant(of: person("1").id, "c"), dueAt: noon)
        var waits: [Int64] = []
        for _ in 0..<9 {
            revocation = revocation.taken(at: noon)
            waits.append((revocation.dueAt.seconds - noon.seconds) / 60)
        }
        #expect(waits == [1, 4, 16, 64, 256, 1024, 1440, 1440, 1440])
        #expect(revocation.attempts == 9)
    }

    private func grant(of account: UUIDv7, _ client: String, at seconds: Int64 = 0) -> AppleGrant {
        AppleGrant(
            accountID: account, clientID: client, keyID: "2026-11", sealed: randomBytes(60),
            obtainedAt: noon.adding(seconds: seconds))
    }
}
