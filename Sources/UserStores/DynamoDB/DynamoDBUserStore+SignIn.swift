package import Accounts
package import JOSE

extension DynamoDBUserStore {
    package func signIn(
        _ lookup: AppleLookup, since departure: Mark?, repeating repetition: [UInt8]?, once marks: [Mark],
        at now: UnixTime, _ open: (_ known: Account?) -> Opening?
    ) throws(StoreError) -> SignInOutcome {
        try perform { table throws(DynamoDBFailure) in
            let seen = try SignInView(lookup, repeating: repetition, once: marks, in: table)
            if let receipt = try seen.receipt(at: now) { return .repeated(receipt) }
            if marks.contains(where: { seen.marks.isSpent($0, at: now) }) { return .spent }
            let known = try seen.known()
            guard let opening = open(known?.account) else { return .nothing }
            var stored = known ?? StoredAccount(opening.account)
            stored.account = opening.account
            var writes: [Write] = []
            if let session = opening.session {
                guard session.accountID == opening.account.id else {
                    throw .unusable("the session is another account's")
                }
                writes += StoredSession(session, receipt: opening.receipt?.name).insertion()
            }
            writes += StoredAudit.writes(opening.audit, to: &stored)
            writes += try DynamoDBTable.ownership(of: opening.account, before: known?.account)
            if let known {
                writes += try table.removalOfGrants(of: opening.account, reboundFrom: known.account)
            } else {
                writes += seen.checkThatNobodyMoves(to: opening.account)
            }
            if let receipt = opening.receipt { writes.append(seen.keep(receipt, of: stored)) }
            writes += marks.map(seen.marks.remember)
            writes.append(try stored.write())
            // Not looked for, but demanded: nobody leaves in between.
            if let departure {
                writes.append(MarkView.checkThatNoneOutlasts(departure, until: Departure.latestEnd(at: now)))
            }
            do throws(DynamoDBFailure) {
                try table.write(together: writes)
            } catch .conflict(let failed, _) where opening.session != nil && failed.contains(where: { $0 < 2 }) {
                // The session's two items come first. That an id is taken no reading again can mend.
                throw .unusable("the session's id is taken")
            } catch .conflict(let failed, _) where departure != nil && failed == [writes.count - 1] {
                return .departed
            }
            return .done
        }
    }

    package func account(_ id: UUIDv7) throws(StoreError) -> Account? {
        try perform { table throws(DynamoDBFailure) in try table.account(id)?.account }
    }
}

/// What a sign-in reads before it decides, in two requests: whom the names belong to, and who they are.
private struct SignInView {
    let marks: MarkView
    private let lookup: AppleLookup
    private let repetition: [UInt8]?
    private let items: [Key: Item]
    private let accounts: [Key: Item]

    init(
        _ lookup: AppleLookup, repeating repetition: [UInt8]?, once marks: [Mark], in table: DynamoDBTable
    ) throws(DynamoDBFailure) {
        self.lookup = lookup
        self.repetition = repetition
        var keys = [Key.owner(ofSubject: lookup.subject)] + marks.map { .mark($0.name) }
        if let transfer = lookup.transferSubject { keys.append(.owner(ofTransfer: transfer)) }
        if let repetition { keys.append(.receipt(repetition)) }
        items = try table.items(keys)
        self.marks = MarkView(items: items)
        let ids = Set(items.values.compactMap { $0.string("account") }.compactMap { UUIDv7($0) })
        accounts = try table.items(ids.map { .account($0) })
    }

    /// A receipt counts as long as its account is there and nothing has made its receipts void.
    func receipt(at now: UnixTime) throws(DynamoDBFailure) -> Receipt? {
        guard let repetition, let item = items[.receipt(repetition)] else { return nil }
        guard let sealed = item.bytes("sealed"), let expiresAt = item.time("expires_at"),
            let id = item.string("account").flatMap({ UUIDv7($0) })
        else { throw .damaged }
        guard expiresAt > now, let account = accounts[.account(id)],
            item.number("epoch") == account.number("receipts_epoch")
        else { return nil }
        return Receipt(name: repetition, sealed: sealed, expiresAt: expiresAt)
    }

    func known() throws(DynamoDBFailure) -> StoredAccount? {
        if let owner = items[.owner(ofSubject: lookup.subject)] { return try account(of: owner) }
        guard let transfer = lookup.transferSubject, let owner = items[.owner(ofTransfer: transfer)] else { return nil }
        return try account(of: owner)
    }

    private func account(of owner: Item) throws(DynamoDBFailure) -> StoredAccount {
        guard let id = owner.string("account").flatMap({ UUIDv7($0) }) else { throw .damaged }
        // It was deleted between the two requests, and its name with it.
        guard let item = accounts[.account(id)] else { throw .conflict() }
        return try StoredAccount(item)
    }

    /// Nobody was found under the name of a move, and nobody may be when the new account is written.
    func checkThatNobodyMoves(to account: Account) -> [Write] {
        guard let transfer = lookup.transferSubject else { return [] }
        let key = Key.owner(ofTransfer: transfer)
        // Where the new account has that name, its own write sees to it.
        guard account.transferSubject.map({ Key.owner(ofTransfer: $0) }) != key else { return [] }
        return [.check(key, .absent)]
    }

    func keep(_ receipt: Receipt, of account: StoredAccount) -> Write {
        let item = Item([
            "kind": .string("receipt"), "account": .string(account.account.id.description),
            "epoch": .number(account.receiptsEpoch), "sealed": .bytes(receipt.sealed),
            "expires_at": .time(receipt.expiresAt), "ttl": .expiry(receipt.expiresAt),
            "version": DynamoDBTable.newVersion(),
        ])
        let isTheOneRead = receipt.name == repetition
        return .put(
            item, at: .receipt(receipt.name), if: isTheOneRead ? .unchanged(items[.receipt(receipt.name)]) : nil)
    }
}

/// The marks that were there when a change was decided.
struct MarkView {
    let items: [Key: Item]

    func isSpent(_ mark: Mark, at now: UnixTime) -> Bool {
        items[.mark(mark.name)]?.time("expires_at").map { $0 > now } ?? false
    }

    /// For the longer time, where it is remembered already.
    func remember(_ mark: Mark) -> Write {
        let known = items[.mark(mark.name)]
        let end = max(mark.expiresAt, known?.time("expires_at") ?? mark.expiresAt)
        return .put(
            Self.item(Mark(name: mark.name, expiresAt: end)), at: .mark(mark.name), if: .unchanged(known))
    }

    /// None that ends later, and not beyond `latest`.
    static func checkThatNoneOutlasts(_ mark: Mark, until latest: UnixTime) -> Write {
        .check(
            .mark(mark.name),
            Condition(
                "attribute_not_exists(#pk) OR #expires_at <= :end OR #expires_at > :latest",
                [":end": .number(mark.expiresAt.milliseconds), ":latest": .number(latest.milliseconds)]))
    }

    static func item(_ mark: Mark) -> Item {
        Item([
            "kind": .string("mark"), "expires_at": .time(mark.expiresAt), "ttl": .expiry(mark.expiresAt),
            "version": DynamoDBTable.newVersion(),
        ])
    }
}
