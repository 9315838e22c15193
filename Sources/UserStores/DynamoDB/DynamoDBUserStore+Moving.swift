package import Accounts
package import JOSE

extension DynamoDBUserStore {
    package func restore(_ entry: StoreEntry) throws(StoreError) -> Bool {
        try perform { table throws(DynamoDBFailure) in
            switch entry {
            case .account(let account, let sessions, let grants, let audit):
                return try table.restore(account, sessions, grants, audit)
            case .formerAudit(let id, let audit):
                let writes = StoredAudit.writes(audit, of: id, if: .absent)
                guard writes.count < DynamoDBTable.writesInOneTransaction else {
                    throw .unusable("an audit is longer than one transaction can write")
                }
                guard try !table.hasAudit(of: id) else { return false }
                return try table.isWritten([.check(.account(id), .absent)] + writes)
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
    /// One transaction, and for an account with more than fits in one several, of which the last writes the account's item: until
    /// then nobody sees the others, and whoever restores it again writes them again.
    fileprivate func restore(
        _ account: Account, _ sessions: [Session], _ grants: [AppleGrant], _ audit: [AuditEntry]
    ) throws(DynamoDBFailure) -> Bool {
        guard try isFree(account) else { return false }
        var stored = StoredAccount(account)
        stored.auditCount = Int64(audit.count)
        let last = try Self.ownership(of: account) + [stored.write()]
        let ours = Condition(
            "attribute_not_exists(#pk) OR #account = :account", [":account": .string(account.id.description)])
        var writes = sessions.flatMap { StoredSession($0, receipt: nil).insertion(if: ours) }
        writes += grants.map { .put($0.item, at: .grant($0.clientID, of: account.id)) }
        writes += StoredAudit.writes(audit, of: account.id, if: nil)
        while writes.count + last.count > Self.writesInOneTransaction {
            // By twos, as a session has two items.
            guard try isWritten(Array(writes.prefix(Self.writesInOneTransaction))) else { return false }
            writes.removeFirst(min(writes.count, Self.writesInOneTransaction))
        }
        return try isWritten(writes + last)
    }

    /// Whether nothing is there, nor was, that this account would be twice. A part of it may be there, from a time before.
    private func isFree(_ account: Account) throws(DynamoDBFailure) -> Bool {
        let keys = [
            .account(account.id), account.appleSubject.map { Key.owner(ofSubject: $0) },
            account.transferSubject.map { Key.owner(ofTransfer: $0) },
        ].compactMap { $0 }
        guard try items(keys).isEmpty else { return false }
        let items = try items(in: Key.account(account.id).partition, from: "audit#", to: "erasure")
        for item in items where Key(item) != .erasure(of: account.id) {
            let entries = try StoredAudit(item, of: account.id).entries
            if entries.contains(where: { $0.event == .accountDeleted }) { return false }
        }
        return items.last.flatMap { Key($0) } != .erasure(of: account.id)
    }

    fileprivate func hasAudit(of account: UUIDv7) throws(DynamoDBFailure) -> Bool {
        try !items(in: Key.account(account).partition, from: "audit#", to: "audit$").isEmpty
    }

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
