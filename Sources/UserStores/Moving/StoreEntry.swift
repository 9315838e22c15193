package import Accounts
package import JOSE

/// What a store holds, in the pieces in which it moves to another store: each is there whole or not at all.
///
/// Two kinds stay behind. Counts of attempts last a minute or an hour, and a limit that begins anew is one still. Receipts last
/// ten minutes: who repeats a sign-in across the move signs in once more.
package enum StoreEntry: Hashable, Sendable {
    /// An account and all that is its own. Sessions go by their ids and grants by their clients, so that two stores that hold the
    /// same say it alike.
    case account(Account, sessions: [Session], grants: [AppleGrant], audit: [AuditEntry])
    /// What the audit keeps of an account that is gone.
    case formerAudit(of: UUIDv7, [AuditEntry])
    case revocation(Revocation)
    case mark(Mark)

    /// The entry without what had expired at `now`; nil where nothing is left of it.
    package func alive(at now: UnixTime) -> StoreEntry? {
        switch self {
        case .account(let account, let sessions, let grants, let audit):
            .account(account, sessions: sessions.filter { $0.isAlive(at: now) }, grants: grants, audit: audit)
        case .mark(let mark): mark.expiresAt > now ? self : nil
        case .formerAudit, .revocation: self
        }
    }
}

/// How much there is of each kind.
package struct EntryCount: Hashable, Sendable {
    package private(set) var accounts = 0
    package private(set) var sessions = 0
    package private(set) var grants = 0
    package private(set) var auditEntries = 0
    package private(set) var revocations = 0
    package private(set) var marks = 0

    package init() {}

    package mutating func add(_ entry: StoreEntry) {
        switch entry {
        case .account(_, let sessions, let grants, let audit):
            accounts += 1
            self.sessions += sessions.count
            self.grants += grants.count
            auditEntries += audit.count
        case .formerAudit(_, let audit): auditEntries += audit.count
        case .revocation: revocations += 1
        case .mark: marks += 1
        }
    }

    package var json: JSON {
        .object([
            "accounts": .integer(Int64(accounts)), "sessions": .integer(Int64(sessions)),
            "grants": .integer(Int64(grants)), "audit_entries": .integer(Int64(auditEntries)),
            "revocations": .integer(Int64(revocations)), "marks": .integer(Int64(marks)),
        ])
    }
}

extension UserStore {
    /// Gives all that a store holds and had not expired at `now`, until `body` says no. What is written meanwhile may be missing: a
    /// store that moves is not written to.
    package func forEachEntry(at now: UnixTime, _ body: (StoreEntry) -> Bool) throws(StoreError) {
        var last: UUIDv7?
        while true {
            let page = try accounts(after: last, limit: 200)
            guard let end = page.last else { break }
            for account in page {
                guard body(try entry(of: account, at: now)) else { return }
            }
            last = end.id
        }
        for revocation in try revocations(limit: Self.mostRevocations) {
            guard body(.revocation(revocation)) else { return }
        }
        try forEachLoneEntry(at: now, body)
    }

    /// What is there under the name of `entry`, where that can be asked for.
    package func counterpart(of entry: StoreEntry, at now: UnixTime) throws(StoreError) -> StoreEntry? {
        switch entry {
        case .account(let account, _, _, _):
            guard let known = try self.account(account.id) else { return nil }
            return try self.entry(of: known, at: now)
        case .formerAudit(let id, _):
            guard try account(id) == nil else { return nil }
            return .formerAudit(of: id, try audit(of: id))
        case .revocation(let revocation):
            let known = try revocations(limit: Self.mostRevocations).first { known in
                known.grant.accountID == revocation.grant.accountID
                    && known.grant.clientID.isIdentical(to: revocation.grant.clientID)
            }
            return known.map { .revocation($0) }
        // It is remembered at least as long.
        case .mark: return entry
        }
    }

    private func entry(of account: Account, at now: UnixTime) throws(StoreError) -> StoreEntry {
        .account(
            account,
            sessions: try sessions(of: account.id, at: now).sorted {
                $0.id.bytes.lexicographicallyPrecedes($1.id.bytes)
            },
            grants: try grants(of: account.id).sorted {
                $0.clientID.utf8.lexicographicallyPrecedes($1.clientID.utf8)
            }, audit: try audit(of: account.id))
    }

    private static var mostRevocations: Int { 1_000_000 }
}
