package import Accounts
package import JOSE

extension MemoryUserStore {
    /// What a grant is kept under: one a person and client.
    struct GrantKey: Hashable {
        let accountID: UUIDv7
        let clientID: [UInt8]

        init(_ grant: AppleGrant) {
            accountID = grant.accountID
            clientID = Array(grant.clientID.utf8)
        }
    }

    package func keep(_ grant: AppleGrant) throws(StoreError) {
        if accounts[grant.accountID] == nil {
            outbox[GrantKey(grant)] = Revocation(grant: grant, dueAt: grant.obtainedAt)
        } else {
            grants[GrantKey(grant)] = grant
        }
    }

    package func grants(of accountID: UUIDv7) throws(StoreError) -> [AppleGrant] {
        grants.values.filter { $0.accountID == accountID }.sorted { $0.clientID < $1.clientID }
    }

    package func replace(_ old: AppleGrant, by new: AppleGrant) throws(StoreError) {
        if grants[GrantKey(old)] == old { grants[GrantKey(old)] = new }
        if let waiting = outbox[GrantKey(old)], waiting.grant == old {
            outbox[GrantKey(old)] = Revocation(grant: new, attempts: waiting.attempts, dueAt: waiting.dueAt)
        }
    }

    package func takeRevocations(due now: UnixTime, limit: Int) throws(StoreError) -> [Revocation] {
        let taken = waiting.filter { $0.isDue(at: now) }.prefix(limit)
        for revocation in taken { outbox[GrantKey(revocation.grant)] = revocation.taken(at: now) }
        return Array(taken)
    }

    package func finish(_ revocation: Revocation) throws(StoreError) {
        // Only the grant that was revoked: another may have come in its place.
        let key = GrantKey(revocation.grant)
        if outbox[key]?.grant == revocation.grant { outbox[key] = nil }
    }

    package func revocations(limit: Int) throws(StoreError) -> [Revocation] {
        Array(waiting.prefix(limit))
    }

    private var waiting: [Revocation] { outbox.values.sorted { $0.dueAt < $1.dueAt } }
}
