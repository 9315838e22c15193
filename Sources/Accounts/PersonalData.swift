internal import AppleID
package import JOSE

/// All that is held about a person, as JSON: what they may ask for (GDPR, articles 15 and 20). What could be presented or
/// compared (digests, salts) is no information about a person and stays out.
package struct PersonalData {
    package let account: Account
    package let sessions: [Session]
    package let grants: [AppleGrant]
    package let audit: [AuditEntry]

    /// Nil when there is no such account.
    package init?(of id: UUIDv7, in users: any UserRepository) throws(StoreError) {
        guard let account = try users.account(id) else { return nil }
        self.account = account
        sessions = try users.sessions(of: id, at: UnixTime(milliseconds: 0))
        grants = try users.grants(of: id)
        audit = try users.audit(of: id)
    }

    package func json(time: (UnixTime) -> String) -> JSON {
        let profile = account.profile
        return [
            "account": [
                "id": .string(account.id.description), "apple_sub": .string(orNull: account.appleSubject),
                "full_name": .string(orNull: profile.fullName), "email": .string(orNull: profile.email?.address),
                "email_verified": profile.email?.isVerified.map(JSON.bool) ?? .null,
                "is_private_email": profile.email.map { .bool($0.isPrivate) } ?? .null,
                "contact_email": .string(orNull: profile.contactEmail),
                "created_at": .string(time(account.createdAt)), "updated_at": .string(time(account.updatedAt)),
                "disabled_at": .string(orNull: account.disabledAt.map(time)),
                "consent_revoked_at": .string(orNull: account.consentRevokedAt.map(time)),
                "email_forwarding": account.forwarding.map { .bool($0.isOn) } ?? .null,
                "apple_transfer_sub": .string(orNull: account.transferSubject),
            ],
            "sessions": .array(
                sessions.map { session in
                    [
                        "id": .string(session.id.description), "client_id": .string(session.clientID),
                        "device_info": session.deviceInfo.json,
                        "user_agent": .string(orNull: session.userAgent),
                        "created_at": .string(time(session.createdAt)),
                        "last_used_at": .string(time(session.lastUsedAt)),
                        "expires_at": .string(time(session.expiresAt)),
                    ]
                }),
            "apple_grants": .array(
                grants.map {
                    ["client_id": .string($0.clientID), "obtained_at": .string(time($0.obtainedAt))]
                }),
            "audit": .array(
                audit.map { entry in
                    [
                        "time": .string(time(entry.time)), "event": .string(entry.event.rawValue),
                        "session": .string(orNull: entry.sessionID?.description),
                        "reason": .string(orNull: entry.reason), "request_id": .string(entry.origin.requestID),
                        "source_address": .string(orNull: entry.origin.sourceAddress),
                    ]
                }),
        ]
    }
}
