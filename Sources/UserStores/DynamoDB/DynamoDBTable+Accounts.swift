internal import Accounts
internal import JOSE

extension DynamoDBTable {
    func account(_ id: UUIDv7) throws(DynamoDBFailure) -> StoredAccount? {
        guard let item = try item(.account(id)) else { return nil }
        return try StoredAccount(item)
    }

    /// An account and its sessions, also those that have expired, in no order.
    ///
    /// - Parameter enough: when so many are found, no more pages are read for others.
    func accountAndSessions(
        _ id: UUIDv7, enough: Int = .max
    ) throws(DynamoDBFailure) -> (account: StoredAccount, sessions: [StoredSession])? {
        let key = Key.account(id)
        // "$" comes after "#".
        let items = try items(in: key.partition, from: key.sort, to: "session$") { items in
            // Those that are over and not swept yet count for nothing.
            items.count > enough + (items.first?.bytes("ended")?.count ?? 0) / 16
        }
        // Without its account, what is left of a deleted one has still to be swept.
        guard let first = items.first, Key(first) == key else { return nil }
        let account = try StoredAccount(first)
        var sessions: [StoredSession] = []
        for item in items.dropFirst() { sessions.append(try StoredSession(item)) }
        return (account, sessions.filter { !account.isOver($0.session.id) })
    }

    /// What makes `sub` and the name of a move one account's alone.
    static func ownership(of account: Account, before: Account? = nil) throws(DynamoDBFailure) -> [Write] {
        var writes: [Write] = []
        let owner = Item(["kind": .string("owner"), "account": .string(account.id.description)])
        func move(_ old: Key?, _ new: Key?) {
            guard old != new else { return }
            if let old { writes.append(.delete(old)) }
            if let new { writes.append(.put(owner, at: new, if: .absent)) }
        }
        move(
            before?.appleSubject.map { Key.owner(ofSubject: $0) },
            account.appleSubject.map { Key.owner(ofSubject: $0) })
        move(
            before?.transferSubject.map { Key.owner(ofTransfer: $0) },
            account.transferSubject.map { Key.owner(ofTransfer: $0) })
        return writes
    }

    /// Grants of another `sub` were another team's.
    ///
    /// - Parameter end: those that Apple gave until then go in any case.
    func removalOfGrants(
        of account: Account, reboundFrom known: Account, until end: UnixTime? = nil
    ) throws(DynamoDBFailure) -> [Write] {
        let isRebound = account.isRebound(from: known)
        guard isRebound || end != nil else { return [] }
        return try grants(of: account.id).filter { grant in isRebound || end.map { grant.obtainedAt <= $0 } ?? false }
            .map { .delete(.grant($0.clientID, of: account.id)) }
    }

    func grants(of account: UUIDv7) throws(DynamoDBFailure) -> [AppleGrant] {
        let key = Key.account(account)
        var grants: [AppleGrant] = []
        for item in try items(in: key.partition, from: "grant#", to: "grant$") { grants.append(try AppleGrant(item)) }
        return grants
    }

    /// Removes sessions that have ended, and then that they had. Whoever comes later does it if this fails; nobody can use them.
    func sweep(_ sessions: [UUIDv7], of account: UUIDv7) throws(DynamoDBFailure) {
        try delete(sessions.flatMap { [Key.session($0, of: account), .owner(ofSession: $0)] })
        try write(
            .update(
                .account(account), set: Item(["version": Self.newVersion()]), remove: ["ended"],
                if: .unchanged("ended", .bytes(sessions.flatMap(\.bytes)))))
    }

    /// Removes what is left of an account that is gone: sessions, their receipts, the addresses in the audit.
    func sweep(erased account: UUIDv7) throws(DynamoDBFailure) {
        let partition = Key.account(account).partition
        var keys: [Key] = []
        for item in try items(in: partition, from: "audit#", to: "session$") {
            guard let key = Key(item) else { throw .damaged }
            switch item.string("kind") {
            case "audit":
                guard let cleared = try StoredAudit(item, of: account).withoutAddresses else { continue }
                do throws(DynamoDBFailure) {
                    try write(.put(cleared, at: key, if: .present))
                } catch .conflict {
                    // It has expired meanwhile.
                }
            case "session":
                keys.append(key)
                if let id = item.string("id").flatMap({ UUIDv7($0) }) { keys.append(.owner(ofSession: id)) }
                if let receipt = item.bytes("receipt") { keys.append(.receipt(receipt)) }
            default: break
            }
        }
        try delete(keys)
        // Last, as long as anything is left it says so.
        try delete([.erasure(of: account)])
    }
}
