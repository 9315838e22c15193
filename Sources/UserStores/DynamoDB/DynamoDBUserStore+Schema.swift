package import Accounts
internal import JOSE

extension DynamoDBUserStore {
    /// How long a table may take to be created; it is no request that waits.
    private static let creation: Duration = .seconds(120)

    package func migrate() throws(StoreError) -> SchemaChange {
        try perform { table throws(DynamoDBFailure) in
            table.schedule = RetrySchedule(lasting: Self.creation)
            if try table.description() == nil { try table.create() }
            try table.waitUntilActive()
            if try table.expiry() != .on { try table.turnOnExpiry() }
            let version = try table.schemaVersion()
            if version == 0 { try table.writeSchemaVersion() }
            return SchemaChange(from: version, to: Int(TableDefinition.version))
        }
    }

    package func check() throws(StoreError) -> String {
        try perform { table throws(DynamoDBFailure) in
            guard let description = try table.description() else { throw .noTable }
            if let fault = TableDefinition.fault(of: description) { throw .unusable(fault) }
            guard ["ACTIVE", "UPDATING"].contains(description["TableStatus"]?.string) else {
                throw .unavailable("the table is not ready yet: wait for it")
            }
            guard try table.expiry() == .on else {
                throw .unusable(
                    "nothing expires: auth-apple store migrate turns it on, for the attribute "
                        + TableDefinition.expiryAttribute)
            }
            let version = try table.schemaVersion()
            let schema = version > 0 ? "schema \(version)" : "not marked as ours yet by auth-apple store migrate"
            let place = "DynamoDB \(table.name) in \(table.region): \(schema)"
            guard let (accounts, sessions) = try table.counts() else {
                let about = description["ItemCount"]?.integer ?? 0
                return "\(place), about \(about) items as DynamoDB last counted them"
            }
            return "\(place), \(accounts) accounts, \(sessions) sessions"
        }
    }
}

private enum Expiry {
    case on, off
}

extension DynamoDBTable {
    /// Nil when there is no such table.
    fileprivate func description() throws(DynamoDBFailure) -> JSON? {
        do throws(DynamoDBFailure) {
            guard let table = try ask("DescribeTable", [:])["Table"] else { throw .damaged }
            return table
        } catch .noTable {
            return nil
        }
    }

    /// Somebody else may be creating it at this moment.
    fileprivate func create() throws(DynamoDBFailure) {
        do throws(DynamoDBFailure) {
            _ = try ask("CreateTable", TableDefinition.creation(of: name))
        } catch .conflict {
            return
        }
    }

    fileprivate func waitUntilActive() throws(DynamoDBFailure) {
        while true {
            if let table = try description() {
                if let fault = TableDefinition.fault(of: table) { throw .unusable(fault) }
                if table["TableStatus"]?.string == "ACTIVE" { return }
            }
            guard schedule.wait() else { throw .unavailable("the table is not ready yet: migrate again later") }
        }
    }

    fileprivate func expiry() throws(DynamoDBFailure) -> Expiry {
        let answer = try ask("DescribeTimeToLive", [:])["TimeToLiveDescription"]
        let isOn = ["ENABLED", "ENABLING"].contains(answer?["TimeToLiveStatus"]?.string)
        return isOn && answer?["AttributeName"]?.string == TableDefinition.expiryAttribute ? .on : .off
    }

    fileprivate func turnOnExpiry() throws(DynamoDBFailure) {
        _ = try ask(
            "UpdateTimeToLive",
            [
                "TimeToLiveSpecification": [
                    "Enabled": .bool(true), "AttributeName": .string(TableDefinition.expiryAttribute),
                ]
            ])
    }

    /// Zero for a table that holds nothing of ours yet.
    fileprivate func schemaVersion() throws(DynamoDBFailure) -> Int {
        guard let item = try item(.schema) else { return 0 }
        guard let version = item.number("number"), version > 0 else { throw .damaged }
        guard version <= TableDefinition.version else {
            throw .unusable(
                "schema \(version) is newer than this program, which knows \(TableDefinition.version): upgrade it")
        }
        return Int(version)
    }

    fileprivate func writeSchemaVersion() throws(DynamoDBFailure) {
        try write(
            .put(
                Item(["kind": .string("schema"), "number": .number(TableDefinition.version)]), at: .schema,
                if: .absent))
    }

    /// Of a table that is small enough to be read through: a megabyte a page.
    fileprivate func counts() throws(DynamoDBFailure) -> (accounts: Int, sessions: Int)? {
        let expression = Expression(
            text: "#kind IN (:account, :session)",
            values: Item([":account": .string("account"), ":session": .string("session")]))
        var members: JSON.Object = [
            "FilterExpression": .string(expression.text), "ProjectionExpression": "#kind",
            "ConsistentRead": .bool(true),
        ]
        expression.complete(&members)
        var counts: [String: Int] = [:]
        var next: JSON?
        for _ in 0..<20 {
            let page = try page("Scan", members, after: next)
            for item in page.items { counts[item.string("kind") ?? "", default: 0] += 1 }
            next = page.next
            guard next != nil else { return (counts["account", default: 0], counts["session", default: 0]) }
        }
        return nil
    }
}
