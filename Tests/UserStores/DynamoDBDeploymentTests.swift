import Accounts
import Foundation
import JOSE
import TestSupport
import Testing

@testable import UserStores

/// The files of `deploy/` about DynamoDB, and what an operator does with them.
@Suite(.enabled(if: DynamoDBServer.isInstalled, "needs Tests/tools.sh"), .serialized) struct DynamoDBDeploymentTests {
    /// Its own, as it counts what is asked.
    private static let server = try? DynamoDBServer()

    private func withTable(
        expires: Bool = true, _ body: (DynamoDBServer, DynamoDBUserStore) throws -> Void
    ) throws {
        let server = try #require(Self.server)
        try server.withTable(expires: expires) { url in
            try body(server, try store(server, url.split(separator: "?")[0].split(separator: ":")[1].description))
        }
    }

    private func store(_ server: DynamoDBServer, _ table: String) throws -> DynamoDBUserStore {
        try DynamoDBUserStore(
            location: String(server.url(table: table).dropFirst("dynamodb:".count)), isDevelopment: true,
            patience: .seconds(10))
    }

    @Test func migratingCreatesTheTableThatTheFilesDescribe() throws {
        let server = try #require(Self.server)
        let store = try store(server, "created-\(UUID().uuidString)")
        #expect(try store.migrate() == SchemaChange(from: 0, to: 1))
        #expect(try store.check().contains("schema 1, 0 accounts, 0 sessions"))
        #expect(try store.signIn(person("1")) { login(of: $0) }.isNew)
        #expect(try store.migrate() == SchemaChange(from: 1, to: 1))
        let file = Programs.packageRoot.appending(path: "deploy/dynamodb/table.json")
        let described = try JSON(parsing: Array(Data(contentsOf: file)), limits: JSON.Limits(bytes: 65_536))
        #expect(JSON.object(TableDefinition.creation(of: "auth-apple")) == described)
    }

    @Test func aTableWhoseItemsDoNotExpireIsNotFit() throws {
        try withTable(expires: false) { _, store in
            let error = #expect(throws: StoreError.self) { try store.check() }
            #expect("\(String(describing: error))".contains("store migrate"))
            _ = try store.migrate()
            #expect(try store.check().contains("schema 1"))
        }
    }

    @Test func anotherTableIsRefused() throws {
        let described: JSON = ["KeySchema": .array([["AttributeName": "id", "KeyType": "HASH"]])]
        #expect(TableDefinition.fault(of: described)?.contains("another table") == true)
        let bare: JSON = [
            "KeySchema": .array([
                ["AttributeName": "pk", "KeyType": "HASH"], ["AttributeName": "sk", "KeyType": "RANGE"],
            ])
        ]
        #expect(TableDefinition.fault(of: bare)?.contains("no index due") == true)
        try withTable { _, store in
            try store.perform { table throws(DynamoDBFailure) in
                try table.write(.put(Item(["number": .number(2)]), at: .schema))
            }
            for error in [
                #expect(throws: StoreError.self) { try store.check() },
                #expect(throws: StoreError.self) { try store.migrate() },
            ] { #expect("\(String(describing: error))".contains("upgrade it")) }
        }
    }

    /// Recovery to a point in time brings everything back but the time to live.
    @Test func aRestoredTableServesOnceItIsMigrated() throws {
        try withTable { server, before in
            let made = try before.signIn(person("1", Profile(fullName: "Ana"))) { login(of: $0) }
            let name = before.table.name
            try server.ask(
                "UpdateContinuousBackups",
                ["TableName": name, "PointInTimeRecoverySpecification": ["PointInTimeRecoveryEnabled": true]])
            try server.ask(
                "RestoreTableToPointInTime",
                ["SourceTableName": name, "TargetTableName": name + "-restored", "UseLatestRestorableTime": true])
            let restored = try store(server, name + "-restored")
            #expect(throws: StoreError.self) { try restored.check() }
            _ = try restored.migrate()
            #expect(try restored.check().contains("1 accounts, 1 sessions"))
            #expect(try restored.account(made.account.id) == made.account)
            #expect(try restored.session(made.session.id)?.0 == made.session)
            #expect(try !restored.signIn(person("1")) { login(of: $0) }.isNew)
        }
    }

    /// `deploy/lambda/template.yaml` makes the same table and gives the function the same rights.
    @Test func theTemplateForLambdaMakesTheSame() throws {
        let read = """
            import json, sys, yaml
            yaml.SafeLoader.add_multi_constructor("!", lambda loader, tag, node:
                loader.construct_sequence(node, True) if isinstance(node, yaml.SequenceNode) else loader.construct_scalar(node))
            print(json.dumps(yaml.safe_load(sys.stdin)["Resources"], default=str))
            """
        let template = Programs.packageRoot.appending(path: "deploy/lambda/template.yaml")
        let ran = try Ran(
            "/usr/bin/env", "python3", "-c", read, environment: ["PATH": "/usr/bin:/bin"],
            input: Data(contentsOf: template))
        let resources = try JSON(parsing: Array(ran.output), limits: JSON.Limits(bytes: 1 << 20))
        let table = try #require(resources["Table"]?["Properties"])
        let definition = JSON.object(TableDefinition.creation(of: "auth-apple"))
        for name in [
            "AttributeDefinitions", "KeySchema", "LocalSecondaryIndexes", "GlobalSecondaryIndexes", "BillingMode",
        ] { #expect(table[name] == definition[name], "\(name)") }
        #expect(table["TimeToLiveSpecification"] == ["AttributeName": "ttl", "Enabled": .bool(true)])
        #expect(table["PointInTimeRecoverySpecification"]?["PointInTimeRecoveryEnabled"] == .bool(true))
        #expect(table["SSESpecification"]?["SSEEnabled"] == .bool(true))
        #expect(resources["Table"]?["DeletionPolicy"]?.string == "Retain")
        let policy = try #require(resources["Function"]?["Properties"]?["Policies"]?.array?[1].array?.first)
        #expect(try actions(of: policy["Statement"]?.array ?? []) { $0.hasSuffix("/index/due") } == allowed("function"))
    }

    /// The policy of the function has what its requests need, and nothing else.
    @Test func thePolicyIsWhatTheRequestsNeed() throws {
        try withTable { server, store in
            _ = try server.log()
            try useEverything(of: store)
            let function = try server.log()
            #expect(function.log.allSatisfy { $0.refusal == nil })
            #expect(try Set(function.actions) == allowed("function"))
            _ = try store.accounts(after: nil, limit: 5)
            _ = try store.check()
            _ = try store.migrate()
            _ = try store.purge(before: noon.adding(seconds: 500 * 86_400))
            _ = try self.store(server, "made-\(UUID().uuidString)").migrate()
            #expect(
                try Set(server.log().actions).union(function.actions) == allowed("function").union(allowed("operator")))
        }
    }

    private func useEverything(of store: DynamoDBUserStore) throws {
        let mark = Mark(name: randomBytes(32), expiresAt: noon.adding(seconds: 700))
        let lookup = AppleLookup(subject: "1", transferSubject: "moving")
        _ = try store.signIn(lookup, since: nil, repeating: nil, once: [mark], at: noon) { _ in
            let account = person("1")
            return Opening(account: account, session: login(of: account), audit: [entry(.signedIn, account.id)])
        }
        let made = try store.signIn(person("1")) { login(of: $0) }
        try store.keep(
            AppleGrant(accountID: made.account.id, clientID: "c", keyID: "k", sealed: [1], obtainedAt: noon))
        try store.change(session: made.session.id) { session, _ in .update(session) }
        try store.change(session: made.session.id) { _, _ in .end(entry(.loggedOut, made.account.id)) }
        _ = try store.count(attemptKey(1), window: noon, of: 60)
        for _ in 0..<60 { _ = try store.signIn(person("1")) { login(of: $0) } }
        _ = try store.endSessions(of: made.account.id, except: nil) { entry(.sessionEnded, $0.accountID) }
        try store.change(account: made.account.id) {
            .delete(revoking: true, remembering: nil, entry(.accountDeleted, $0.id))
        }
        try store.keep(
            AppleGrant(accountID: made.account.id, clientID: "d", keyID: "k", sealed: [1], obtainedAt: noon))
        for revocation in try store.takeRevocations(due: noon, limit: 5) { try store.finish(revocation) }
        #expect(try store.account(made.account.id) == nil)
    }

    /// The actions of one statement of `deploy/dynamodb/policy.json`; those on an index are marked.
    private func allowed(_ name: String) throws -> Set<String> {
        let file = Programs.packageRoot.appending(path: "deploy/dynamodb/policy.json")
        let policy = try JSON(parsing: Array(Data(contentsOf: file)), limits: JSON.Limits(bytes: 65_536))
        let statements = (policy["Statement"]?.array ?? []).filter { statement in
            statement["Sid"]?.string?.lowercased().hasPrefix(name) == true
        }
        return actions(of: statements) { $0.contains("/index/") }
    }

    private func actions(of statements: [JSON], onIndex isIndex: (String) -> Bool) -> Set<String> {
        var actions: Set<String> = []
        for statement in statements {
            let mark = isIndex(statement["Resource"]?.string ?? "") ? "/index" : ""
            for action in statement["Action"]?.array ?? [] { actions.insert((action.string ?? "") + mark) }
        }
        return actions
    }
}
