internal import Accounts
internal import JOSE

/// A grant of Apple's as it lies in the table, and as an entry of the outbox.
extension AppleGrant {
    var item: Item {
        Item([
            "kind": .string("grant"), "account": .string(accountID.description), "client": .string(clientID),
            "key": .string(keyID), "sealed": .bytes(sealed), "obtained_at": .time(obtainedAt),
        ])
    }

    init(_ item: Item) throws(DynamoDBFailure) {
        guard let accountID = item.string("account").flatMap({ UUIDv7($0) }), let clientID = item.string("client"),
            let keyID = item.string("key"), let sealed = item.bytes("sealed"), let obtainedAt = item.time("obtained_at")
        else { throw .damaged }
        self.init(accountID: accountID, clientID: clientID, keyID: keyID, sealed: sealed, obtainedAt: obtainedAt)
    }
}

extension Revocation {
    /// The index by which those that are due are found, in order. It is the table's own (a local one), and so strongly
    /// consistent.
    static let index = "due"

    var item: Item {
        grant.item.adding(
            Item(["kind": .string("revocation"), "attempts": .number(Int64(attempts)), "due": .time(dueAt)]))
    }

    init(_ item: Item) throws(DynamoDBFailure) {
        guard let attempts = item.number("attempts"), let dueAt = item.time("due") else { throw .damaged }
        self.init(grant: try AppleGrant(item), attempts: Int(attempts), dueAt: dueAt)
    }
}
