import Foundation
import TestSupport
import Testing

/// The function with everything on that an account's life has, and an Apple of its own that knows it.
final class LifeSite {
    static let client = "com.example.app"
    static let team = "TEAM123456"
    static let newTeam = "NEWTEAM456"
    static let keyID = "ABC123DEFG"
    private static let encryptionKey = "2026-11:" + String(repeating: "K", count: 42) + "A"

    let site: FunctionSite
    let apple: SimulatorAddress

    private init(site: FunctionSite, apple: SimulatorAddress) {
        self.site = site
        self.apple = apple
    }

    /// Runs `body` while the simulator serves.
    static func run(_ body: (LifeSite) throws -> Void) throws {
        let site = try FunctionSite()
        let path = { (name: String) in site.folder.appending(path: name).path() }
        for (name, key) in [("AuthKey.p8", "p8"), ("NewTeam.p8", "other")] {
            try write(OpenSSLKeys.shared[key], to: path(name))
        }
        try write(encryptionKey, to: path("encryption-keys"))
        site.environment.merge([
            "AUTH_APPLE_TEAM_ID": team, "AUTH_APPLE_KEY_ID": keyID, "AUTH_APPLE_PRIVATE_KEY_FILE": path("AuthKey.p8"),
            "AUTH_APPLE_ENCRYPTION_KEYS_FILE": path("encryption-keys"),
        ]) { $1 }
        let arguments = [
            "--key-file", site.environment["APPLE_SIMULATOR_KEYS"] ?? "", "--team",
            "\(team):\(keyID)=\(path("AuthKey.p8"))",
            "--team", "\(newTeam):\(keyID)=\(path("NewTeam.p8"))", "--client", "\(client)=\(team)", "--client",
            "\(client)=\(newTeam)", "--client", "com.example.web=\(team)",
        ]
        try AppleSimulator().serving(arguments: arguments) { apple in
            for (variable, endpoint) in [
                ("TOKEN_URL", "token"), ("REVOKE_URL", "revoke"), ("MIGRATION_URL", "usermigrationinfo"),
                ("KEYS_URL", "keys"),
            ] { site.environment["AUTH_APPLE_\(variable)"] = "\(apple.url)/auth/\(endpoint)" }
            try body(LifeSite(site: site, apple: apple))
        }
    }

    /// A secret file.
    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// The same function as the new team runs it.
    func becomeNewTeam() {
        site.environment["AUTH_APPLE_TEAM_ID"] = Self.newTeam
        site.environment["AUTH_APPLE_PRIVATE_KEY_FILE"] = site.folder.appending(path: "NewTeam.p8").path()
    }

    @discardableResult
    func order(_ path: String, _ body: [String: Any] = [:], method: String = "POST") throws -> [String: Any] {
        try apple.order(path, body, method: method)
    }

    /// How often an endpoint was asked, and answered so.
    func requests(_ path: String, status: Int? = 200) throws -> Int {
        let list = try order("/simulator/requests", method: "GET")["requests"] as? [[String: Any]] ?? []
        return list.count { $0["endpoint"] as? String == path && $0["status"] as? Int == status }
    }

    func fail(_ path: String, status: Int? = nil) throws {
        var fault: [String: Any] = ["endpoint": path, "times": 1000]
        if let status { fault["status"] = status } else { fault["drop"] = true }
        try order("/simulator/faults", fault)
    }

    func repair() throws { try order("/simulator/faults", method: "DELETE") }

    /// A sign-in as a native app makes it: token, code, and what is said of the person.
    func person(_ name: Any = "ana", hidingEmail: Bool = false) throws -> [String: Any] {
        try order("/simulator/code", ["client_id": Self.client, "person": name, "hide_email": hidingEmail])
    }

    static func event(_ person: [String: Any], _ more: [String: Any] = [:]) throws -> Data {
        var body: [String: Any] = [
            "identity_token": person["identity_token"] ?? "", "authorization_code": person["code"] ?? "",
            "deviceInfo": ["platform": "iOS"],
        ]
        body.merge(more) { $1 }
        return try FunctionSite.event(body: body)
    }

    @discardableResult
    func signIn(_ name: Any = "ana", _ more: [String: Any] = [:]) throws -> FunctionSite.Answer {
        try site.send(Self.event(person(name), more))
    }

    func delete(_ accessToken: String, language: String = "es") throws -> FunctionSite.Answer {
        try site.send(Self.deletion(accessToken, language: language))
    }

    static func deletion(_ accessToken: String, language: String = "es") throws -> Data {
        try JSONSerialization.data(withJSONObject: [
            "method": "DELETE", "path": "/auth/me",
            "headers": ["authorization": "Bearer \(accessToken)", "accept-language": language],
        ])
    }

    /// A notification that the simulator signs, as Apple posts it.
    func notification(_ options: String...) throws -> Data {
        let ran = try Ran(
            [Programs.built("apple-simulator").path(), "notification"] + options, environment: site.environment)
        try #require(ran.status == 0, "\(ran.text)")
        let body = try JSONSerialization.jsonObject(with: ran.output) as? [String: Any] ?? [:]
        return try FunctionSite.event("POST", "/auth/apple/notifications", body: body)
    }

    /// All that is held of an account.
    func export(_ id: String) throws -> [String: Any] {
        let ran = try site.run("accounts", "export", id)
        return try JSONSerialization.jsonObject(with: ran.output) as? [String: Any] ?? [:]
    }

    func grants(_ id: String) throws -> Int { (try export(id)["apple_grants"] as? [Any] ?? []).count }

    func events(_ id: String) throws -> [String] {
        (try export(id)["audit"] as? [[String: Any]] ?? []).compactMap { $0["event"] as? String }
    }

    /// Lets time pass for what waits in the outbox.
    func letOutboxPass(seconds: Int) throws {
        try execute("UPDATE revocations SET due_at = due_at - \(seconds * 1000)")
    }

    /// Changes the store's file from outside.
    func execute(_ sql: String) throws {
        let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit()"
        let ran = try Ran("/usr/bin/python3", "-c", script, file, sql)
        try #require(ran.status == 0, "\(ran.text)")
    }

    var file: String { String((site.environment["AUTH_APPLE_STORE"] ?? "").dropFirst("sqlite:".count)) }
}

extension FunctionSite.Answer {
    /// The line of an errand of this kind.
    func errand(_ outcome: String) -> [String: Any]? { log.first { $0["outcome"] as? String == outcome } }

    func reason(_ outcome: String) -> String? { errand(outcome)?["reason"] as? String }
}

extension SimulatorAddress {
    /// What the simulator's own API answers.
    @discardableResult
    func order(_ path: String, _ body: [String: Any] = [:], method: String = "POST") throws -> [String: Any] {
        let json = try JSONSerialization.data(withJSONObject: body)
        let headers = method == "GET" ? "" : "Content-Type: application/json\r\nContent-Length: \(json.count)\r\n"
        let request = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(headers)\r\n"
        let text = try exchange(request + (method == "GET" ? "" : String(decoding: json, as: UTF8.self)))
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1)
        guard text.hasPrefix("HTTP/1.1 200"), parts.count == 2 else { throw Refused(text: text) }
        return try JSONSerialization.jsonObject(with: Data(parts[1].utf8)) as? [String: Any] ?? [:]
    }

    struct Refused: Error {
        let text: String
    }
}
