package import Accounts
package import JOSE

extension MemoryUserStore {
    package func restore(_ entry: StoreEntry) throws(StoreError) -> Bool {
        switch entry {
        case .account(let account, let sessions, let grants, let audit):
            guard isFree(account), sessions.allSatisfy({ self.sessions[$0.id] == nil }) else { return false }
            accounts[account.id] = account
            for session in sessions { self.sessions[session.id] = session }
            for grant in grants { self.grants[GrantKey(grant)] = grant }
            append(audit)
        case .formerAudit(let id, let audit):
            guard accounts[id] == nil, self.audit[id] == nil else { return false }
            append(audit)
        case .revocation(let revocation):
            guard outbox[GrantKey(revocation.grant)] == nil else { return false }
            outbox[GrantKey(revocation.grant)] = revocation
        case .mark(let mark):
            if let known = marks[mark.name], known >= mark.expiresAt { return false }
            marks[mark.name] = mark.expiresAt
        }
        return true
    }

    private func isFree(_ account: Account) -> Bool {
        accounts[account.id] == nil && audit[account.id] == nil
            && account.appleSubject.flatMap { self.account(.appleSubject($0)) } == nil
            && self.account(transferredAs: account.transferSubject) == nil
    }

    package func forEachLoneEntry(at time: UnixTime, _ body: (StoreEntry) -> Bool) throws(StoreError) {
        for (id, entries) in audit where accounts[id] == nil {
            guard body(.formerAudit(of: id, entries)) else { return }
        }
        for (name, expiresAt) in marks where expiresAt > time {
            guard body(.mark(Mark(name: name, expiresAt: expiresAt))) else { return }
        }
    }
}
