#if PostgreSQL
package import Accounts
package import JOSE

extension PostgreSQLUserStore {
    /// Two round trips: everything is read, and the account held; then everything is written and committed.
    package func signIn(
        _ lookup: AppleLookup, since departure: Mark?, repeating repetition: [UInt8]?, once marks: [Mark],
        at now: UnixTime, _ open: (_ known: Account?) -> Opening?
    ) throws(StoreError) -> SignInOutcome {
        try transaction { queries throws(PostgreSQLFailure) in
            // Accounts first: who waits for one sees afterwards what the other left.
            queries.searches(for: lookup) + marks.map { SQLStatement.look(for: $0, at: now) }
                + (departure.map { [SQLStatement.outlasting($0, until: Departure.latestEnd(at: now))] } ?? [])
                + (repetition.map { [SQLStatement.receipt($0, at: now)] } ?? [])
        } _: { transaction, rows throws(PostgreSQLFailure) in
            if repetition != nil, let receipt = try rows.last?.first?.receipt() { return (.repeated(receipt), []) }
            let searches = rows.count - marks.count - (departure == nil ? 0 : 1) - (repetition == nil ? 0 : 1)
            let later = searches + marks.count
            if rows[searches..<later].contains(where: { $0.count > 0 }) { return (.spent, []) }
            if departure != nil, rows[later].count > 0 { return (.departed, []) }
            let known = try transaction.queries.account(for: lookup, in: rows[..<searches])
            guard let opening = open(known) else { return (.nothing, []) }
            var writes =
                if let known { transaction.update(opening.account, from: known) } else {
                    try transaction.insert(opening.account)
                }
            if let session = opening.session { writes += SQLStatement.insert([session]) }
            writes += SQLStatement.append(opening.audit)
            if let receipt = opening.receipt {
                writes.append(.keep(receipt, of: opening.account.id, at: now, replacing: repetition == nil))
            }
            writes += marks.map { .remember($0, at: now) }
            return (.done, writes)
        }
    }

    package func account(_ id: UUIDv7) throws(StoreError) -> Account? {
        let rows = try perform { queries throws(PostgreSQLFailure) in queries.find(.id(id), isHeld: false) }
        return try read { () throws(PostgreSQLFailure) in try rows[0].first?.account() }
    }

    package func change(
        account key: AccountKey, once mark: Mark?, at now: UnixTime,
        _ decide: (Account, [Session]) -> AccountChange
    ) throws(StoreError) -> ChangeOutcome {
        try transaction { queries throws(PostgreSQLFailure) in
            queries.find(key, isHeld: true) + (mark.map { [SQLStatement.look(for: $0, at: now)] } ?? [])
        } _: { transaction, rows throws(PostgreSQLFailure) in
            if mark != nil, rows[1].count > 0 { return (.spent, []) }
            guard let account = try rows[0].first?.account() else { return (.noAccount, []) }
            let more = try transaction.read([.sessions(of: account.id), .grants(of: account.id)])
            let sessions = try more[0].all.map { row throws(PostgreSQLFailure) in try row.session() }
            let change = decide(account, sessions)
            let remembered = mark.map { [SQLStatement.remember($0, at: now)] } ?? []
            switch change {
            case .keep: return (.done(revocations: 0), remembered)
            case .update(let changed, let ending, let withdrawal, let entries):
                var writes = remembered + transaction.update(changed, from: account)
                writes += SQLStatement.remove(ending)
                if let withdrawal { writes.append(.removeGrants(of: account.id, obtainedUntil: withdrawal.end)) }
                if let departure = withdrawal?.departure { writes.append(.prolong(departure)) }
                if !ending.isEmpty || changed.isDisabled || withdrawal != nil {
                    writes.append(.removeReceipts(of: account.id))
                }
                return (.done(revocations: 0), writes + SQLStatement.append(entries))
            case .delete(let revoking, let remains, let entry):
                let grants = revoking ? try more[1].all.map { row throws(PostgreSQLFailure) in try row.grant() } : []
                var writes = remembered + grants.map { .put(Revocation(grant: $0, dueAt: now)) }
                if let remains { writes.append(.prolong(remains)) }
                writes += SQLStatement.remove(sessions) + SQLStatement.append([entry])
                writes += [
                    .removeReceipts(of: account.id), .removeGrants(of: account.id), .removeAddresses(of: account.id),
                ]
                writes += transaction.remove(account.id)
                return (.done(revocations: grants.count), writes)
            }
        }
    }

    package func audit(of accountID: UUIDv7) throws(StoreError) -> [AuditEntry] {
        let rows = try perform { _ throws(PostgreSQLFailure) in [.audit(of: accountID)] }
        return try read { () throws(PostgreSQLFailure) in
            try rows[0].all.map { row throws(PostgreSQLFailure) in try row.auditEntry() }
        }
    }

    /// Reads rows into values; what cannot be read was not written by us.
    func read<Value>(_ body: () throws(PostgreSQLFailure) -> Value) throws(StoreError) -> Value {
        do throws(PostgreSQLFailure) {
            return try body()
        } catch {
            throw error.error(for: location.name)
        }
    }
}

extension AccountQueries {
    func find(_ key: AccountKey, isHeld: Bool) -> [SQLStatement] {
        switch key {
        case .id(let id): [statement(.findByID, [.uuid(id)], isHeld: isHeld)].compactMap { $0 }
        case .appleSubject(let subject):
            [statement(.findByAppleSubject, [.text(subject)], isHeld: isHeld)].compactMap { $0 }
        }
    }

    /// The searches of a sign-in, in the order in which they count.
    fileprivate func searches(for lookup: AppleLookup) -> [SQLStatement] {
        find(.appleSubject(lookup.subject), isHeld: true)
            + [
                lookup.transferSubject.flatMap { statement(.findByTransferSubject, [.text($0)], isHeld: true) },
                lookup.verifiedEmail.flatMap { statement(.findByVerifiedEmail, [.text($0)], isHeld: true) },
            ].compactMap { $0 }
    }

    fileprivate func account(
        for lookup: AppleLookup, in rows: ArraySlice<SQLRows>
    ) throws(PostgreSQLFailure) -> Account? {
        var rows = rows
        if let account = try rows.popFirst()?.first?.account() { return account }
        if lookup.transferSubject != nil, texts[.findByTransferSubject] != nil,
            let account = try rows.popFirst()?.first?.account()
        {
            return account
        }
        guard let address = lookup.verifiedEmail, let found = rows.popFirst() else { return nil }
        let candidates = try found.all.map { row throws(PostgreSQLFailure) in try row.account() }
        return VerifiedEmailLink(address: address).account(among: candidates)
    }
}

extension PostgreSQLUserStore.Transaction {
    /// Our own INSERT goes with the rest; the owner's is waited for, since only what it gives back says whether it was done.
    fileprivate func insert(_ account: Account) throws(PostgreSQLFailure) -> [SQLStatement] {
        guard let insertion = queries.statement(.insert, account.parameters) else { return [] }
        guard queries.isMapped else { return [insertion] }
        guard try read([insertion])[0].count == 1 else { throw .overtaken }
        return []
    }

    /// Writes what can change of an account. Grants of another `sub` were another team's.
    fileprivate func update(_ account: Account, from known: Account) -> [SQLStatement] {
        guard account != known, let update = queries.statement(.update, account.parameters) else { return [] }
        return [update] + (account.isRebound(from: known) ? [.removeGrants(of: account.id)] : [])
    }

    fileprivate func remove(_ account: UUIDv7) -> [SQLStatement] {
        queries.statement(.delete, [.uuid(account)]).map { [$0] } ?? []
    }
}
#endif
