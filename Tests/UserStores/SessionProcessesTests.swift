import Accounts
import Foundation
import JOSE
import TestSupport
import Testing
import UserStores

/// What a store keeps of sessions when many processes use them at once.
@Suite(.serialized) struct SessionProcessesTests {
    /// 2 as asked for everywhere, 16 so that somebody waits.
    @Test(arguments: StoreUnderTest.shared, [2, 2, 2, 16])
    func refreshesAtOnceGetOneSuccessorAndAllLiveOn(_ subject: StoreUnderTest, count: Int) throws {
        try subject.withURL { url in
            let store = try UserStores.open(url)
            let made = try TestService(users: store).open("canary-subject", at: realNow())
            var token = made.token.text
            for _ in 0..<2 {
                let successors = try StoreProbe.atOnce(count) { _ in
                    try StoreProbe(url, command: ["refresh", "--at-gate"], input: token)
                }.map { try $0.result()[0] }
                #expect(Set(successors).count == 1)
                #expect(successors[0] != token)
                token = successors[0]
            }
            let session = try #require(try store.session(made.session.id)).0
            #expect(session.refresh.digest == RefreshToken(token)?.digest(using: TokenForge.cryptography))
            #expect(try store.audit(of: made.account.id).map(\.event) == [.accountCreated, .signedIn])
        }
    }

    @Test(arguments: StoreUnderTest.shared)
    func aRotationOutlivesTheProcessThatIsKilledAfterIt(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            let service = TestService(users: try UserStores.open(url))
            let made = try service.open("1", at: realNow())
            let probe = try StoreProbe(url, command: ["refresh", "--stay"], input: made.token.text)
            probe.proceed()
            let successor = try #require(RefreshToken(probe.nextLine()))
            probe.kill()
            let session = try #require(try UserStores.open(url).session(made.session.id)).0
            #expect(session.refresh.digest == successor.digest(using: TokenForge.cryptography))
            #expect(session.refresh.previous?.digest == made.session.refresh.digest)
            #expect(session.lastUsedAt >= made.session.lastUsedAt)
        }
    }

    @Test(arguments: StoreUnderTest.shared)
    func whoLogsOutWhileOthersRefreshIsLoggedOut(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            let store = try UserStores.open(url)
            for _ in 0..<3 {
                let made = try TestService(users: store).open("1", at: realNow())
                let known = try store.audit(of: made.account.id).count
                let probes = try StoreProbe.atOnce(8) { index in
                    try StoreProbe(
                        url, command: [index % 4 == 3 ? "logout" : "refresh", "--at-gate"], input: made.token.text)
                }
                for (index, probe) in probes.enumerated() {
                    let (status, output) = probe.end()
                    let words = output.split(separator: "\n").last ?? ""
                    if index % 4 == 3 {
                        #expect(words == "done", "\(output)")
                    } else if status != 0 {
                        #expect(words.contains("sessionUnknown"), "\(output)")
                    }
                }
                #expect(try store.session(made.session.id) == nil)
                let added = try store.audit(of: made.account.id).dropFirst(known)
                #expect(added.map(\.event) == [.loggedOut])
                #expect(added.first?.sessionID == made.session.id)
            }
        }
    }

    @Test(arguments: StoreUnderTest.shared)
    func sixteenRepetitionsOfOneSignInOpenOneSessionAndGetOneAnswer(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            let now = TokenForge.now
            let forged = TokenForge(audience: TestService.audience, at: now).token
            let keys = try #require(TokenForge.keys.keySet)
            let request: (String) -> String = { key in
                ([
                    "token": .string(forged), "keys": keys.json, "idempotency_key": .string(key),
                    "time": .integer(now.seconds),
                ] as JSON).text
            }
            let answers = try StoreProbe.atOnce(16) { _ in
                try StoreProbe(url, command: ["apple", "--at-gate"], input: request("key-1"))
            }.map { try $0.result() }
            #expect(Set(answers).count == 1, "session, isNew, both tokens: all the same")
            #expect(answers[0][1] == "true")
            let store = try UserStores.open(url)
            #expect(try store.check().contains("1 accounts, 1 sessions"))
            let id = try #require(UUIDv7(answers[0][0]))
            let session = try #require(try store.session(id)).0
            #expect(try store.audit(of: session.accountID).map(\.event) == [.accountCreated, .signedIn])
            #expect(session.refresh.digest == RefreshToken(answers[0][2])?.digest(using: TokenForge.cryptography))
            let other = try StoreProbe(url, command: ["apple"], input: request("key-2")).result()
            #expect(other[0] != answers[0][0] && other[1] == "false", "another key is another request")
        }
    }

    @Test(arguments: StoreUnderTest.shared)
    func noAttemptIsCountedTwiceOrForgotten(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            _ = try UserStores.open(url).migrate()
            let probes = try StoreProbe.atOnce(32) { _ in
                try StoreProbe(url, command: ["count", "sign-in", "1760000000", "8", "--at-gate"])
            }
            let counts = probes.flatMap { $0.end().output.split(separator: "\n").compactMap { Int($0) } }
            #expect(counts.sorted() == Array(1...256))
        }
    }
}

func realNow() -> UnixTime {
    UnixTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
}
