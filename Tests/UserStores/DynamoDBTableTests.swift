import Accounts
import AppleID
import Foundation
import JOSE
import TestSupport
import Testing

@testable import UserStores

/// What lies in the table, and what one transaction cannot hold.
@Suite(.enabled(if: DynamoDBServer.isInstalled, "needs Tests/tools.sh"), .serialized) struct DynamoDBTableTests {
    private static let server = try? DynamoDBServer()

    private func withTable(_ body: (DynamoDBServer, DynamoDBUserStore) throws -> Void) throws {
        let server = try #require(Self.server)
        try server.withTable { url in
            let store = try DynamoDBUserStore(
                location: String(url.dropFirst("dynamodb:".count)), isDevelopment: true, patience: .seconds(10))
            defer { try? server.fail([]) }
            try body(server, store)
        }
    }

    /// Whoever has a token signs in with it thousands of times. Once, what ended all those sessions was one transaction: larger than
    /// DynamoDB takes, so that nobody could end them, and with twenty thousand the end of the process.
    @Test func moreSessionsThanOneTransactionTellsOfEndInTurns() throws {
        try withTable { server, store in
            let account = person("1")
            let sessions = (0..<1100).map { _ in login(of: account) }
            #expect(try store.restore(.account(account, sessions: sessions, grants: [], audit: [])))
            let mark = Mark(name: randomBytes(32), expiresAt: noon.adding(seconds: 600))
            let departure = Mark(name: randomBytes(32), expiresAt: noon.adding(seconds: 600))
            var seen: [Int] = []
            let outcome = try store.change(account: .id(account.id), once: mark, at: noon) { account, all in
                seen.append(all.count)
                var account = account
                account.consentRevokedAt = noon
                let ended = all.map { entry(.sessionEnded, account.id, session: $0.id) }
                return .update(
                    account, ending: all, withdrawal: Withdrawal(until: noon, remembering: departure),
                    audit: ended + [entry(.consentRevoked, account.id)])
            }
            #expect(outcome == .done(revocations: 0))
            #expect(seen == [1100, 100], "one page of the table has them all")
            #expect(try store.account(account.id)?.consentRevokedAt == noon)
            #expect(try store.sessions(of: account.id, at: noon).isEmpty)
            let audit = try store.audit(of: account.id)
            #expect(Set(audit.compactMap(\.sessionID)) == Set(sessions.map(\.id)))
            #expect(audit.count == 1101 && audit.last?.event == .consentRevoked)
            let again = try store.change(account: .id(account.id), once: mark, at: noon) { _, _ in .keep }
            #expect(again == .spent, "the mark came with the last of them")
            let old = Mark(name: departure.name, expiresAt: noon.adding(seconds: 599))
            let late = try store.signIn(account, since: old) { account, _ in
                Opening(account: account, session: login(of: account), audit: [])
            }
            guard case .departed = late.outcome else {
                Issue.record("what is left of the withdrawal is not there")
                return
            }
        }
    }

    /// Each turn read all that were left, so that ending them all cost the square of their number.
    @Test(arguments: ["end", "change"]) func aTurnReadsWhatItEnds(_ what: String) throws {
        try withTable { server, store in
            let account = person("1")
            // A page of a megabyte has some 700 of them.
            let device: JSON = .object(["name": .string(String(repeating: "x", count: 1000))])
            let sessions = (0..<3000).map { number in
                login(of: account, on: device, at: noon.adding(seconds: Int64(number)))
            }
            #expect(try store.restore(.account(account, sessions: sessions, grants: [], audit: [])))
            _ = try server.log()
            if what == "end" {
                let ended = try store.endSessions(of: account.id, except: sessions[0].id) { session in
                    entry(.sessionEnded, account.id, session: session.id)
                }
                #expect(ended == 2999)
            } else {
                let outcome = try store.change(account: .id(account.id), once: nil, at: noon) { account, all in
                    var account = account
                    account.disabledAt = noon
                    let ending = all.filter { $0.id != sessions[0].id }
                    return .update(
                        account, ending: ending,
                        audit: ending.map { entry(.sessionEnded, account.id, session: $0.id) })
                }
                #expect(outcome == .done(revocations: 0))
            }
            let pages = try server.log().log.count { $0.operation == "Query" }
            #expect(pages <= 8, "three turns, of two pages each; they were eleven")
            #expect(try store.sessions(of: account.id, at: noon) == [sessions[0]])
            #expect(try Set(store.audit(of: account.id).map(\.sessionID)).count == 2999)
        }
    }

    /// Two items a session: more than a hundred of one transaction.
    @Test(arguments: ["end", "disable", "delete"], [true, false])
    func moreSessionsThanOneTransactionTakesEndAtOnce(_ what: String, isInterrupted: Bool) throws {
        try withTable { server, store in
            let sessions = try (0..<55).map { _ in
                try store.signIn(person("canary-subject", Profile(fullName: "canary-name"))) {
                    login(of: $0, on: ["name": "canary-device"])
                }.session
            }
            let id = sessions[0].accountID
            if isInterrupted {
                // All that sweeping needs: deletions, and audit entries rewritten without addresses.
                try server.fail(
                    ["BatchWriteItem", "PutItem"].map { operation in
                        Fault(.refuse, on: operation, times: 99) { $0.type = "AccessDeniedException" }
                    })
            }
            switch what {
            case "end":
                let ended = try store.endSessions(of: id, except: sessions[3].id) { session in
                    entry(.sessionEnded, id, session: session.id)
                }
                #expect(ended == 54)
                #expect(try store.audit(of: id).count { $0.event == .sessionEnded } == 54)
            case "disable":
                _ = try store.change(account: .id(id), once: nil, at: noon) { account, all in
                    var account = account
                    account.disabledAt = noon
                    return .update(account, ending: all, audit: [entry(.accountDisabled, id)])
                }
            default:
                _ = try store.change(account: .id(id), once: nil, at: noon) { _, _ in
                    .delete(revoking: true, remembering: nil, entry(.accountDeleted, id))
                }
                #expect(try store.account(id) == nil)
                #expect(try store.audit(of: id).allSatisfy { $0.origin.sourceAddress == nil })
            }
            let left = what == "end" ? [sessions[3]] : []
            #expect(try store.sessions(of: id, at: noon) == left)
            for session in sessions { #expect(try store.session(session.id)?.0 == left.first { $0 == session }) }
            if isInterrupted {
                #expect(try kinds(server, store)["session", default: 0] > left.count, "nothing was swept")
                try server.fail([])
                _ = try store.purge(before: noon)
            }
            #expect(try kinds(server, store)["session", default: 0] == left.count)
            #expect(try kinds(server, store)["erasure"] == nil)
            let items = try server.items(of: store.table.name)
            #expect(items.contains { $0.contains("canary") } == (what != "delete"))
            #expect(items.contains { $0.contains("192.0.2.1") } == (what != "delete"))
            #expect(items.contains { $0.contains("\"ended\"") } == false)
            if what == "end" { #expect(try !store.signIn(person("canary-subject")) { login(of: $0) }.isNew) }
        }
    }

    /// A purge had the patience of one request for all that an account left, and ended there.
    @Test func aPurgeSweepsAsLongAsDynamoDBAnswers() throws {
        try withTable { server, store in
            let account = person("1")
            let sessions = (0..<250).map { _ in login(of: account) }
            #expect(try store.restore(.account(account, sessions: sessions, grants: [], audit: [])))
            try server.fail([Fault(.refuse, on: "BatchWriteItem", times: 1) { $0.type = "AccessDeniedException" }])
            _ = try store.change(account: .id(account.id), once: nil, at: noon) { _, _ in
                .delete(revoking: true, remembering: nil, entry(.accountDeleted, account.id))
            }
            #expect(try kinds(server, store)["session"] == 250)
            let impatient = try UserStores.open(
                server.url(table: store.table.name), isDevelopment: true, patience: .seconds(2))
            try server.fail([Fault(.delay, on: "BatchWriteItem", times: 20) { $0.seconds = 0.15 }])
            _ = try impatient.purge(before: noon)
            #expect(try kinds(server, store).keys.sorted() == ["audit"])
        }
    }

    /// Who deletes has seen all there is: what comes in between makes it begin again.
    @Test func whatComesWhileAnAccountIsDeletedGoesWithIt() throws {
        try withTable { server, store in
            let other = try UserStores.open(server.url(table: store.table.name))
            let made = try store.signIn(person("1")) { login(of: $0) }
            let late = AppleGrant(
                accountID: made.account.id, clientID: "c", keyID: "k", sealed: [7], obtainedAt: noon)
            var session: Session?
            var seen: [Int] = []
            let outcome = try store.change(account: .id(made.account.id), once: nil, at: noon) { account, sessions in
                seen.append(sessions.count)
                if seen.count == 1 { session = try? other.signIn(person("1")) { login(of: $0) }.session }
                if seen.count == 2 { try? other.keep(late) }
                return .delete(revoking: true, remembering: nil, entry(.accountDeleted, account.id))
            }
            #expect(seen == [1, 2, 2])
            #expect(outcome == .done(revocations: 1))
            #expect(try store.revocations(limit: 5).map(\.grant) == [late])
            #expect(try store.session(try #require(session).id) == nil)
            #expect(try kinds(server, store).keys.sorted() == ["audit", "revocation"])
        }
    }

    @Test func nothingThatCouldBePresentedLiesInTheTable() throws {
        try withTable { server, store in
            let service = TestService(users: store)
            let made = try service.open("1", at: noon)
            let token = try service.sessions.refresh(made.token.text, origin: TestService.origin, at: noon).tokens
                .refreshToken
            let held = try server.items(of: store.table.name).joined()
            let digest = try #require(RefreshToken(token)).digest(using: TokenForge.cryptography)
            #expect(held.contains(Data(digest).base64EncodedString()), "the scan finds what is there")
            let bytes = try #require(Base64URL.decode(token))
            for range in [16..<48, 16..<32, 32..<48, 48..<64] {
                #expect(!held.contains(Data(bytes[range]).base64EncodedString().prefix(20)))
            }
            #expect(!held.contains(token))
        }
    }

    /// What expires says so to DynamoDB, and when; accounts and what they own never do.
    @Test func onlyWhatExpiresHasATimeToLive() throws {
        try withTable { server, store in
            let receipt = Receipt(name: randomBytes(32), sealed: [1], expiresAt: noon.adding(seconds: 600))
            let mark = Mark(name: randomBytes(32), expiresAt: noon.adding(seconds: 700))
            _ = try store.signIn(person("1"), repeating: receipt.name, once: [mark]) { account, _ in
                Opening(
                    account: account, session: login(of: account), audit: [entry(.signedIn, account.id)],
                    receipt: receipt)
            }
            try store.keep(
                AppleGrant(accountID: person("2").id, clientID: "c", keyID: "k", sealed: [1], obtainedAt: noon))
            _ = try store.count(attemptKey(1), window: noon, of: 60)
            var expiries: [String: Int64] = [:]
            for text in try server.items(of: store.table.name) {
                let item = try #require(Item(JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 65_536))))
                expiries[item.string("kind") ?? ""] = item.number("ttl").map { $0 - noon.seconds } ?? -1
            }
            let day: Int64 = 86_400
            #expect(
                expiries == [
                    "account": -1, "owner": -1, "revocation": -1, "receipt": 601, "mark": 701, "attempts": 2 * day + 1,
                    "session": 1 + 30 * day, "session_owner": 1 + 365 * day, "audit": 1 + 400 * day,
                ])
        }
    }

    private func kinds(_ server: DynamoDBServer, _ store: DynamoDBUserStore) throws -> [String: Int] {
        var kinds: [String: Int] = [:]
        for text in try server.items(of: store.table.name) {
            let item = try #require(Item(JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 1 << 20))))
            kinds[item.string("kind") ?? "", default: 0] += 1
        }
        return kinds
    }

    private typealias Fault = DynamoDBServer.Fault
}
