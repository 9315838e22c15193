internal import Accounts
internal import AppleID
package import JOSE

/// An entry as a line of JSON. There is one spelling of each entry: all members, in this order, null where there is nothing. Times
/// are milliseconds since 1970 in UTC, bytes base64url.
extension StoreEntry {
    package var json: JSON {
        switch self {
        case .account(let account, let sessions, let grants, let audit):
            .object([
                "account": account.movingJSON, "sessions": .array(sessions.map(\.movingJSON)),
                "grants": .array(grants.map { .object($0.movingMembers) }),
                "audit": .array(audit.map(\.movingJSON)),
            ])
        case .formerAudit(let id, let audit):
            .object(["former_account": .string(id.description), "audit": .array(audit.map(\.movingJSON))])
        case .revocation(let revocation): .object(["revocation": revocation.movingJSON])
        case .mark(let mark):
            .object(["mark": .object(["name": .bytes(mark.name), "expires_at": .time(mark.expiresAt)])])
        }
    }

    /// Nil for a line that is not exactly what `json` writes.
    package init?(line: ArraySlice<UInt8>) {
        guard let json = try? JSON(parsing: line, limits: JSON.Limits(bytes: line.count)),
            let entry = StoreEntry(json), entry.json.serialized()[...] == line
        else { return nil }
        self = entry
    }

    /// What is of another type than it should comes out as nothing, and then the line is another.
    private init?(_ json: JSON) {
        if let account = json["account"].flatMap({ Account(moving: $0) }) {
            guard let sessions = json.every("sessions", { Session(moving: $0, of: account.id) }),
                let grants = json.every("grants", { AppleGrant(moving: $0, of: account.id) }),
                let audit = json.every("audit", { AuditEntry(moving: $0, of: account.id) })
            else { return nil }
            self = .account(account, sessions: sessions, grants: grants, audit: audit)
        } else if let id = json.id("former_account"),
            let audit = json.every("audit", { AuditEntry(moving: $0, of: id) })
        {
            self = .formerAudit(of: id, audit)
        } else if let revocation = json["revocation"].flatMap({ Revocation(moving: $0) }) {
            self = .revocation(revocation)
        } else if let mark = json["mark"], let name = mark.bytes("name"), name.count == 32,
            let expiresAt = mark.time("expires_at")
        {
            self = .mark(Mark(name: name, expiresAt: expiresAt))
        } else {
            return nil
        }
    }
}

extension Account {
    fileprivate var movingJSON: JSON {
        .object([
            "id": .string(id.description), "apple_sub": .string(orNull: appleSubject),
            "transfer_sub": .string(orNull: transferSubject), "full_name": .string(orNull: profile.fullName),
            "email": .string(orNull: profile.email?.address),
            "email_verified": .bool(orNull: profile.email?.isVerified),
            "is_private_email": .bool(orNull: profile.email?.isPrivate),
            "contact_email": .string(orNull: profile.contactEmail), "created_at": .time(createdAt),
            "updated_at": .time(updatedAt), "disabled_at": .time(disabledAt),
            "consent_revoked_at": .time(consentRevokedAt), "email_forwarding": .bool(orNull: forwarding?.isOn),
            "email_forwarding_since": .time(forwarding?.since),
        ])
    }

    /// With a `sub`: only the owner's users table has accounts without one, and that does not move by itself.
    fileprivate init?(moving json: JSON) {
        guard let id = json.id("id"), let subject = json["apple_sub"]?.string, let createdAt = json.time("created_at"),
            let updatedAt = json.time("updated_at")
        else { return nil }
        var profile = Profile(fullName: json["full_name"]?.string, contactEmail: json["contact_email"]?.string)
        if let address = json["email"]?.string {
            profile.email = AppleEmail(
                address: address, isVerified: json["email_verified"]?.bool,
                isPrivate: json["is_private_email"]?.bool ?? false)
        }
        var forwarding: EmailForwarding?
        if let isOn = json["email_forwarding"]?.bool, let since = json.time("email_forwarding_since") {
            forwarding = EmailForwarding(isOn: isOn, since: since)
        }
        self.init(
            id: id, appleSubject: subject, transferSubject: json["transfer_sub"]?.string, profile: profile,
            createdAt: createdAt, updatedAt: updatedAt, disabledAt: json.time("disabled_at"),
            consentRevokedAt: json.time("consent_revoked_at"), forwarding: forwarding)
    }
}

extension Session {
    fileprivate var movingJSON: JSON {
        .object([
            "id": .string(id.description), "client_id": .string(clientID), "device_info": deviceInfo.json,
            "user_agent": .string(orNull: userAgent), "created_at": .time(createdAt), "ends_at": .time(endsAt),
            "last_used_at": .time(lastUsedAt), "salt": .bytes(refresh.salt), "refresh_digest": .bytes(refresh.digest),
            "refresh_expires_at": .time(refresh.expiresAt), "previous_digest": .bytes(refresh.previous?.digest),
            "previous_rotated_at": .time(refresh.previous?.rotatedAt),
            "previous_key_id": .string(orNull: refresh.previous?.keyID),
        ])
    }

    fileprivate init?(moving json: JSON, of account: UUIDv7) {
        guard let id = json.id("id"), let clientID = json["client_id"]?.string, let device = json["device_info"],
            let createdAt = json.time("created_at"), let endsAt = json.time("ends_at"),
            let lastUsedAt = json.time("last_used_at"), let salt = json.bytes("salt"),
            let digest = json.bytes("refresh_digest"), let expiresAt = json.time("refresh_expires_at")
        else { return nil }
        var refresh = RefreshState(salt: salt, digest: digest, expiresAt: expiresAt)
        if let digest = json.bytes("previous_digest"), let rotatedAt = json.time("previous_rotated_at"),
            let keyID = json["previous_key_id"]?.string
        {
            refresh.previous = RefreshState.Previous(digest: digest, rotatedAt: rotatedAt, keyID: keyID)
        }
        self.init(
            id: id, accountID: account, clientID: clientID, deviceInfo: DeviceInfo(stored: device),
            userAgent: json["user_agent"]?.string, createdAt: createdAt, endsAt: endsAt, refresh: refresh,
            lastUsedAt: lastUsedAt)
    }
}

extension AppleGrant {
    fileprivate var movingMembers: JSON.Object {
        [
            "client_id": .string(clientID), "key_id": .string(keyID), "sealed": .bytes(sealed),
            "obtained_at": .time(obtainedAt),
        ]
    }

    fileprivate init?(moving json: JSON, of account: UUIDv7) {
        guard let clientID = json["client_id"]?.string, let keyID = json["key_id"]?.string,
            let sealed = json.bytes("sealed"), let obtainedAt = json.time("obtained_at")
        else { return nil }
        self.init(accountID: account, clientID: clientID, keyID: keyID, sealed: sealed, obtainedAt: obtainedAt)
    }
}

extension Revocation {
    fileprivate var movingJSON: JSON {
        var members = grant.movingMembers
        members["account"] = .string(grant.accountID.description)
        members["attempts"] = .integer(Int64(attempts))
        members["due_at"] = .time(dueAt)
        return .object(members)
    }

    fileprivate init?(moving json: JSON) {
        guard let account = json.id("account"), let grant = AppleGrant(moving: json, of: account),
            let attempts = json["attempts"]?.integer, let dueAt = json.time("due_at")
        else { return nil }
        self.init(grant: grant, attempts: Int(attempts), dueAt: dueAt)
    }
}

extension AuditEntry {
    fileprivate var movingJSON: JSON {
        .object([
            "time": .time(time), "event": .string(event.rawValue), "session": .string(orNull: sessionID?.description),
            "reason": .string(orNull: reason), "request_id": .string(origin.requestID),
            "source_address": .string(orNull: origin.sourceAddress),
        ])
    }

    fileprivate init?(moving json: JSON, of account: UUIDv7) {
        guard let time = json.time("time"), let event = json["event"]?.string.flatMap({ Event(rawValue: $0) }),
            let requestID = json["request_id"]?.string
        else { return nil }
        self.init(
            time: time, event: event, accountID: account, sessionID: json.id("session"),
            reason: json["reason"]?.string,
            origin: Origin(requestID: requestID, sourceAddress: json["source_address"]?.string))
    }
}

extension JSON {
    fileprivate static func time(_ time: UnixTime?) -> JSON { time.map { .integer($0.milliseconds) } ?? .null }
    fileprivate static func bytes(_ bytes: [UInt8]?) -> JSON {
        bytes.map { .string(Base64URL.encode($0)) } ?? .null
    }
    fileprivate static func bool(orNull bool: Bool?) -> JSON { bool.map { .bool($0) } ?? .null }

    fileprivate func id(_ name: String) -> UUIDv7? { self[name]?.string.flatMap { UUIDv7($0) } }
    fileprivate func time(_ name: String) -> UnixTime? {
        self[name]?.integer.map { UnixTime(milliseconds: $0) }
    }
    fileprivate func bytes(_ name: String) -> [UInt8]? { self[name]?.string.flatMap { Base64URL.decode($0) } }

    /// The elements of an array, each of which is to be a value.
    fileprivate func every<Value>(_ name: String, _ value: (JSON) -> Value?) -> [Value]? {
        guard let elements = self[name]?.array else { return nil }
        let values = elements.compactMap(value)
        return values.count == elements.count ? values : nil
    }
}
