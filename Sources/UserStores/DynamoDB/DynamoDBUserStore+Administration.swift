package import Accounts
package import JOSE

extension DynamoDBUserStore {
    /// The accounts of all shards, merged by their ids. The index is a moment behind the table: an account of this very second
    /// may be missing.
    package func accounts(after last: UUIDv7?, limit: Int) throws(StoreError) -> [Account] {
        try perform { table throws(DynamoDBFailure) in
            var last = last
            while limit > 0 {
                var ids: [UUIDv7] = []
                for shard in Directory.shards { ids += try table.accountIDs(in: shard, after: last, limit: limit) }
                let page = ids.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.prefix(limit)
                guard let end = page.last else { return [] }
                let items = try table.items(page.map { .account($0) })
                var accounts: [Account] = []
                for id in page {
                    if let item = items[.account(id)] { accounts.append(try StoredAccount(item).account) }
                }
                // An empty page means the end, and these were only deleted a moment ago.
                if !accounts.isEmpty { return accounts }
                last = end
            }
            return []
        }
    }

    /// DynamoDB removes by itself what has expired (`ttl`), within days. This does it now, by reading the whole table; each item
    /// under the condition that it still is expired. And it sweeps what a process that died has left.
    package func purge(before time: UnixTime, auditDays: Int64) throws(StoreError) -> PurgeCount {
        let limits = Item([
            ":time": .time(time), ":begun": .time(AttemptWindow.over(at: time)),
            ":kept": .time(time.adding(seconds: -auditDays * 86_400)), ":erasure": .string("erasure"),
        ])
        var count = PurgeCount()
        var next: JSON?
        repeat {
            let page = try perform(long: true) { table throws(DynamoDBFailure) in
                try table.expired(limits, after: next)
            }
            var owners: [Key] = []
            for item in page.items {
                try perform(long: true) { table throws(DynamoDBFailure) in
                    try table.purge(item, limits, counting: &count, owners: &owners)
                }
            }
            try perform(long: true) { table throws(DynamoDBFailure) in try table.delete(owners) }
            next = page.next
        } while next != nil
        return count
    }
}

extension DynamoDBTable {
    fileprivate func accountIDs(
        in shard: String, after last: UUIDv7?, limit: Int
    ) throws(DynamoDBFailure) -> [UUIDv7] {
        var values = Item([":shard": .string(shard)])
        if let last { values[":last"] = .string(last.description) }
        let expression = Expression(
            text: last == nil ? "#directory = :shard" : "#directory = :shard AND #id > :last", values: values)
        var members: JSON.Object = [
            "IndexName": .string(Directory.index), "KeyConditionExpression": .string(expression.text),
            "Limit": .integer(Int64(limit)),
        ]
        expression.complete(&members)
        var ids: [UUIDv7] = []
        for item in try page("Query", members).items {
            guard let id = item.string("id").flatMap({ UUIDv7($0) }) else {
                throw .damaged
            }
            ids.append(id)
        }
        return ids
    }

    fileprivate func expired(_ limits: Item, after last: JSON?) throws(DynamoDBFailure) -> Page {
        let filter =
            "#expires_at <= :time OR #window <= :begun OR #newest_at < :kept OR attribute_exists(#ended) "
            + "OR #kind = :erasure"
        let projection = "#pk, #sk, #kind, #id, #count, #ended"
        let expression = Expression(text: "\(filter) \(projection)", values: limits)
        var members: JSON.Object = [
            "FilterExpression": .string(filter), "ProjectionExpression": .string(projection),
            "ConsistentRead": .bool(true), "Limit": .integer(500),
        ]
        expression.complete(&members)
        return try page("Scan", members, after: last)
    }

    fileprivate func purge(
        _ item: Item, _ limits: Item, counting count: inout PurgeCount, owners: inout [Key]
    ) throws(DynamoDBFailure) {
        guard let key = Key(item) else { throw .damaged }
        switch item.string("kind") {
        case "session":
            guard try remove(key, if: "#expires_at <= :time", limits) else { return }
            count.sessions += 1
            if let id = item.string("id").flatMap({ UUIDv7($0) }) { owners.append(.owner(ofSession: id)) }
        case "receipt": count.receipts += try remove(key, if: "#expires_at <= :time", limits) ? 1 : 0
        case "mark": count.marks += try remove(key, if: "#expires_at <= :time", limits) ? 1 : 0
        case "attempts": count.attempts += try remove(key, if: "#window <= :begun", limits) ? 1 : 0
        case "audit":
            guard try remove(key, if: "#newest_at < :kept", limits) else { return }
            count.auditEntries += Int(item.number("count") ?? 0)
        case "account":
            guard let id = item.string("id").flatMap({ UUIDv7($0) }), let account = try account(id) else { return }
            if !account.ended.isEmpty { try sweep(account.ended, of: id) }
        case "erasure":
            guard let id = UUIDv7(String(key.partition.dropFirst("account#".count))) else { throw .damaged }
            try sweep(erased: id)
        default: break
        }
    }

    /// False when the condition does not hold any more.
    private func remove(_ key: Key, if text: String, _ values: Item) throws(DynamoDBFailure) -> Bool {
        let words = text.split(separator: " ")
        var needed: [String: AttributeValue] = [:]
        for (name, value) in values.values where words.contains(name[...]) { needed[name] = value }
        do throws(DynamoDBFailure) {
            try write(.delete(key, if: Condition(text, needed)))
            return true
        } catch .conflict {
            return false
        }
    }
}
