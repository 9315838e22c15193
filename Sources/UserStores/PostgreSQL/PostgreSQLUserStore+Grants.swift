#if PostgreSQL
package import Accounts
package import JOSE

extension PostgreSQLUserStore {
    package func keep(_ grant: AppleGrant) throws(StoreError) {
        try transaction { queries throws(PostgreSQLFailure) in
            queries.find(.id(grant.accountID), isHeld: true)
        } _: { _, rows throws(PostgreSQLFailure) in
            ((), [rows[0].count == 0 ? .put(Revocation(grant: grant, dueAt: grant.obtainedAt)) : .keep(grant)])
        }
    }

    package func grants(of accountID: UUIDv7) throws(StoreError) -> [AppleGrant] {
        let rows = try perform { _ throws(PostgreSQLFailure) in [.grants(of: accountID)] }
        return try read { () throws(PostgreSQLFailure) in
            try rows[0].all.map { row throws(PostgreSQLFailure) in try row.grant() }
        }
    }

    package func replace(_ old: AppleGrant, by new: AppleGrant) throws(StoreError) {
        _ = try perform { _ throws(PostgreSQLFailure) in SQLStatement.replace(old, by: new) }
    }

    package func takeRevocations(due now: UnixTime, limit: Int) throws(StoreError) -> [Revocation] {
        // Most often there is none, and that is seen in one round trip.
        let due = try perform { _ throws(PostgreSQLFailure) in [.revocations(due: now, limit: 1)] }
        guard due[0].count > 0 else { return [] }
        return try transaction { _ throws(PostgreSQLFailure) in
            [.revocations(due: now, limit: limit, isTaking: true)]
        } _: { _, rows throws(PostgreSQLFailure) in
            let due = try rows[0].all.map { row throws(PostgreSQLFailure) in try row.revocation() }
            return (due, due.map { .put($0.taken(at: now)) })
        }
    }

    package func finish(_ revocation: Revocation) throws(StoreError) {
        _ = try perform { _ throws(PostgreSQLFailure) in [.remove(revocation)] }
    }

    package func revocations(limit: Int) throws(StoreError) -> [Revocation] {
        let rows = try perform { _ throws(PostgreSQLFailure) in [.revocations(limit: limit)] }
        return try read { () throws(PostgreSQLFailure) in
            try rows[0].all.map { row throws(PostgreSQLFailure) in try row.revocation() }
        }
    }
}
#endif
