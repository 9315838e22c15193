package import Accounts
package import JOSE

extension DynamoDBUserStore {
    package func restore(_ entry: StoreEntry) throws(StoreError) -> Bool {
        try perform(long: true) { table throws(DynamoDBFailure) in
            switch entry {
            case .account(let account, let sessions, let grants, let audit):
                return try table.restore(account, sessions, grants, audit)
            case .formerAudit(let id, let audit): return try table.restore(formerAudit: audit, of: id)
            case .revocation(let revocation):
                return try table.isWritten([
                    .put(revocation.item, at: .revocation(of: revocation.grant), if: .absent)
                ])
            case .mark(let mark):
                let isShorter = Condition(
                    "attribute_not_exists(#pk) OR #expires_at < :new", [":new": .number(mark.expiresAt.milliseconds)])
                return try table.isWritten([.put(MarkView.item(mark), at: .mark(mark.name), if: isShorter)])
            }
        }
    }

    /// By reading the whole table, a megabyte a page.
    package func forEachLoneEntry(at time: UnixTime, _ body: (StoreEntry) -> Bool) throws(StoreError) {
        var seen: Set<UUIDv7> = []
        var next: JSON?
        repeat {
            let page = try perform { table throws(DynamoDBFailure) in try table.auditsAndMarks(after: next) }
            var ids: [UUIDv7] = []
            for item in page.items {
                guard let key = Key(item) else { continue }
                if let mark = Mark(item, key), mark.expiresAt > time {
                    guard body(.mark(mark)) else { return }
                } else if let id = key.account, seen.insert(id).inserted {
                    ids.append(id)
                }
            }
            let known = try perform { table throws(DynamoDBFailure) in try table.items(ids.map { .account($0) }) }
            for id in ids where known[.account(id)] == nil {
                guard body(.formerAudit(of: id, try audit(of: id))) else { return }
            }
            next = page.next
        } while next != nil
    }
}

extension DynamoDBTable {
    /// One transaction; and for an account with more than fits in one several, of which the last writes the account's item. Until
    /// then nobody sees the others, and whoever restores it again goes on: what is there as it should be stays. What should not be
    /// there goes, as it is of an older export, and sessions may have ended since.
    fileprivate func restore(
        _ account: Account, _ sessions: [Session], _ grants: [AppleGrant], _ audit: [AuditEntry]
    ) throws(DynamoDBFailure) -> Bool {
        guard try isFree(account) else { return false }
        let begun = try begun(account.id, to: "session$")
        guard try !begun.wasDeleted else { return false }
        var stored = StoredAccount(account)
        stored.auditCount = Int64(audit.count)
        let last = try Self.ownership(of: account) + [stored.write()]
        let ours = Condition(
            "attribute_not_exists(#pk) OR #account = :account", [":account": .string(account.id.description)])
        // Of a session two items, of which the first lies with the account; of all else one.
        var parts = sessions.map { StoredSession($0, receipt: nil).insertion(if: ours) }
        parts += grants.map { [.put($0.item, at: .grant($0.clientID, of: account.id))] }
        parts += StoredAudit.writes(audit, of: account.id, if: nil).map { [$0] }
        try delete(try begun.items(besides: parts))
        return try isWritten(inTurns: parts.filter { !begun.has($0[0]) }, last: last)
    }

    /// In the same way. The item with the first entries comes last.
    fileprivate func restore(formerAudit audit: [AuditEntry], of id: UUIDv7) throws(DynamoDBFailure) -> Bool {
        let begun = try begun(id, to: "audit$")
        let writes = StoredAudit.writes(audit, of: id, if: .absent)
        guard let first = writes.first, !begun.has(first), try begun.items(besides: writes.map { [$0] }).isEmpty else {
            return false
        }
        return try isWritten(
            inTurns: writes.dropFirst().filter { !begun.has($0) }.map { [$0] },
            last: [.check(.account(id), .absent), first])
    }

    /// Whether nobody else has a name of this account's, nor this account itself.
    private func isFree(_ account: Account) throws(DynamoDBFailure) -> Bool {
        let keys = [
            .account(account.id), account.appleSubject.map { Key.owner(ofSubject: $0) },
            account.transferSubject.map { Key.owner(ofTransfer: $0) },
        ].compactMap { $0 }
        return try items(keys).isEmpty
    }

    /// What is there of an account that is not: of a deleted one, or of a restoring that was broken off.
    private func begun(_ account: UUIDv7, to last: String) throws(DynamoDBFailure) -> Begun {
        var items: [Key: Item] = [:]
        for item in try self.items(in: Key.account(account).partition, from: "audit#", to: last) {
            guard let key = Key(item) else { throw .damaged }
            items[key] = item
        }
        return Begun(account: account, items: items)
    }

    /// As many at a time as a transaction and a request take, and what belongs together at once.
    private func isWritten(inTurns parts: [[Write]], last: [Write]) throws(DynamoDBFailure) -> Bool {
        var turn: [Write] = []
        var bytes = 0
        for part in parts {
            let more = part.reduce(0) { $0 + $1.bytes }
            if turn.count + part.count + last.count > Self.writesInOneTransaction || bytes + more > Self.bytesInOneTurn
            {
                guard try isWritten(turn) else { return false }
                turn = []
                bytes = 0
            }
            turn += part
            bytes += more
        }
        return try isWritten(turn + last)
    }

    /// A request that is signed has at most a megabyte; two hundred entries of the audit may have 80 KB of it.
    private static let bytesInOneTurn = 700_000

    /// False where a condition does not hold.
    fileprivate func isWritten(_ writes: [Write]) throws(DynamoDBFailure) -> Bool {
        do throws(DynamoDBFailure) {
            try write(together: writes)
            return true
        } catch .conflict(let failed, _) where !failed.isEmpty {
            return false
        }
    }

    fileprivate func auditsAndMarks(after last: JSON?) throws(DynamoDBFailure) -> Page {
        let projection = "#pk, #sk, #kind, #expires_at"
        let filter = "#kind IN (:audit, :mark)"
        let expression = Expression(
            text: "\(filter) \(projection)", values: Item([":audit": .string("audit"), ":mark": .string("mark")]))
        var members: JSON.Object = [
            "FilterExpression": .string(filter), "ProjectionExpression": .string(projection),
            "ConsistentRead": .bool(true),
        ]
        expression.complete(&members)
        return try page("Scan", members, after: last)
    }
}

/// What lies in the partition of an account that is not there.
private struct Begun {
    let account: UUIDv7
    let items: [Key: Item]

    var wasDeleted: Bool {
        get throws(DynamoDBFailure) {
            if items[.erasure(of: account)] != nil { return true }
            for item in items.values where item.string("kind") == "audit" {
                let entries = try StoredAudit(item, of: account).entries
                if entries.contains(where: { $0.event == .accountDeleted }) { return true }
            }
            return false
        }
    }

    /// Whether what `write` would leave is there.
    func has(_ write: Write) -> Bool {
        guard let item = write.item, let key = Key(item), let there = items[key] else { return false }
        return there.withoutVersion == item.withoutVersion
    }

    /// Those that none of `parts` begins with; with each session the item that names its account.
    func items(besides parts: [[Write]]) throws(DynamoDBFailure) -> [Key] {
        let wanted = Set(parts.compactMap { $0[0].item.flatMap { Key($0) } })
        var keys: [Key] = []
        for (key, item) in items where !wanted.contains(key) {
            keys += item.string("kind") == "session" ? try StoredSession(item).keys : [key]
        }
        return keys
    }
}

extension Item {
    /// Each write gives an item another.
    fileprivate var withoutVersion: Item {
        var item = self
        item["version"] = nil
        return item
    }
}

extension Mark {
    fileprivate init?(_ item: Item, _ key: Key) {
        guard item.string("kind") == "mark", let expiresAt = item.time("expires_at"), key.partition.hasPrefix("mark#"),
            let name = Base64URL.decode(String(key.partition.dropFirst("mark#".count))), name.count == 32
        else { return nil }
        self.init(name: name, expiresAt: expiresAt)
    }
}

extension Key {
    /// Whose item it is, if it is one of an account's.
    fileprivate var account: UUIDv7? {
        partition.hasPrefix("account#") ? UUIDv7(String(partition.dropFirst("account#".count))) : nil
    }
}
