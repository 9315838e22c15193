package import Accounts
package import JOSE

extension DynamoDBUserStore {
    /// So many sessions that their entries fit one request. Who has more has them ended in turns, each of which is whole, and the
    /// rest is decided anew. A turn reads no more than it ends, but for what is decided on less.
    private static let mostEndings = 1000

    package func change(
        account key: AccountKey, once mark: Mark?, at now: UnixTime,
        _ decide: (Account, [Session]) -> AccountChange
    ) throws(StoreError) -> ChangeOutcome {
        while true {
            if let outcome = try turn(of: key, once: mark, at: now, decide) { return outcome }
        }
    }

    /// Nil when there is more to be ended first.
    private func turn(
        of key: AccountKey, once mark: Mark?, at now: UnixTime, _ decide: (Account, [Session]) -> AccountChange
    ) throws(StoreError) -> ChangeOutcome? {
        try perform { table throws(DynamoDBFailure) in
            let items = try table.items(Self.keys(key, mark))
            let marks = MarkView(items: items)
            if let mark, marks.isSpent(mark, at: now) { return .spent }
            guard let id = Self.id(key, in: items),
                let (known, sessions, decision) = try Self.decision(on: id, in: table, decide)
            else { return .noAccount }
            let change = AccountChanging(
                table: table, known: known, sessions: sessions, mark: mark.map(marks.remember))
            switch decision {
            case .keep:
                try change.keep()
                return .done(revocations: 0)
            case .update(_, let ending, _, let entries) where ending.count > Self.mostEndings:
                let first = Set(ending.prefix(Self.mostEndings).map(\.id))
                let part = AccountChanging(table: table, known: known, sessions: change.sessions, mark: nil)
                try part.update(
                    known.account, ending: ending.filter { first.contains($0.id) },
                    entries.filter { entry in entry.sessionID.map(first.contains) ?? false })
                return nil
            case .update(let account, let ending, let withdrawal, let entries):
                try change.update(account, ending: ending, withdrawal: withdrawal, entries)
                return .done(revocations: 0)
            case .delete(let isRevoking, let remains, let entry):
                return .done(
                    revocations: try change.delete(isRevoking: isRevoking, remembering: remains, entry, at: now))
            }
        }
    }

    /// What is decided on the first sessions that a turn ends or, where it does not end that many of them, on all.
    private static func decision(
        on id: UUIDv7, in table: DynamoDBTable, _ decide: (Account, [Session]) -> AccountChange
    ) throws(DynamoDBFailure) -> (StoredAccount, [StoredSession], AccountChange)? {
        var enough = mostEndings
        while true {
            guard let (known, unordered) = try table.accountAndSessions(id, enough: enough) else { return nil }
            let sessions = unordered.youngestFirst
            let decision = decide(known.account, sessions.map(\.session))
            if sessions.count <= enough { return (known, sessions, decision) }
            switch decision {
            case .delete: return (known, sessions, decision)
            case .update(_, let ending, _, _) where ending.count > mostEndings: return (known, sessions, decision)
            case .keep, .update: enough = .max
            }
        }
    }

    private static func keys(_ key: AccountKey, _ mark: Mark?) -> [Key] {
        var keys = mark.map { [Key.mark($0.name)] } ?? []
        if case .appleSubject(let subject) = key { keys.append(.owner(ofSubject: subject)) }
        return keys
    }

    private static func id(_ key: AccountKey, in items: [Key: Item]) -> UUIDv7? {
        switch key {
        case .id(let id): id
        case .appleSubject(let subject):
            items[.owner(ofSubject: subject)]?.string("account").flatMap { UUIDv7($0) }
        }
    }

    package func endSessions(
        of accountID: UUIDv7, except kept: UUIDv7?, audit: (Session) -> AuditEntry
    ) throws(StoreError) -> Int {
        var count = 0
        while true {
            let some = try perform { table throws(DynamoDBFailure) in
                // One more may be kept.
                guard
                    let (known, sessions) = try table.accountAndSessions(accountID, enough: Self.mostEndings + 1)
                else { return 0 }
                let ended = sessions.youngestFirst.filter { $0.session.id != kept }.prefix(Self.mostEndings)
                guard !ended.isEmpty else { return 0 }
                let change = AccountChanging(table: table, known: known, sessions: sessions, mark: nil)
                try change.update(
                    known.account, ending: ended.map(\.session), ended.map { audit($0.session) }, voidsReceipts: false)
                return ended.count
            }
            guard some > 0 else { return count }
            count += some
        }
    }

    package func audit(of accountID: UUIDv7) throws(StoreError) -> [AuditEntry] {
        try perform { table throws(DynamoDBFailure) in
            let items = try table.items(in: Key.account(accountID).partition, from: "audit#", to: "erasure")
            // Of who was deleted no address is given out, swept or not.
            let isErased = items.last.flatMap { Key($0) } == .erasure(of: accountID)
            var entries: [AuditEntry] = []
            for item in isErased ? items.dropLast() : items[...] {
                let audit = try StoredAudit(item, of: accountID)
                entries += isErased ? audit.entries.map(\.withoutAddress) : audit.entries
            }
            return entries
        }
    }
}
