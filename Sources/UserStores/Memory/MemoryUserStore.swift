package import Accounts
package import JOSE

/// Accounts and sessions in this process only, gone when it ends: for tests and for a first look.
///
/// It keeps the rules of the durable stores, so that what passes here is not refused there.
package final class MemoryUserStore: UserStore {
    var accounts: [UUIDv7: Account] = [:]
    var sessions: [UUIDv7: Session] = [:]
    var audit: [UUIDv7: [AuditEntry]] = [:]
    var receipts: [[UInt8]: (receipt: Receipt, account: UUIDv7)] = [:]
    var marks: [[UInt8]: UnixTime] = [:]
    var attempts: [AttemptKey: (window: UnixTime, count: Int64)] = [:]
    var grants: [GrantKey: AppleGrant] = [:]
    var outbox: [GrantKey: Revocation] = [:]

    package init() {}

    package func signIn(
        _ lookup: AppleLookup, since departure: Mark?, repeating repetition: [UInt8]?, once marks: [Mark],
        at now: UnixTime, _ open: (_ known: Account?) -> Opening?
    ) throws(StoreError) -> SignInOutcome {
        if let repetition, let (receipt, _) = receipts[repetition], receipt.expiresAt > now {
            return .repeated(receipt)
        }
        if marks.contains(where: { isSpent($0, at: now) }) { return .spent }
        if let departure, let end = self.marks[departure.name], end > departure.expiresAt,
            end <= Departure.latestEnd(at: now)
        {
            return .departed
        }
        let known = account(.appleSubject(lookup.subject)) ?? account(transferredAs: lookup.transferSubject)
        guard let opening = open(known) else { return .nothing }
        if let session = opening.session {
            guard session.accountID == opening.account.id, sessions[session.id] == nil else {
                throw .unusable(reason: "memory: the session's id is taken, or it is another account's")
            }
            sessions[session.id] = session
        }
        write(opening.account)
        append(opening.audit)
        if let receipt = opening.receipt { receipts[receipt.name] = (receipt, opening.account.id) }
        remember(marks)
        return .done
    }

    package func account(_ id: UUIDv7) throws(StoreError) -> Account? {
        accounts[id]
    }

    package func change(
        account key: AccountKey, once mark: Mark?, at now: UnixTime,
        _ decide: (Account, [Session]) -> AccountChange
    ) throws(StoreError) -> ChangeOutcome {
        if let mark, isSpent(mark, at: now) { return .spent }
        guard let account = account(key) else { return .noAccount }
        var revocations = 0
        switch decide(account, sessions(of: account.id)) {
        case .keep: break
        case .update(let changed, let ending, let withdrawal, let entries):
            write(changed)
            for session in ending { sessions[session.id] = nil }
            if let withdrawal {
                grants = grants.filter { $0.value.accountID != account.id || $0.value.obtainedAt > withdrawal.end }
                remember(withdrawal.departure.map { [$0] } ?? [])
            }
            if !ending.isEmpty || changed.isDisabled || withdrawal != nil { removeReceipts(of: account.id) }
            append(entries)
        case .delete(let revoking, let remains, let entry):
            append([entry])
            remember(remains.map { [$0] } ?? [])
            revocations = remove(account, revoking: revoking, at: now)
        }
        remember(mark.map { [$0] } ?? [])
        return .done(revocations: revocations)
    }

    package func audit(of accountID: UUIDv7) throws(StoreError) -> [AuditEntry] {
        audit[accountID] ?? []
    }

    func append(_ entries: [AuditEntry]) {
        for entry in entries { audit[entry.accountID, default: []].append(entry) }
    }

    private func write(_ account: Account) {
        if let known = accounts[account.id], account.isRebound(from: known) {
            grants = grants.filter { $0.key.accountID != account.id }
        }
        accounts[account.id] = account
    }

    private func remove(_ account: Account, revoking: Bool, at now: UnixTime) -> Int {
        let held = grants.values.filter { $0.accountID == account.id }
        grants = grants.filter { $0.key.accountID != account.id }
        for grant in held where revoking { outbox[GrantKey(grant)] = Revocation(grant: grant, dueAt: now) }
        sessions = sessions.filter { $0.value.accountID != account.id }
        removeReceipts(of: account.id)
        accounts[account.id] = nil
        for index in audit[account.id, default: []].indices { audit[account.id]?[index].origin.sourceAddress = nil }
        return revoking ? held.count : 0
    }

    private func removeReceipts(of account: UUIDv7) {
        receipts = receipts.filter { $0.value.account != account }
    }

    /// By the bytes of `sub`: Swift holds two spellings of one letter equal, databases do not, and neither does Apple.
    func account(_ key: AccountKey) -> Account? {
        switch key {
        case .id(let id): accounts[id]
        case .appleSubject(let subject): accounts.values.first { $0.appleSubject?.isIdentical(to: subject) == true }
        }
    }

    func account(transferredAs subject: String?) -> Account? {
        subject.flatMap { subject in
            accounts.values.first { $0.transferSubject?.isIdentical(to: subject) == true }
        }
    }

    private func isSpent(_ mark: Mark, at now: UnixTime) -> Bool {
        marks[mark.name].map { $0 > now } ?? false
    }

    private func remember(_ new: [Mark]) {
        for mark in new { marks[mark.name] = max(mark.expiresAt, marks[mark.name] ?? mark.expiresAt) }
    }
}
