import Accounts
import JOSE
import TestSupport
import Testing
import UserStores

/// What every store must keep of the audit, of receipts and of attempts, which no account row holds.
@Suite struct AuditContractTests {
    @Test(arguments: StoreUnderTest.all)
    func everyEntryIsReadBackInTheOrderInWhichItWasAdded(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let id = try store.signIn(person("1")) { login(of: $0) }.account.id
            _ = try store.signIn(person("2")) { login(of: $0) }
            var expected = try store.audit(of: id)
            #expect(expected.map(\.event) == [.accountCreated, .signedIn])
            // One moment for many, a clock that goes back, everything and nothing given.
            for (index, event) in (AuditEntry.Event.allCases + AuditEntry.Event.allCases).enumerated() {
                let isFull = index < AuditEntry.Event.allCases.count
                let added = entry(
                    event, id, session: isFull ? person("3").id : nil, reason: isFull ? "reason \(index)" : nil,
                    at: noon.adding(seconds: isFull ? 0 : Int64(-index)),
                    from: AuditEntry.Origin(requestID: "request-\(index)", sourceAddress: isFull ? "2001:db8::1" : nil))
                _ = try store.signIn(person("1")) { account, _ in
                    Opening(account: account, session: nil, audit: [added])
                }
                expected.append(added)
            }
            #expect(try store.audit(of: id) == expected)
            #expect(try store.audit(of: person("3").id).isEmpty)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aSignInThatIsNotOpenedLeavesNothing(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let candidate = person("1")
            let outcome = try store.signIn(candidate, repeating: randomBytes(32)) { _, isNew in
                #expect(isNew)
                return nil
            }
            guard case .nothing = outcome.outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(try store.account(candidate.id) == nil)
            #expect(try store.audit(of: candidate.id).isEmpty)
            let made = try store.signIn(person("1")) { login(of: $0) }
            #expect(made.isNew)
            // Of one who is known, what was brought is not learnt either.
            _ = try store.signIn(person("1", Profile(fullName: "Ana"), at: noon.adding(seconds: 1))) {
                #expect($0.profile.fullName == "Ana")
                #expect(!$1)
                return nil
            }
            #expect(try store.account(made.account.id) == made.account)
            #expect(try store.check().contains("1 accounts, 1 sessions"))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aRequestThatIsRepeatedGetsItsReceiptUntilThatExpires(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let receipt = Receipt(
                name: randomBytes(32), sealed: randomBytes(1500), expiresAt: noon.adding(seconds: 600))
            let first = try #require(try keep(receipt, in: store, at: noon))
            for seconds in [0, 599] as [Int64] {
                #expect(try keep(receipt, in: store, at: noon.adding(seconds: seconds)) == nil)
            }
            #expect(try store.audit(of: first.account.id).count == 1, "nothing was done")
            var other = Receipt(name: randomBytes(32), sealed: [], expiresAt: noon.adding(seconds: 600))
            #expect(try keep(other, in: store, at: noon) != nil, "another name is another request")
            // The one that has expired gives its place to the next.
            other = Receipt(name: receipt.name, sealed: randomBytes(10), expiresAt: noon.adding(seconds: 1200))
            #expect(try keep(other, in: store, at: noon.adding(seconds: 600)) != nil)
            #expect(try keep(other, in: store, at: noon.adding(seconds: 601)) == nil)
        }
    }

    /// Signs in with a receipt; nil when the request is a repetition, which must give back what was kept.
    private func keep(
        _ receipt: Receipt, in store: any UserStore, at time: UnixTime
    ) throws -> (account: Account, isNew: Bool)? {
        let outcome = try store.signIn(person("1", at: time), repeating: receipt.name) { account, _ in
            let session = login(of: account, at: time)
            return Opening(
                account: account, session: session,
                audit: [entry(.signedIn, account.id, session: session.id, at: time)],
                receipt: receipt)
        }
        switch outcome.outcome {
        case .done: return (try #require(outcome.account), outcome.isNew)
        case .spent: throw StoreError.unusable(reason: "spent")
        case .departed: throw StoreError.unusable(reason: "departed")
        case .repeated(let kept):
            #expect(kept == receipt)
            return nil
        case .nothing: throw StoreError.unusable(reason: "nothing")
        }
    }

    /// The answer that was kept could not be given: its session has ended, or the key that sealed it is gone.
    @Test(arguments: StoreUnderTest.all)
    func aReceiptThatNobodyLookedForTakesThePlaceOfAnother(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let name = randomBytes(32)
            for sealed in [[1], [2]] as [[UInt8]] {
                let receipt = Receipt(name: name, sealed: sealed, expiresAt: noon.adding(seconds: 600))
                let made = try store.signIn(person("1")) { account, _ in
                    Opening(account: account, session: nil, audit: [], receipt: receipt)
                }
                #expect(made.isDone)
            }
            let again = try store.signIn(person("1"), repeating: name) { _, _ in nil }
            guard case .repeated(let kept) = again.outcome else {
                Issue.record("\(again.outcome)")
                return
            }
            #expect(kept.sealed == [2])
        }
    }

    /// Else the repetition of a request would be answered with the tokens of a session that was ended on purpose.
    @Test(arguments: StoreUnderTest.all, [true, false])
    func aReceiptGoesWithTheAccount(_ subject: StoreUnderTest, isDeleted: Bool) throws {
        try subject.withStore { store in
            let receipt = Receipt(name: randomBytes(32), sealed: [1], expiresAt: noon.adding(seconds: 600))
            let account = try #require(try keep(receipt, in: store, at: noon)).account
            var disabled = account
            disabled.disabledAt = noon
            try store.change(account: account.id) { _ in
                isDeleted
                    ? .delete(revoking: true, remembering: nil, entry(.accountDeleted, account.id))
                    : .update(disabled, audit: [entry(.accountDisabled, account.id)])
            }
            let again = try #require(try keep(receipt, in: store, at: noon))
            #expect(again.isNew == isDeleted)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func attemptsAreCountedByKeyAndWindow(_ subject: StoreUnderTest) throws {
        try subject.withStore { store throws in
            let (one, two) = (attemptKey(1), attemptKey(2))
            for expected in 1...3 as ClosedRange<Int64> {
                #expect(try store.count(one, window: noon, of: 60) == expected)
            }
            #expect(try store.count(two, window: noon, of: 60) == 1)
            let next = noon.adding(seconds: 60)
            #expect(try store.count(one, window: next, of: 60) == 1)
            #expect(try store.count(one, window: next, of: 60) == 2)
            #expect(try store.count(one, window: noon, of: 60) == 3, "a latecomer does not begin the old window anew")
            #expect(try store.count(one, window: next, of: 60) == 4)
            #expect(try store.count(two, window: noon, of: 60) == 2)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aClockThatRanAheadLocksNobodyOut(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            // Up to a day ahead the window of the future once went on counting until its time had come.
            for (number, ahead) in [120, 86_400, 365 * 86_400].enumerated() {
                let key = attemptKey(UInt16(number))
                for _ in 0..<5 { _ = try store.count(key, window: noon.adding(seconds: Int64(ahead)), of: 60) }
                #expect(try store.count(key, window: noon, of: 60) == 1)
                #expect(try store.count(key, window: noon, of: 60) == 2)
            }
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aPurgeCountsWhatItRemovesOfEachKind(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1")) { login(of: $0, days: 1) }
            let day: Int64 = 86_400
            let half = subject.bulk / 2
            // More than two of the batches in which it works; half of them stay.
            for index in 0..<subject.bulk {
                let isShort = index.isMultiple(of: 2)
                let receipt = Receipt(
                    name: randomBytes(32), sealed: [1], expiresAt: noon.adding(seconds: isShort ? 600 : 90 * day))
                _ = try store.signIn(person("\(2 + index)")) { account, _ in
                    Opening(
                        account: account, session: nil,
                        audit: [entry(.signedIn, account.id, at: isShort ? noon : noon.adding(seconds: day))],
                        receipt: receipt)
                }
                _ = try store.count(
                    attemptKey(UInt16(index)), window: isShort ? noon : noon.adding(seconds: 90 * day), of: 60)
            }
            #expect(try store.purge(before: noon) == PurgeCount())
            #expect(try store.purge(before: noon.adding(seconds: 599)) == PurgeCount())
            #expect(try store.purge(before: noon.adding(seconds: 600)) == PurgeCount(receipts: half))
            #expect(try store.purge(before: noon.adding(seconds: day - 1)) == PurgeCount())
            #expect(try store.purge(before: noon.adding(seconds: day)) == PurgeCount(sessions: 1, attempts: half))
            #expect(try store.count(attemptKey(1), window: noon.adding(seconds: 90 * day), of: 60) == 2, "it goes on")
            #expect(try store.purge(before: noon.adding(seconds: day), auditDays: 1) == PurgeCount())
            let after = noon.adding(seconds: day + 1)
            #expect(try store.purge(before: after, auditDays: 1) == PurgeCount(auditEntries: half + 2))
            #expect(try store.audit(of: made.account.id).isEmpty)
            #expect(try store.account(made.account.id) != nil, "accounts stay")
            #expect(try store.purge(before: noon.adding(seconds: 401 * day)).auditEntries == 0)
            let rest = try store.purge(before: noon.adding(seconds: 401 * day + 1))
            #expect(rest == PurgeCount(auditEntries: half), "the audit is kept for 400 days unless told otherwise")
            // The numbers of an account whose audit is gone begin again.
            _ = try store.signIn(person("1")) { login(of: $0) }
            #expect(try store.audit(of: made.account.id).map(\.event) == [.signedIn])
        }
    }
}

func attemptKey(_ number: UInt16) -> AttemptKey {
    AttemptKey(
        kind: "test", subject: [UInt8(number >> 8), UInt8(number & 255)], secret: SecretBytes([1]),
        using: TokenForge.cryptography)
}
