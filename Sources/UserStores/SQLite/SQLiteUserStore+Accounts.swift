#if SQLite
package import Accounts

extension SQLiteUserStore {
    /// Everything is read and decided before the first row is written, so that a refusal has nothing to undo.
    package func signIn(
        _ candidate: Account, receipt name: [UInt8]?, _ open: (_ account: Account, _ isNew: Bool) -> Opening?
    ) throws(StoreError) -> SignInOutcome {
        try transaction { connection throws(SQLiteFailure) in
            if let name, let receipt = try connection.receipt(name, at: candidate.updatedAt) {
                return .repeated(receipt)
            }
            let known = try connection.account(subject: candidate.appleSubject)
            let account = known?.learning(candidate.profile, at: candidate.updatedAt) ?? candidate
            guard let opening = open(account, known == nil) else { return .nothing }
            if known == nil {
                try connection.insert(account)
            } else if account != known {
                try connection.update(account)
            }
            if let session = opening.session { try connection.insert(session) }
            try connection.append(opening.audit)
            if let receipt = opening.receipt { try connection.keep(receipt, of: account.id) }
            return .done(account, isNew: known == nil)
        }
    }

    package func account(_ id: UUIDv7) throws(StoreError) -> Account? {
        try perform { connection throws(SQLiteFailure) in try connection.account(id) }
    }

    package func change(account id: UUIDv7, _ decide: (Account) -> AccountChange) throws(StoreError) {
        try overwriteWhatIsRemoved()
        try transaction { connection throws(SQLiteFailure) in
            guard let account = try connection.account(id) else { return }
            switch decide(account) {
            case .keep: break
            case .update(let changed, let entry):
                try connection.update(changed)
                if changed.isDisabled { try connection.removeSessionsAndReceipts(of: id) }
                try connection.append([entry])
            case .delete(let entry):
                try connection.append([entry])
                try connection.remove(id)
            }
        }
    }

    package func audit(of accountID: UUIDv7) throws(StoreError) -> [AuditEntry] {
        try perform { connection throws(SQLiteFailure) in try connection.audit(of: accountID) }
    }
}
#endif
