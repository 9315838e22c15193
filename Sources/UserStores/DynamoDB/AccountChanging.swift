internal import Accounts
internal import JOSE

/// An account that was read, with its sessions, and what becomes of it: one transaction, and the sweeping after it.
///
/// A transaction takes a hundred items, and an account may have more sessions than that. What a transaction cannot remove it
/// declares over, so that nobody can use it any more, and it is swept when that is durable; by the next purge, if this process
/// dies. The transaction is what counts: a sweep that fails is no failure of the change.
struct AccountChanging {
    let table: DynamoDBTable
    let known: StoredAccount
    let sessions: [StoredSession]
    /// Remembered with the rest.
    let mark: Write?

    func keep() throws(DynamoDBFailure) {
        if let mark { try table.write(together: [mark]) }
    }

    func update(
        _ account: Account, ending: [Session], withdrawal: Withdrawal? = nil, _ entries: [AuditEntry],
        voidsReceipts: Bool = true
    ) throws(DynamoDBFailure) {
        var stored = known
        stored.account = account
        if voidsReceipts, !ending.isEmpty || account.isDisabled || withdrawal != nil { stored.receiptsEpoch += 1 }
        let owners = try DynamoDBTable.ownership(of: account, before: known.account)
        var writes = owners + StoredAudit.writes(entries, to: &stored)
        writes += try table.removalOfGrants(of: account, reboundFrom: known.account, until: withdrawal?.end)
        if let departure = withdrawal?.departure { writes.append(try remembrance(of: departure)) }
        if let mark { writes.append(mark) }
        let ended = sessions.filter { session in ending.contains { $0.id == session.session.id } }
        let room = (DynamoDBTable.writesInOneTransaction - writes.count - 1) / 2
        writes += ended.prefix(room).flatMap(\.keys).map { .delete($0) }
        stored.ended += ended.dropFirst(room).map(\.session.id)
        writes.append(try stored.write())
        do throws(DynamoDBFailure) {
            try table.write(together: writes)
        } catch .conflict(let failed, _) where failed.contains(where: { $0 < owners.count }) {
            throw .unusable("the sub or the name of the move is another account's")
        }
        if !stored.ended.isEmpty { try? table.sweep(stored.ended, of: account.id) }
    }

    /// Returns how many grants are to be revoked.
    func delete(
        isRevoking: Bool, remembering remains: Mark?, _ entry: AuditEntry, at now: UnixTime
    ) throws(DynamoDBFailure) -> Int {
        let account = known.account
        var stored = known
        var writes = StoredAudit.writes([entry.withoutAddress], to: &stored)
        writes += [
            account.appleSubject.map { .owner(ofSubject: $0) }, account.transferSubject.map { .owner(ofTransfer: $0) },
        ]
        .compactMap { $0 }.map { (key: Key) in .delete(key) }
        let grants = try table.grants(of: account.id)
        for grant in grants {
            writes.append(.delete(.grant(grant.clientID, of: account.id)))
            guard isRevoking else { continue }
            writes.append(.put(Revocation(grant: grant, dueAt: now).item, at: .revocation(of: grant)))
        }
        if let mark { writes.append(mark) }
        if let remains { writes.append(try remembrance(of: remains)) }
        writes.append(.put(Item(["kind": .string("erasure")]), at: .erasure(of: account.id)))
        writes.append(.delete(known.key, if: .unchanged(known.item)))
        guard writes.count <= DynamoDBTable.writesInOneTransaction else {
            throw .unusable("an account has more grants than one transaction can revoke")
        }
        try table.write(together: writes)
        try? table.sweep(erased: account.id)
        return isRevoking ? grants.count : 0
    }

    private func remembrance(of departure: Mark) throws(DynamoDBFailure) -> Write {
        MarkView(items: try table.items([.mark(departure.name)])).remember(departure)
    }
}
