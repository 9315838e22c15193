import Accounts
import AppleID
import Foundation
import JOSE
import TestSupport
import Testing

@testable import UserStores

/// DynamoDB that is slow, busy, away, or whose answers are lost: nothing is lost with them, and nothing is done twice.
@Suite(.enabled(if: DynamoDBServer.isInstalled, "needs Tests/tools.sh"), .serialized) struct DynamoDBFaultTests {
    /// Its own, as its faults would hit others.
    private static let server = try? DynamoDBServer()

    private func withTable(
        patience: Duration = .seconds(10), _ body: (DynamoDBServer, DynamoDBUserStore) throws -> Void
    ) throws {
        let server = try #require(Self.server)
        try server.withTable { url in
            let store = try DynamoDBUserStore(
                location: String(url.dropFirst("dynamodb:".count)), isDevelopment: true, patience: patience)
            defer { try? server.fail([]) }
            try body(server, store)
        }
    }

    typealias Fault = DynamoDBServer.Fault

    private static func refusal(_ type: String, status: Int = 400, reasons: [String] = [], on operation: String)
        -> Fault
    {
        Fault(.refuse, on: operation, times: 2) {
            $0.type = type
            $0.status = status
            $0.reasons = reasons
        }
    }

    /// Each on its way to be overcome.
    private static let passing: [Fault] = [
        refusal("ProvisionedThroughputExceededException", on: "BatchGetItem"),
        refusal("ProvisionedThroughputExceededException", on: "TransactWriteItems"),
        refusal("ThrottlingException", on: "TransactWriteItems"),
        refusal("RequestLimitExceeded", on: "TransactWriteItems"),
        refusal("TransactionInProgressException", on: "TransactWriteItems"),
        refusal("InternalServerError", status: 500, on: "TransactWriteItems"),
        refusal("ServiceUnavailable", status: 503, on: "BatchGetItem"),
        refusal(
            "TransactionCanceledException", reasons: ["None", "TransactionConflict"], on: "TransactWriteItems"),
        refusal("TransactionCanceledException", reasons: ["None", "ThrottlingError"], on: "TransactWriteItems"),
        Fault(.say, on: "TransactWriteItems") {
            $0.status = 502
            $0.body = "<html>"
        },
        Fault(.dropBefore, on: "BatchGetItem", times: 2), Fault(.dropBefore, on: "TransactWriteItems", times: 3),
        Fault(.dropAfter, on: "BatchGetItem", times: 2), Fault(.dropAfter, on: "TransactWriteItems", times: 3),
        // Longer than an attempt may take: the second overtakes the first.
        Fault(.delay, on: "TransactWriteItems") { $0.seconds = 3.5 },
    ]

    @Test(arguments: passing.indices)
    func whatPassesIsOvercomeAndDoneOnce(index: Int) throws {
        try withTable { server, store in
            let receipt = Receipt(name: randomBytes(32), sealed: [1], expiresAt: noon.adding(seconds: 600))
            let mark = Mark(name: randomBytes(32), expiresAt: noon.adding(seconds: 600))
            let first = try store.signIn(person("0")) { login(of: $0) }
            try server.fail([Self.passing[index]])
            let signIn = try store.signIn(person("1"), repeating: receipt.name, once: [mark]) { account, _ in
                let session = login(of: account)
                return Opening(
                    account: account, session: session,
                    audit: [entry(.accountCreated, account.id), entry(.signedIn, account.id, session: session.id)],
                    receipt: receipt)
            }
            #expect(signIn.isDone && signIn.isNew, "no false refusal")
            #expect(try server.faultsLeft() == 0, "it came about")
            let id = try #require(signIn.account).id
            #expect(try store.audit(of: id).count == 2)
            #expect(try store.sessions(of: id, at: noon).count == 1)
            #expect(try store.check().contains("2 accounts, 2 sessions"))
            #expect(try store.account(first.account.id) == first.account)
        }
    }

    /// A refresh is a write alone, which has no token. It is known again by what it wrote.
    @Test(arguments: [Fault.Kind.dropBefore, .dropAfter, .delay])
    func aRefreshWhoseAnswerIsLostIsNotDecidedAgain(kind: Fault.Kind) throws {
        try withTable { server, store in
            let made = try store.signIn(person("1")) { login(of: $0) }
            var changed = made.session
            changed.refresh.digest = randomBytes(32)
            try server.fail([Fault(kind, on: "UpdateItem", times: kind == .delay ? 1 : 3) { $0.seconds = 3.5 }])
            var decisions = 0
            try store.change(session: changed.id) { _, _ in
                decisions += 1
                return .update(changed)
            }
            #expect(decisions == 1)
            #expect(try server.faultsLeft() == 0)
            #expect(try store.session(changed.id)?.0 == changed)
        }
    }

    @Test func aRefreshThatWasOvertakenIsDecidedAgain() throws {
        try withTable { server, store in
            let other = try UserStores.open(server.url(table: store.table.name))
            let made = try store.signIn(person("1")) { login(of: $0) }
            var theirs = made.session
            theirs.refresh.digest = randomBytes(32)
            var seen: [Session] = []
            try store.change(session: theirs.id) { session, _ in
                seen.append(session)
                if seen.count == 1 { try? other.change(session: theirs.id) { _, _ in .update(theirs) } }
                return .update(session)
            }
            #expect(seen == [made.session, theirs])
        }
    }

    /// Also where neither has anything to say to the audit, whose numbers would tell.
    @Test func aChangeOfAnAccountThatWasOvertakenIsDecidedAgain() throws {
        try withTable { server, store in
            let other = try UserStores.open(server.url(table: store.table.name))
            let made = try store.signIn(person("1")) { login(of: $0) }
            var seen: [String?] = []
            try store.change(account: made.account.id) { account in
                seen.append(account.transferSubject)
                if seen.count == 1 {
                    _ = try? other.change(account: made.account.id) { account in
                        var account = account
                        account.transferSubject = "moving"
                        return .update(account, audit: [])
                    }
                }
                var account = account
                account.disabledAt = noon
                return .update(account, audit: [])
            }
            #expect(seen == [nil, "moving"])
            let account = try #require(try store.account(made.account.id))
            #expect(account.transferSubject == "moving" && account.disabledAt == noon)
        }
    }

    @Test(arguments: ["ProvisionedThroughputExceededException", "InternalServerError"])
    func whatDoesNotPassIsUnavailableInTimeAndNothingIsDone(type: String) throws {
        try withTable(patience: .seconds(2)) { server, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            try server.fail([
                Fault(.refuse, on: "TransactWriteItems", times: 1000) {
                    $0.type = type
                    $0.status = type.hasPrefix("Internal") ? 500 : 400
                }
            ])
            let began = ContinuousClock.now
            let error = #expect(throws: StoreError.self) { try store.signIn(person("2")) { login(of: $0) } }
            #expect(began.duration(to: .now) < .seconds(20))
            guard case .unavailable(let reason)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains(type) && !reason.contains("canary"))
            try server.fail([])
            #expect(try store.check().contains("1 accounts, 1 sessions"))
            #expect(try store.signIn(person("2")) { login(of: $0) }.isNew)
        }
    }

    @Test func whoDoesNotListenIsUnavailableUntilTheyDo() throws {
        try withTable(patience: .seconds(5)) { server, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            try server.listen(false)
            defer { try? server.listen(true) }
            let url = server.url(table: store.table.name)
            let refusal = try StoreProbe(url, "canary-subject", ["--patience", "300"]).refusal()
            #expect(refusal.contains("unavailable"), "\(refusal)")
            try server.listen(true)
            #expect(try StoreProbe(url, "canary-subject").signedIn().isNew)
        }
    }

    /// AWS's own words may quote the request; ours name what is to be done.
    @Test(arguments: [
        ("AccessDeniedException", "deploy/dynamodb"), ("UnrecognizedClientException", "give others"),
        ("InvalidSignatureException", "the clock"), ("ExpiredTokenException", "give new ones"),
        ("ValidationException", "ValidationException"), ("Canary\u{7}<x>", "Canaryx"),
    ])
    func aRefusalForGoodIsSaidWithItsRemedy(type: String, word: String) throws {
        try withTable { server, store in
            try server.fail([Fault(.refuse, on: "BatchGetItem", times: 9) { $0.type = type }])
            let error = #expect(throws: StoreError.self) { try store.signIn(person("canary")) { login(of: $0) } }
            let text = "\(String(describing: error))"
            #expect(text.contains(word) && !text.contains("canary"), "\(text)")
            #expect(try server.faultsLeft() >= 7, "it is not tried over and over")
        }
    }

    @Test(arguments: ["<html>", "{\"Item\":", "[]", #"{"Responses":{},"Responses":{}}"#])
    func anAnswerThatIsNoneOfDynamoDBsIsNotBelieved(body: String) throws {
        try withTable(patience: .seconds(2)) { server, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            try server.fail([
                Fault(.say, on: "TransactWriteItems", times: 99) {
                    $0.status = 500
                    $0.body = body
                },
                Fault(.say, on: "BatchGetItem", times: 1) {
                    $0.status = 200
                    $0.body = body
                },
            ])
            #expect(throws: StoreError.self) { try store.signIn(person("1")) { login(of: $0) } }
        }
    }

    @Test func aTableThatIsNotThereIsUnusableWithTheRemedy() throws {
        let server = try #require(Self.server)
        let store = try UserStores.open(server.url(table: "absent-table"))
        let error = #expect(throws: StoreError.self) { try store.signIn(person("1")) { login(of: $0) } }
        #expect("\(String(describing: error))".contains("auth-apple store migrate"))
        #expect(throws: StoreError.self) { try store.check() }
    }
}
