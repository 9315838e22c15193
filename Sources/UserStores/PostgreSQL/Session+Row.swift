#if PostgreSQL
internal import Accounts
internal import JOSE

/// The table of sessions.
extension SQLStatement {
    private static let sessionColumns = """
        id, account_id, client_id, device_text, user_agent, salt, refresh_digest, refresh_expires_at, previous_digest,
        previous_rotated_at, previous_key_id, created_at, last_used_at, ends_at
        """

    static func session(_ id: UUIDv7, isHeld: Bool) -> SQLStatement {
        SQLStatement(
            "SELECT \(sessionColumns) FROM sessions WHERE id = $1\(isHeld ? " FOR UPDATE" : "")", [.uuid(id)])
    }

    /// The account of a session in our own table, so that both are read at once.
    static func account(ofSession id: UUIDv7) -> SQLStatement {
        SQLStatement(
            """
            SELECT \(AccountQueries.columns) FROM accounts WHERE id = (SELECT account_id FROM sessions WHERE id = $1)
            """, [.uuid(id)])
    }

    /// The sessions of an account that end after `time`, or all of them; the youngest first.
    static func sessions(of account: UUIDv7, after time: UnixTime? = nil) -> SQLStatement {
        SQLStatement(
            """
            SELECT \(sessionColumns) FROM sessions
            WHERE account_id = $1 AND ($2 IS NULL OR least(ends_at, refresh_expires_at) > $2)
            ORDER BY created_at DESC, id DESC
            """, [.uuid(account), .time(time)])
    }

    static func insert(_ sessions: [Session]) -> [SQLStatement] {
        many(sessions) { some in
            let rows = some.indices.map { "(\(places(15, from: 1 + 15 * $0)))" }
            return SQLStatement(
                "INSERT INTO sessions (\(sessionColumns), device_info) VALUES \(rows.joined(separator: ", "))",
                some.flatMap(parameters))
        }
    }

    private static func parameters(of session: Session) -> [SQLParameter] {
        let refresh = session.refresh
        let device = session.deviceInfo.json
        return [
            .uuid(session.id), .uuid(session.accountID), .text(session.clientID), .text(device.text),
            .text(session.userAgent), .bytes(refresh.salt), .bytes(refresh.digest), .time(refresh.expiresAt),
            .bytes(refresh.previous?.digest), .time(refresh.previous?.rotatedAt), .text(refresh.previous?.keyID),
            .time(session.createdAt), .time(session.lastUsedAt), .time(session.endsAt),
            .json(device.fitsJSONB ? device.text : nil),
        ]
    }

    /// Writes what can change of a session, none of which is in an index.
    static func update(_ session: Session) -> SQLStatement {
        let refresh = session.refresh
        return SQLStatement(
            """
            UPDATE sessions SET refresh_digest = $2, refresh_expires_at = $3, previous_digest = $4,
            previous_rotated_at = $5, previous_key_id = $6, last_used_at = $7 WHERE id = $1
            """,
            [
                .uuid(session.id), .bytes(refresh.digest), .time(refresh.expiresAt), .bytes(refresh.previous?.digest),
                .time(refresh.previous?.rotatedAt), .text(refresh.previous?.keyID), .time(session.lastUsedAt),
            ])
    }

    static func remove(_ sessions: [Session]) -> [SQLStatement] {
        many(sessions) { some in
            SQLStatement("DELETE FROM sessions WHERE id IN (\(places(some.count)))", some.map { .uuid($0.id) })
        }
    }

    /// A row for each of these that is there.
    static func anyOf(_ sessions: [Session]) -> [SQLStatement] {
        many(sessions) { some in
            SQLStatement("SELECT 1 FROM sessions WHERE id IN (\(places(some.count)))", some.map { .uuid($0.id) })
        }
    }
}

extension SQLRow {
    func session() throws(PostgreSQLFailure) -> Session {
        // What was 4 KiB when it came may be longer as we write it: \b becomes \u0008.
        guard let id = try id("id"), let accountID = try self.id("account_id"), let clientID = try text("client_id"),
            let device = try text("device_text"),
            let deviceInfo = try? JSON(parsing: Array(device.utf8), limits: JSON.Limits(bytes: 65536)),
            let salt = try bytes("salt"), let digest = try bytes("refresh_digest"),
            let refreshExpiresAt = try time("refresh_expires_at"), let createdAt = try time("created_at"),
            let lastUsedAt = try time("last_used_at"), let endsAt = try time("ends_at")
        else { throw .unusable("a row of sessions is damaged: restore it from a backup") }
        var refresh = RefreshState(salt: salt, digest: digest, expiresAt: refreshExpiresAt)
        if let digest = try bytes("previous_digest"), let rotatedAt = try time("previous_rotated_at"),
            let keyID = try text("previous_key_id")
        {
            refresh.previous = RefreshState.Previous(digest: digest, rotatedAt: rotatedAt, keyID: keyID)
        }
        return Session(
            id: id, accountID: accountID, clientID: clientID, deviceInfo: DeviceInfo(stored: deviceInfo),
            userAgent: try text("user_agent"), createdAt: createdAt, endsAt: endsAt, refresh: refresh,
            lastUsedAt: lastUsedAt)
    }
}

extension JSON {
    /// Whether PostgreSQL's JSONB takes it: it has no U+0000, and its numbers end somewhere.
    fileprivate var fitsJSONB: Bool {
        switch self {
        case .null, .bool, .integer: true
        case .decimal(let text): !text.utf8.contains { $0 | 0x20 == UInt8(ascii: "e") }
        case .string(let string): !string.utf8.contains(0)
        case .array(let elements): elements.allSatisfy(\.fitsJSONB)
        case .object(let object): object.members.allSatisfy { !$0.name.utf8.contains(0) && $0.value.fitsJSONB }
        }
    }
}
#endif
