import Accounts
import JOSE
import Testing
import UserStores

/// What every store must keep of consent that is withdrawn, and of grants that are sealed anew.
@Suite struct WithdrawalContractTests {
    @Test(arguments: StoreUnderTest.all)
    func grantsUntilTheWithdrawalGoAndReceiptsWithThem(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let id = try store.signIn(person("1")) { login(of: $0) }.account.id
            let stranger = try store.signIn(person("2")) { login(of: $0) }.account.id
            let name = randomBytes(32)
            let receipt = Receipt(name: name, sealed: [1], expiresAt: noon.adding(seconds: 600))
            _ = try store.signIn(AppleLookup(subject: "1"), since: nil, repeating: nil, once: [], at: noon) { known in
                known.map { Opening(account: $0, session: nil, audit: [], receipt: receipt) }
            }
            let late = grant(of: id, "late", at: 11)
            for grant in [grant(of: id, "early", at: 0), grant(of: id, "just", at: 10), late] { try store.keep(grant) }
            try store.keep(grant(of: stranger, "early", at: 0))
            try store.change(account: id) {
                .update($0, withdrawal: Withdrawal(until: noon.adding(seconds: 10), remembering: nil), audit: [])
            }
            #expect(try store.grants(of: id) == [late])
            #expect(try store.grants(of: stranger).count == 1)
            #expect(try store.revocations(limit: 9).isEmpty)
            let repeated = try store.signIn(AppleLookup(subject: "1"), since: nil, repeating: name, once: [], at: noon)
            { _ in nil }
            guard case .nothing = repeated else {
                Issue.record("the receipt is still there")
                return
            }
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aChangeWithoutWithdrawalKeepsGrantsAndReceipts(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let id = try store.signIn(person("1")) { login(of: $0) }.account.id
            try store.keep(grant(of: id, "c", at: 0))
            try store.change(account: id) { .update($0, audit: []) }
            #expect(try store.grants(of: id).count == 1)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aGrantIsReplacedWhereItIsStillTheSame(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let id = try store.signIn(person("1")) { login(of: $0) }.account.id
            let gone = person("2").id
            let (held, waiting) = (grant(of: id, "c", at: 0), grant(of: gone, "c", at: 0))
            for grant in [held, waiting] { try store.keep(grant) }
            _ = try store.takeRevocations(due: noon, limit: 9)
            for old in [held, waiting] { try store.replace(old, by: resealed(old)) }
            #expect(try store.grants(of: id) == [resealed(held)])
            let entry = try #require(try store.revocations(limit: 9).first)
            #expect(entry.grant == resealed(waiting))
            #expect(entry.attempts == 1 && entry.dueAt == noon.adding(seconds: 60), "it waits as it did")

            // Another token came meanwhile, or the entry is done.
            let newer = grant(of: id, "c", at: 5)
            try store.keep(newer)
            try store.finish(entry)
            for old in [held, waiting] { try store.replace(old, by: resealed(old)) }
            #expect(try store.grants(of: id) == [newer])
            #expect(try store.revocations(limit: 9).isEmpty)
        }
    }

    @Test(arguments: StoreUnderTest.shared)
    func aStoreThatWasClosedIsOpenedAnew(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            store.close()
            let id = try store.signIn(person("1")) { login(of: $0) }.account.id
            store.close()
            store.close()
            #expect(try store.account(id) != nil)
        }
    }

    private func resealed(_ grant: AppleGrant) -> AppleGrant {
        AppleGrant(
            accountID: grant.accountID, clientID: grant.clientID, keyID: "new", sealed: [7, 7, 7],
            obtainedAt: grant.obtainedAt)
    }

    private func grant(of account: UUIDv7, _ client: String, at seconds: Int64) -> AppleGrant {
        AppleGrant(
            accountID: account, clientID: client, keyID: "old", sealed: randomBytes(60),
            obtainedAt: noon.adding(seconds: seconds))
    }
}
