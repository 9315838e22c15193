import Accounts
import Foundation
import JOSE
import TestSupport
import Testing
import UserStores

/// Processes that sign in, refresh and log out until they are killed at any moment: what they said was done stays done, and
/// what they were at is done wholly or not at all.
@Suite(.serialized) struct StoreKillTests {
    private static let atOnce = 2
    private static let limit: Duration = .seconds(60)

    @Test(arguments: StoreUnderTest.shared)
    func nothingThatWasAcknowledgedIsUndoneByAKill(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            _ = try UserStores.open(url).migrate()
            var ledger = Ledger()
            let began = ContinuousClock.now
            var kills = 0
            let people = max(4, subject.kills / 15)
            for round in 0..<(subject.kills / Self.atOnce) where began.duration(to: .now) < Self.limit {
                // Some at once, on the same accounts, so that one is killed while another waits for it.
                let probes = try (0..<Self.atOnce).map { _ in
                    try StoreProbe(url, command: ["lives", "person-\(round % people)"])
                }
                for probe in probes {
                    ledger.read(probe.lines(killedAfter: UInt32.random(in: subject.lives)))
                    kills += 1
                }
            }
            #expect(kills >= 100, "the machine is too slow for this test to say much")
            #expect(ledger.operations >= kills, "they were killed before they did anything")
            try ledger.check(try UserStores.open(url))
        }
    }
}

/// What the processes acknowledged.
private struct Ledger {
    /// The last token of a session that was said to be good, by session.
    private var tokens: [UUIDv7: RefreshToken] = [:]
    private var ended: Set<UUIDv7> = []
    private(set) var operations = 0

    mutating func read(_ lines: [String]) {
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 2, let session = UUIDv7(words[1]) else {
                Issue.record("a probe failed: \(line)")
                continue
            }
            operations += 1
            switch words[0] {
            case "opened", "refreshed": tokens[session] = RefreshToken(words[2])
            case "ended": ended.insert(session)
            default: Issue.record("\(line)")
            }
        }
    }

    func check(_ store: any UserStore) throws {
        let rotation = TestService(users: store).rotation
        var accounts: Set<UUIDv7> = []
        var unacknowledgedEnds = 0
        for (id, token) in tokens {
            let found = try store.session(id)
            guard let (session, account) = found else {
                // The one step after the last that was acknowledged may have been done: here the logout.
                if !ended.contains(id) { unacknowledgedEnds += 1 }
                continue
            }
            #expect(!ended.contains(id), "a logout was undone")
            accounts.insert(account.id)
            switch rotation.verdict(on: token, for: session, at: session.lastUsedAt) {
            case .rotated, .repeated: break
            case .reused, .expired, .unknown: Issue.record("a refresh was undone, or a token was lost")
            }
        }
        // All that there are, also those all of whose sessions have ended.
        let all = try store.accounts(after: nil, limit: 1000).map(\.id)
        #expect(accounts.isSubset(of: all))
        for account in all { try checkAudit(of: account, in: store, &unacknowledgedEnds) }
        #expect(unacknowledgedEnds == 0, "sessions are gone without a word in the audit")
        #expect(try store.check().contains(" \(all.count) accounts,"))
    }

    /// Account, sessions and audit are written together, so each says what the others say.
    private func checkAudit(of account: UUIDv7, in store: any UserStore, _ unacknowledgedEnds: inout Int) throws {
        let audit = try store.audit(of: account)
        let signedIn = audit.filter { $0.event == .signedIn }.compactMap(\.sessionID)
        let loggedOut = audit.filter { $0.event == .loggedOut }.compactMap(\.sessionID)
        let alive = try store.sessions(of: account, at: UnixTime(milliseconds: .min)).map(\.id)
        #expect(audit.first?.event == .accountCreated)
        #expect(!signedIn.isEmpty)
        #expect(audit.count == 1 + signedIn.count + loggedOut.count)
        #expect(Set(signedIn).count == signedIn.count && Set(loggedOut).count == loggedOut.count)
        #expect(Set(signedIn) == Set(alive + loggedOut))
        #expect(Set(alive).isDisjoint(with: loggedOut))
        unacknowledgedEnds -= loggedOut.count { tokens[$0] != nil && !ended.contains($0) }
    }
}
