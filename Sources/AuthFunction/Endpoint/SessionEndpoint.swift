internal import Accounts
internal import JOSE

/// `/auth/refresh`, `/auth/logout`, `/auth/sessions` and `/auth/me`: what a client reads and is told about its sessions.
enum SessionEndpoint {
    /// The refresh token of a body, under either of its spellings. Null is absent.
    static func refreshToken(from body: JSON.Object) throws(Failure) -> String {
        let values = ["refresh_token", "refreshToken"].compactMap { body[$0] }.filter { $0 != .null }
        guard values.count <= 1 else { throw .invalidRequest([.init("refresh_token", "duplicate")]) }
        guard let json = values.first else { throw .invalidRequest([.init("refresh_token", "required")]) }
        guard let text = json.string else { throw .invalidRequest([.init("refresh_token", "not_a_string")]) }
        return text
    }

    /// The token of an `Authorization: Bearer` header (RFC 6750 §2.1); nil when there is none.
    static func bearerToken(of request: Request) -> String? {
        guard let header = request.headers["authorization"] else { return nil }
        let parts = header.utf8.split(separator: UInt8(ascii: " "))
        guard parts.count == 2, parts[0].count == 6, Substring(parts[0]).lowercased() == "bearer" else { return nil }
        return String(Substring(parts[1]))
    }

    static func account(_ account: Account, session: Session) -> Response {
        Response(
            status: 200,
            json: [
                "user": SignInEndpoint.user(account), "created_at": .string(account.createdAt.rfc3339),
                "session": ["id": .string(session.id.description)],
            ], headers: ["cache-control": "no-store"])
    }

    static func list(_ sessions: [Session], current: UUIDv7) -> Response {
        let entries = sessions.map { session -> JSON in
            [
                "id": .string(session.id.description), "current": .bool(session.id == current),
                "device": device(session.deviceInfo), "user_agent": .string(orNull: session.userAgent),
                "created_at": .string(session.createdAt.rfc3339),
                "last_used_at": .string(session.lastUsedAt.rfc3339),
                "expires_at": .string(session.expiresAt.rfc3339),
            ]
        }
        return Response(status: 200, json: ["sessions": .array(entries)], headers: ["cache-control": "no-store"])
    }

    /// What a person can recognise a device by. Each is text that a client sent, or null.
    private static func device(_ info: DeviceInfo) -> JSON {
        let names = ["id", "name", "model", "platform", "os_version", "app_version"]
        var device = JSON.Object()
        for name in names {
            device[name] = .string(
                orNull: info.json[name]?.string.flatMap { Text.cleaned($0, maximumScalars: 200) })
        }
        return .object(device)
    }

    static let noContent = Response(status: 204, headers: ["cache-control": "no-store"])
}
