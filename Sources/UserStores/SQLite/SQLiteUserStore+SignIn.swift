#if SQLite
package import Accounts

extension SQLiteUserStore {
    package func signIn(
        _ candidate: Account, opening session: (Account) -> Session
    ) throws(StoreError) -> (account: Account, isNew: Bool, session: Session) {
        try transaction { connection throws(SQLiteFailure) in
            let known = try connection.account(subject: candidate.appleSubject)
            let account = known?.learning(candidate.profile, at: candidate.updatedAt) ?? candidate
            if known == nil {
                try connection.insert(account)
            } else if account != known {
                try connection.update(account)
            }
            let opened = session(account)
            try connection.insert(opened)
            return (account, known == nil, opened)
        }
    }

    package func account(_ id: UUIDv7) throws(StoreError) -> Account? {
        try perform { connection throws(SQLiteFailure) in try connection.account(id) }
    }

    package func session(_ id: UUIDv7) throws(StoreError) -> Session? {
        try perform { connection throws(SQLiteFailure) in try connection.session(id) }
    }
}
#endif
