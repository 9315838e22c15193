internal import Accounts
internal import AppleID
internal import JOSE

/// An account as it lies in the table, with what the store itself remembers of it.
struct StoredAccount {
    var account: Account
    /// The item as it was read.
    let item: Item?
    /// How many entries the audit has had.
    var auditCount: Int64
    /// Receipts of an earlier count are void.
    var receiptsEpoch: Int64
    /// Sessions that have ended and have still to be swept: more than one transaction could remove.
    var ended: [UUIDv7]

    /// A new one.
    init(_ account: Account) {
        self.account = account
        item = nil
        auditCount = 0
        receiptsEpoch = 0
        ended = []
    }

    init(_ item: Item) throws(DynamoDBFailure) {
        guard let id = item.string("id").flatMap({ UUIDv7($0) }), let subject = item.string("subject"),
            let createdAt = item.time("created_at"), let updatedAt = item.time("updated_at"),
            let auditCount = item.number("audit_count"), let receiptsEpoch = item.number("receipts_epoch"),
            item.bytes("version") != nil
        else { throw .damaged }
        var profile = Profile(fullName: item.string("full_name"), contactEmail: item.string("contact_email"))
        if let address = item.string("email") {
            profile.email = AppleEmail(
                address: address, isVerified: item.bool("email_verified"),
                isPrivate: item.bool("is_private_email") ?? false)
        }
        var forwarding: EmailForwarding?
        if let isOn = item.bool("email_forwarding"), let since = item.time("email_forwarding_since") {
            forwarding = EmailForwarding(isOn: isOn, since: since)
        }
        account = Account(
            id: id, appleSubject: subject, transferSubject: item.string("transfer_subject"), profile: profile,
            createdAt: createdAt, updatedAt: updatedAt, disabledAt: item.time("disabled_at"),
            consentRevokedAt: item.time("consent_revoked_at"), forwarding: forwarding)
        self.item = item
        self.auditCount = auditCount
        self.receiptsEpoch = receiptsEpoch
        ended = try Self.ids(item.bytes("ended") ?? [])
    }

    var key: Key { .account(account.id) }

    func isOver(_ session: UUIDv7) -> Bool { ended.contains(session) }

    /// The item inserted, or written over what was read: if somebody else wrote meanwhile, neither.
    func write() throws(DynamoDBFailure) -> Write {
        guard let subject = account.appleSubject else {
            throw .unusable("an account without a sub cannot be kept here")
        }
        let email = account.profile.email
        let changing = Item([
            "subject": .string(subject), "transfer_subject": .string(account.transferSubject),
            "full_name": .string(account.profile.fullName), "email": .string(email?.address),
            "email_verified": .bool(email?.isVerified), "is_private_email": .bool(email?.isPrivate),
            "contact_email": .string(account.profile.contactEmail), "updated_at": .time(account.updatedAt),
            "disabled_at": .time(account.disabledAt), "consent_revoked_at": .time(account.consentRevokedAt),
            "email_forwarding": .bool(account.forwarding?.isOn),
            "email_forwarding_since": .time(account.forwarding?.since), "audit_count": .number(auditCount),
            "receipts_epoch": .number(receiptsEpoch), "ended": ended.isEmpty ? nil : .bytes(ended.flatMap(\.bytes)),
            "version": DynamoDBTable.newVersion(),
        ])
        guard let item else {
            let constant = Item([
                "kind": .string("account"), "id": .string(account.id.description),
                "created_at": .time(account.createdAt), "directory": .string(Directory.shard(of: account.id)),
            ])
            return .put(constant.adding(changing), at: key, if: .absent)
        }
        return .update(key, set: changing, remove: Self.optional, if: .unchanged(item))
    }

    private static let optional = [
        "transfer_subject", "full_name", "email", "email_verified", "is_private_email", "contact_email", "disabled_at",
        "consent_revoked_at", "email_forwarding", "email_forwarding_since", "ended",
    ]

    private static func ids(_ bytes: [UInt8]) throws(DynamoDBFailure) -> [UUIDv7] {
        let ids = stride(from: 0, to: bytes.count, by: 16).compactMap { start in
            UUIDv7(bytes: Array(bytes[start..<min(start + 16, bytes.count)]))
        }
        guard ids.count * 16 == bytes.count else { throw .damaged }
        return ids
    }
}

/// The index by which accounts are listed: those of one shard in the order of their ids. A shard takes a thousand new accounts a
/// second, and one alone would be the limit of all.
enum Directory {
    static let index = "directory"
    private static let count: UInt8 = 16

    static var shards: [String] { (0..<count).map { "accounts#\($0)" } }

    /// By the last byte, which is random.
    static func shard(of id: UUIDv7) -> String { "accounts#\((id.bytes.last ?? 0) % count)" }
}
