#if SQLite
package import Accounts
package import JOSE

extension SQLiteUserStore {
    package func keep(_ grant: AppleGrant) throws(StoreError) {
        try transaction { connection throws(SQLiteFailure) in
            if try connection.account(.id(grant.accountID)) == nil {
                try connection.put(Revocation(grant: grant, dueAt: grant.obtainedAt))
            } else {
                try connection.keep(grant)
            }
        }
    }

    package func grants(of accountID: UUIDv7) throws(StoreError) -> [AppleGrant] {
        try perform { connection throws(SQLiteFailure) in try connection.grants(of: accountID) }
    }

    package func replace(_ old: AppleGrant, by new: AppleGrant) throws(StoreError) {
        try overwriteWhatIsRemoved()
        try transaction { connection throws(SQLiteFailure) in try connection.replace(old, by: new) }
    }

    package func takeRevocations(due now: UnixTime, limit: Int) throws(StoreError) -> [Revocation] {
        // Most often there is none, and that is seen without keeping others from writing.
        let isAnyDue = try perform { connection throws(SQLiteFailure) in
            try !connection.revocations(due: now, limit: 1).isEmpty
        }
        guard isAnyDue else { return [] }
        return try transaction { connection throws(SQLiteFailure) in
            let due = try connection.revocations(due: now, limit: limit)
            for revocation in due { try connection.put(revocation.taken(at: now)) }
            return due
        }
    }

    package func finish(_ revocation: Revocation) throws(StoreError) {
        try overwriteWhatIsRemoved()
        try transaction { connection throws(SQLiteFailure) in try connection.remove(revocation) }
    }

    package func revocations(limit: Int) throws(StoreError) -> [Revocation] {
        try perform { connection throws(SQLiteFailure) in try connection.revocations(limit: limit) }
    }
}
#endif
