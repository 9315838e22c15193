#if SQLite
package import Accounts
package import JOSE

extension SQLiteUserStore {
    /// Everything is read and decided before the first row is written, so that a refusal has nothing to undo.
    package func signIn(
        _ lookup: AppleLookup, since departure: Mark?, repeating repetition: [UInt8]?, once marks: [Mark],
        at now: UnixTime, _ open: (_ known: Account?) -> Opening?
    ) throws(StoreError) -> SignInOutcome {
        try transaction { connection throws(SQLiteFailure) in
            if let repetition, let receipt = try connection.receipt(repetition, at: now) { return .repeated(receipt) }
            for mark in marks where try connection.isSpent(mark, at: now) { return .spent }
            if let departure, try connection.isOutlasted(departure, until: Departure.latestEnd(at: now)) {
                return .departed
            }
            let known = try connection.account(for: lookup)
            guard let opening = open(known) else { return .nothing }
            if let known {
                try connection.update(opening.account, from: known)
            } else {
                try connection.insert(opening.account)
            }
            if let session = opening.session { try connection.insert(session) }
            try connection.append(opening.audit)
            if let receipt = opening.receipt { try connection.keep(receipt, of: opening.account.id) }
            for mark in marks { try connection.remember(mark) }
            return .done
        }
    }

    package func account(_ id: UUIDv7) throws(StoreError) -> Account? {
        try perform { connection throws(SQLiteFailure) in try connection.account(.id(id)) }
    }

    package func change(
        account key: AccountKey, once mark: Mark?, at now: UnixTime,
        _ decide: (Account, [Session]) -> AccountChange
    ) throws(StoreError) -> ChangeOutcome {
        try overwriteWhatIsRemoved()
        return try transaction { connection throws(SQLiteFailure) in
            if let mark, try connection.isSpent(mark, at: now) { return .spent }
            guard let account = try connection.account(key) else { return .noAccount }
            let change = decide(account, try connection.sessions(of: account.id))
            if let mark { try connection.remember(mark) }
            return .done(revocations: try connection.carryOut(change, on: account, at: now))
        }
    }

    package func audit(of accountID: UUIDv7) throws(StoreError) -> [AuditEntry] {
        try perform { connection throws(SQLiteFailure) in try connection.audit(of: accountID) }
    }
}

extension Connection {
    /// Accounts here all have a `sub`, so none is found by an address.
    fileprivate func account(for lookup: AppleLookup) throws(SQLiteFailure) -> Account? {
        if let account = try account(.appleSubject(lookup.subject)) { return account }
        guard let transferSubject = lookup.transferSubject else { return nil }
        return try account(transferredAs: transferSubject)
    }

    /// Returns how many grants are to be revoked now.
    fileprivate func carryOut(
        _ change: AccountChange, on account: Account, at now: UnixTime
    ) throws(SQLiteFailure) -> Int {
        switch change {
        case .keep: return 0
        case .update(let changed, let ending, let withdrawal, let entries):
            try update(changed, from: account)
            for session in ending { try remove(session) }
            if let withdrawal { try removeGrants(of: account.id, obtainedUntil: withdrawal.end) }
            if let departure = withdrawal?.departure { try remember(departure) }
            if !ending.isEmpty || changed.isDisabled || withdrawal != nil { try removeReceipts(of: account.id) }
            try append(entries)
            return 0
        case .delete(let revoking, let remains, let entry):
            try append([entry])
            if let remains { try remember(remains) }
            let grants = revoking ? try grants(of: account.id) : []
            for grant in grants { try put(Revocation(grant: grant, dueAt: now)) }
            try remove(account.id)
            return grants.count
        }
    }
}
#endif
