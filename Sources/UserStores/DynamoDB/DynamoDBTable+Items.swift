internal import JOSE

/// Reading, always strongly consistent where DynamoDB can, and writing.
extension DynamoDBTable {
    static let writesInOneTransaction = 100
    private static let readsInOneBatch = 25
    private static let deletionsInOneBatch = 25

    func item(_ key: Key) throws(DynamoDBFailure) -> Item? {
        let answer = try ask("GetItem", ["Key": key.item.json, "ConsistentRead": .bool(true)])
        guard let json = answer["Item"] else { return nil }
        guard let item = Item(json) else { throw .damaged }
        return item
    }

    /// Those of the items that are there. Each is as it was at a moment, not all as at one.
    func items(_ keys: [Key]) throws(DynamoDBFailure) -> [Key: Item] {
        var found: [Key: Item] = [:]
        var left = Array(Set(keys))
        while !left.isEmpty {
            let batch = left.prefix(Self.readsInOneBatch)
            let request: JSON.Object = [
                "Keys": .array(batch.map(\.item.json)), "ConsistentRead": .bool(true),
            ]
            let answer = try ask("BatchGetItem", ["RequestItems": .object([name: .object(request)])])
            for json in answer["Responses"]?[name]?.array ?? [] {
                guard let item = Item(json), let key = Key(item) else { throw .damaged }
                found[key] = item
            }
            let late = (answer["UnprocessedKeys"]?[name]?["Keys"]?.array ?? []).compactMap {
                Item($0).flatMap { Key($0) }
            }
            left = left.dropFirst(batch.count) + late
            guard late.isEmpty || schedule.wait() else { throw .unavailable("DynamoDB leaves reads undone for now") }
        }
        return found
    }

    /// One page of a query or a scan.
    struct Page {
        let items: [Item]
        let next: JSON?
    }

    func page(_ operation: String, _ members: JSON.Object, after last: JSON? = nil) throws(DynamoDBFailure) -> Page {
        var members = members
        members["ExclusiveStartKey"] = last
        let answer = try ask(operation, members)
        guard let array = answer["Items"]?.array else { throw .damaged }
        let items = array.compactMap { Item($0) }
        guard items.count == array.count else { throw .damaged }
        return Page(items: items, next: answer["LastEvaluatedKey"])
    }

    /// All items of a partition whose sort keys lie between two, both included; by those keys. Or the first of them, when after a
    /// page `suffice` says so.
    func items(
        in partition: String, from first: String, to last: String, until suffice: ([Item]) -> Bool = { _ in false }
    ) throws(DynamoDBFailure) -> [Item] {
        let expression = Expression(
            text: "#pk = :pk AND #sk BETWEEN :first AND :last",
            values: Item([":pk": .string(partition), ":first": .string(first), ":last": .string(last)]))
        var members: JSON.Object = [
            "KeyConditionExpression": .string(expression.text), "ConsistentRead": .bool(true),
        ]
        expression.complete(&members)
        var items: [Item] = []
        var next: JSON?
        repeat {
            let page = try page("Query", members, after: next)
            items += page.items
            next = page.next
        } while next != nil && !suffice(items)
        return items
    }

    /// One write. If its answer is lost and it is tried again, its condition no longer holds, and whoever asked tells by what
    /// is found.
    func write(_ write: Write) throws(DynamoDBFailure) {
        let (operation, body) = write.alone(in: name)
        _ = try ask(operation, body)
    }

    /// All or nothing. The token makes DynamoDB know the same transaction again for ten minutes, which is longer than anybody
    /// here tries: one whose answer was lost is not carried out twice, nor taken for refused.
    func write(together writes: [Write]) throws(DynamoDBFailure) {
        precondition(writes.count <= Self.writesInOneTransaction)
        let token = Base64URL.encode(Self.randomBytes(16))
        _ = try ask(
            "TransactWriteItems",
            [
                "ClientRequestToken": .string(token), "TransactItems": .array(writes.map { $0.part(in: name) }),
            ])
    }

    /// Removes what is there of these, in no order and not together.
    func delete(_ keys: [Key]) throws(DynamoDBFailure) {
        var left = Array(Set(keys)).map { JSON.object(["DeleteRequest": .object(["Key": $0.item.json])]) }
        while !left.isEmpty {
            let batch = left.prefix(Self.deletionsInOneBatch)
            let answer = try ask("BatchWriteItem", ["RequestItems": .object([name: .array(Array(batch))])])
            let late = answer["UnprocessedItems"]?[name]?.array ?? []
            left = left.dropFirst(batch.count) + late
            guard late.isEmpty || schedule.wait() else { throw .unavailable("DynamoDB leaves writes undone for now") }
        }
    }

    /// What one write is told from every other by.
    static func newVersion() -> AttributeValue { .bytes(randomBytes(16)) }

    private static func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
