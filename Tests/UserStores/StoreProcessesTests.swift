import Accounts
import JOSE
import Testing
import UserStores

/// What a store keeps when many processes use it, and when they die.
@Suite(.serialized) struct StoreProcessesTests {
    @Test(arguments: StoreUnderTest.shared)
    func sixtyFourFirstLoginsAtOnceMakeOneAccount(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            _ = try UserStores.open(url).migrate()
            try signInAtOnce(64, at: url)
        }
    }

    /// Regression: a process that looked at the version before the schema was there, and at the tables after, took the
    /// file for another program's. One round in six showed it.
    @Test(arguments: StoreUnderTest.shared)
    func sixtyFourFirstLoginsOnAnEmptyStoreMakeOneAccount(_ subject: StoreUnderTest) throws {
        for _ in 0..<(subject.isHeldWhole ? 6 : 2) { try subject.withURL { url in try signInAtOnce(64, at: url) } }
    }

    private func signInAtOnce(_ count: Int, at url: String) throws {
        let results = try StoreProbe.atOnce(count) { _ in
            try StoreProbe(url, "canary-subject", ["--at-gate"])
        }.map { try $0.signedIn() }
        #expect(Set(results.map(\.account)).count == 1)
        #expect(results.count { $0.isNew } == 1)
        #expect(Set(results.map(\.session)).count == count)
        #expect(try UserStores.open(url).check().contains("1 accounts, \(count) sessions"))
    }

    @Test(arguments: StoreUnderTest.shared)
    func aProcessKilledInTheMiddleLeavesNothingHalfDone(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            _ = try StoreProbe(url, "known").signedIn()
            for victim in ["unknown", "known"] {
                let probe = try StoreProbe(url, victim, ["--hold"])
                try probe.wait(for: "inside")
                probe.kill()
                #expect(try UserStores.open(url).check().contains("1 accounts, 1 sessions"))
            }
            #expect(try StoreProbe(url, "unknown").signedIn().isNew)
        }
    }

    /// Where nobody waits, whoever comes second with what was decided decides again.
    @Test(arguments: StoreUnderTest.optimistic)
    func whoWasOvertakenSeesWhatTheOtherDid(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            let slow = try StoreProbe(url, "canary-subject", ["--hold"])
            try slow.wait(for: "inside")
            let quick = try StoreProbe(url, "canary-subject").signedIn()
            #expect(quick.isNew)
            let overtaken = try slow.signedIn()
            #expect(!overtaken.isNew)
            #expect(overtaken.account == quick.account && overtaken.session != quick.session)
            #expect(try UserStores.open(url).check().contains("1 accounts, 2 sessions"))
        }
    }

    @Test(arguments: StoreUnderTest.waiting, [true, false])
    func whoFindsAnotherWriterWaitsForIt(_ subject: StoreUnderTest, isKnown: Bool) throws {
        try subject.withURL { url in
            // Of an unknown person there is no row to hold: who comes last does it again.
            guard isKnown || subject.isHeldWhole else { return }
            if isKnown { _ = try StoreProbe(url, "canary-subject").signedIn() }
            let writer = try StoreProbe(url, "canary-subject", ["--hold"])
            try writer.wait(for: "inside")
            let waiting = try StoreProbe(url, "canary-subject", ["--at-gate"])
            try waiting.wait(for: "ready")
            waiting.proceed()
            let impatient = try StoreProbe(url, "canary-subject", ["--patience", "100"]).refusal()
            #expect(impatient.contains("unavailable"))
            #expect(try writer.signedIn().isNew == !isKnown)
            #expect(try !waiting.signedIn().isNew)
        }
    }
}
