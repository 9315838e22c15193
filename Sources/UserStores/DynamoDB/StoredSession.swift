internal import Accounts
internal import JOSE

/// A session as it lies in the table.
struct StoredSession {
    var session: Session
    let item: Item?
    /// The receipt that was written with it, so that it can go with the account.
    let receipt: [UInt8]?

    init(_ session: Session, receipt: [UInt8]?) {
        self.session = session
        item = nil
        self.receipt = receipt
    }

    init(_ item: Item) throws(DynamoDBFailure) {
        // What was 4 KiB when it came may be longer as we write it: \b becomes \u0008.
        guard let id = item.string("id").flatMap({ UUIDv7($0) }),
            let accountID = item.string("account").flatMap({ UUIDv7($0) }), let clientID = item.string("client"),
            let device = item.string("device_info"),
            let deviceInfo = try? JSON(parsing: Array(device.utf8), limits: JSON.Limits(bytes: 65_536)),
            let salt = item.bytes("salt"), let digest = item.bytes("digest"),
            let refreshExpiresAt = item.time("refresh_expires_at"), let createdAt = item.time("created_at"),
            let lastUsedAt = item.time("last_used_at"), let endsAt = item.time("ends_at")
        else { throw .damaged }
        var refresh = RefreshState(salt: salt, digest: digest, expiresAt: refreshExpiresAt)
        if let digest = item.bytes("previous_digest"), let rotatedAt = item.time("previous_rotated_at"),
            let keyID = item.string("previous_key")
        {
            refresh.previous = RefreshState.Previous(digest: digest, rotatedAt: rotatedAt, keyID: keyID)
        }
        session = Session(
            id: id, accountID: accountID, clientID: clientID, deviceInfo: DeviceInfo(stored: deviceInfo),
            userAgent: item.string("user_agent"), createdAt: createdAt, endsAt: endsAt, refresh: refresh,
            lastUsedAt: lastUsedAt)
        self.item = item
        receipt = item.bytes("receipt")
    }

    var key: Key { .session(session.id, of: session.accountID) }

    /// Its own item and the one that names its account.
    var keys: [Key] { [key, .owner(ofSession: session.id)] }

    /// Both items inserted. The second is what makes the id unique.
    func insertion(if condition: Condition = .absent) -> [Write] {
        let constant = Item([
            "kind": .string("session"), "id": .string(session.id.description),
            "account": .string(session.accountID.description), "client": .string(session.clientID),
            "device_info": .string(session.deviceInfo.json.text), "user_agent": .string(session.userAgent),
            "salt": .bytes(session.refresh.salt), "created_at": .time(session.createdAt),
            "ends_at": .time(session.endsAt), "receipt": .bytes(receipt),
        ])
        let owner = Item([
            "kind": .string("session_owner"), "account": .string(session.accountID.description),
            "ttl": .expiry(session.endsAt),
        ])
        return [
            .put(constant.adding(changing(DynamoDBTable.newVersion())), at: key, if: condition),
            .put(owner, at: .owner(ofSession: session.id), if: condition),
        ]
    }

    /// What can change, written over what was read.
    func update(version: AttributeValue) -> Write {
        .update(
            key, set: changing(version), remove: ["previous_digest", "previous_rotated_at", "previous_key"],
            if: .unchanged(item))
    }

    private func changing(_ version: AttributeValue) -> Item {
        let refresh = session.refresh
        return Item([
            "digest": .bytes(refresh.digest), "refresh_expires_at": .time(refresh.expiresAt),
            "previous_digest": .bytes(refresh.previous?.digest),
            "previous_rotated_at": .time(refresh.previous?.rotatedAt), "previous_key": .string(refresh.previous?.keyID),
            "last_used_at": .time(session.lastUsedAt), "expires_at": .time(session.expiresAt),
            "ttl": .expiry(session.expiresAt), "version": version,
        ])
    }
}

extension [StoredSession] {
    /// The youngest first, and of one moment the one with the larger id.
    var youngestFirst: [StoredSession] {
        sorted { left, right in
            let (left, right) = (left.session, right.session)
            return left.createdAt == right.createdAt
                ? right.id.bytes.lexicographicallyPrecedes(left.id.bytes) : left.createdAt > right.createdAt
        }
    }
}
