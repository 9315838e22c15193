package import Accounts
internal import JOSE

/// Accounts and sessions in this process only, gone when it ends: for tests and for a first look.
///
/// It keeps the rules of the durable stores, so that what passes here is not refused there.
package final class MemoryUserStore: UserStore {
    /// By the bytes of `sub`: Swift holds two spellings of one letter equal, databases do not, and neither does Apple.
    var accounts: [[UInt8]: Account] = [:]
    var sessions: [UUIDv7: Session] = [:]
    var audit: [UUIDv7: [AuditEntry]] = [:]
    var receipts: [[UInt8]: (receipt: Receipt, account: UUIDv7)] = [:]
    var attempts: [AttemptKey: (window: UnixTime, count: Int64)] = [:]

    package init() {}

    package func signIn(
        _ candidate: Account, receipt name: [UInt8]?, _ open: (_ account: Account, _ isNew: Bool) -> Opening?
    ) throws(StoreError) -> SignInOutcome {
        if let name, let (receipt, _) = receipts[name], receipt.expiresAt > candidate.updatedAt {
            return .repeated(receipt)
        }
        let subject = Array(candidate.appleSubject.utf8)
        let known = accounts[subject]
        let account = known?.learning(candidate.profile, at: candidate.updatedAt) ?? candidate
        guard let opening = open(account, known == nil) else { return .nothing }
        if let session = opening.session {
            guard session.accountID == account.id, sessions[session.id] == nil else {
                throw .unusable(reason: "memory: the session's id is taken, or it is another account's")
            }
            sessions[session.id] = session
        }
        accounts[subject] = account
        append(opening.audit)
        if let receipt = opening.receipt { receipts[receipt.name] = (receipt, account.id) }
        return .done(account, isNew: known == nil)
    }

    package func account(_ id: UUIDv7) throws(StoreError) -> Account? {
        accounts.values.first { $0.id == id }
    }

    package func change(account id: UUIDv7, _ decide: (Account) -> AccountChange) throws(StoreError) {
        guard let account = try account(id) else { return }
        switch decide(account) {
        case .keep: break
        case .update(let changed, let entry):
            accounts[Array(account.appleSubject.utf8)] = changed
            if changed.isDisabled { removeSessionsAndReceipts(of: id) }
            append([entry])
        case .delete(let entry):
            append([entry])
            removeSessionsAndReceipts(of: id)
            accounts[Array(account.appleSubject.utf8)] = nil
            for index in audit[id, default: []].indices { audit[id]?[index].origin.sourceAddress = nil }
        }
    }

    package func audit(of accountID: UUIDv7) throws(StoreError) -> [AuditEntry] {
        audit[accountID] ?? []
    }

    func append(_ entries: [AuditEntry]) {
        for entry in entries { audit[entry.accountID, default: []].append(entry) }
    }

    private func removeSessionsAndReceipts(of account: UUIDv7) {
        sessions = sessions.filter { $0.value.accountID != account }
        receipts = receipts.filter { $0.value.account != account }
    }
}
