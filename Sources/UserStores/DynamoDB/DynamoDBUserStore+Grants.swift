package import Accounts
package import JOSE

extension DynamoDBUserStore {
    /// Writes the account's item as well, so that a deletion that did not see the grant begins again.
    package func keep(_ grant: AppleGrant) throws(StoreError) {
        try perform { table throws(DynamoDBFailure) in
            let account = Key.account(grant.accountID)
            do throws(DynamoDBFailure) {
                let touch = Write.update(
                    account, set: Item(["version": DynamoDBTable.newVersion()]), if: .present)
                try table.write(together: [
                    touch, .put(grant.item, at: .grant(grant.clientID, of: grant.accountID)),
                ])
            } catch .conflict(let failed, _) where failed == [0] {
                let revocation = Revocation(grant: grant, dueAt: grant.obtainedAt)
                try table.write(together: [
                    .check(account, .absent), .put(revocation.item, at: .revocation(of: grant)),
                ])
            }
        }
    }

    package func grants(of accountID: UUIDv7) throws(StoreError) -> [AppleGrant] {
        try perform { table throws(DynamoDBFailure) in try table.grants(of: accountID) }
    }

    /// What lies in another place, or was replaced meanwhile, stays as it is.
    package func replace(_ old: AppleGrant, by new: AppleGrant) throws(StoreError) {
        try perform { table throws(DynamoDBFailure) in
            for key in [Key.grant(old.clientID, of: old.accountID), .revocation(of: old)] {
                do throws(DynamoDBFailure) {
                    try table.write(
                        .update(
                            key, set: Item(["key": .string(new.keyID), "sealed": .bytes(new.sealed)]),
                            if: .unchanged("sealed", .bytes(old.sealed))))
                } catch .conflict {
                    // Not this one.
                }
            }
        }
    }

    package func takeRevocations(due now: UnixTime, limit: Int) throws(StoreError) -> [Revocation] {
        try perform { table throws(DynamoDBFailure) in
            var taken: [Revocation] = []
            var due = try table.revocations("#due <= :time", now, limit: limit)
            if due.count < limit {
                let latest = now.adding(seconds: Revocation.longestWaitSeconds)
                due += try table.revocations("#due > :time", latest, limit: limit - due.count)
            }
            for revocation in due {
                let later = revocation.taken(at: now)
                let put = Write.update(
                    .revocation(of: revocation.grant),
                    set: Item(["attempts": .number(Int64(later.attempts)), "due": .time(later.dueAt)]),
                    if: .unchanged("due", .number(revocation.dueAt.milliseconds)))
                do throws(DynamoDBFailure) {
                    try table.write(put)
                    taken.append(revocation)
                } catch .conflict {
                    // Another process has it, or our answer was lost: then it is due again in a while.
                }
            }
            return taken
        }
    }

    /// Only the grant that was revoked: another may have come in its place.
    package func finish(_ revocation: Revocation) throws(StoreError) {
        try perform { table throws(DynamoDBFailure) in
            do throws(DynamoDBFailure) {
                try table.write(
                    .delete(
                        .revocation(of: revocation.grant), if: .unchanged("sealed", .bytes(revocation.grant.sealed))))
            } catch .conflict {
                // It is gone.
            }
        }
    }

    package func revocations(limit: Int) throws(StoreError) -> [Revocation] {
        try perform { table throws(DynamoDBFailure) in try table.revocations(limit: limit) }
    }
}

extension DynamoDBTable {
    /// Those due first first: for which `condition` holds, or all.
    fileprivate func revocations(
        _ condition: String? = nil, _ time: UnixTime? = nil, limit: Int
    ) throws(DynamoDBFailure) -> [Revocation] {
        var values = Item([":pk": .string(Key.outbox)])
        if let time { values[":time"] = .number(time.milliseconds) }
        let expression = Expression(text: "#pk = :pk" + (condition.map { " AND \($0)" } ?? ""), values: values)
        var members: JSON.Object = [
            "IndexName": .string(Revocation.index), "KeyConditionExpression": .string(expression.text),
            "ConsistentRead": .bool(true),
        ]
        expression.complete(&members)
        var found: [Revocation] = []
        var next: JSON?
        repeat {
            guard found.count < limit else { break }
            members["Limit"] = .integer(Int64(min(limit - found.count, 100)))
            let page = try page("Query", members, after: next)
            for item in page.items { found.append(try Revocation(item)) }
            next = page.next
        } while next != nil
        return found
    }
}
