internal import Accounts
internal import JOSE

/// What one change had to say, as one item: entries are written together, read together, and expire together.
///
/// It lies under the number of its first entry; the next item's begins where this one ends, so what was taken out of the middle
/// shows.
struct StoredAudit {
    let entries: [AuditEntry]
    let item: Item

    /// The longest that DynamoDB itself lets it lie: as long as a purge leaves it.
    private static let days: Int64 = 400
    /// Far below the 400 KB that an item may have.
    private static let entriesInOneItem = 200

    /// The entries added to the audit of an account, and counted there.
    static func writes(_ entries: [AuditEntry], to stored: inout StoredAccount) -> [Write] {
        defer { stored.auditCount += Int64(entries.count) }
        return writes(entries, of: stored.account.id, after: stored.auditCount, if: .absent)
    }

    /// The entries as those after the first `count` of the account's.
    static func writes(
        _ entries: [AuditEntry], of account: UUIDv7, after count: Int64 = 0, if condition: Condition?
    ) -> [Write] {
        stride(from: 0, to: entries.count, by: entriesInOneItem).map { start in
            let some = Array(entries[start..<min(start + entriesInOneItem, entries.count)])
            return .put(item(some), at: .audit(count + Int64(start) + 1, of: account), if: condition)
        }
    }

    private static func item(_ entries: [AuditEntry]) -> Item {
        let newest = entries.map(\.time).max() ?? UnixTime(milliseconds: 0)
        return Item([
            "kind": .string("audit"), "newest_at": .time(newest), "count": .number(Int64(entries.count)),
            "ttl": .expiry(newest.adding(seconds: days * 86_400)),
            "entries": .list(
                entries.map { entry in
                    .map(
                        Item([
                            "time": .time(entry.time), "event": .string(entry.event.rawValue),
                            "session": .string(entry.sessionID?.description), "reason": .string(entry.reason),
                            "request": .string(entry.origin.requestID),
                            "address": .string(entry.origin.sourceAddress),
                        ]))
                }),
        ])
    }

    init(_ item: Item, of account: UUIDv7) throws(DynamoDBFailure) {
        self.item = item
        var entries: [AuditEntry] = []
        for case .map(let entry) in item.list("entries") ?? [] {
            guard let time = entry.time("time"), let event = entry.string("event").flatMap(AuditEntry.Event.init),
                let requestID = entry.string("request")
            else { throw .damaged }
            entries.append(
                AuditEntry(
                    time: time, event: event, accountID: account,
                    sessionID: entry.string("session").flatMap { UUIDv7($0) }, reason: entry.string("reason"),
                    origin: AuditEntry.Origin(requestID: requestID, sourceAddress: entry.string("address"))))
        }
        guard !entries.isEmpty else { throw .damaged }
        self.entries = entries
    }

    /// Without the addresses; nil when it has none.
    var withoutAddresses: Item? {
        guard entries.contains(where: { $0.origin.sourceAddress != nil }) else { return nil }
        return Self.item(entries.map(\.withoutAddress))
    }
}

extension AuditEntry {
    var withoutAddress: AuditEntry {
        var entry = self
        entry.origin.sourceAddress = nil
        return entry
    }
}
