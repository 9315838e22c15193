import Foundation

/// One installation of the function with secrets, state and a simulator's keys of its own, in a temporary folder that goes
/// with it.
package final class FunctionSite: @unchecked Sendable {
    package let folder: URL
    package var environment: [String: String]

    package init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "auth-apple-\(UUID().uuidString.prefix(13))")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = { [folder] (name: String) in folder.appending(path: name).path() }
        environment = [
            "PATH": "\(try Programs.built("auth-apple").deletingLastPathComponent().path()):/usr/bin:/bin",
            "APPLE_SIMULATOR_KEYS": path("simulator/keys.json"), "APPLE_SIMULATOR_AUDIENCE": "com.example.app",
            "AUTH_APPLE_MODE": "development", "AUTH_APPLE_AUDIENCES": "com.example.app,com.example.web",
            "AUTH_APPLE_KEYS_URL": "file://\(path("apple-keys.json"))",
            "AUTH_APPLE_KEY_CACHE": path("cache/apple-keys.json"),
            "AUTH_APPLE_STORE": "sqlite:\(path("state/accounts.sqlite"))",
            "AUTH_APPLE_SIGNING_KEYS_FILE": path("signing-keys.json"),
            "AUTH_APPLE_TOKEN_ISSUER": "https://auth.example.com",
            "AUTH_APPLE_TOKEN_AUDIENCE": "https://api.example.com", "AUTH_APPLE_NOTIFICATIONS": "true",
            "AUTH_APPLE_DELETION_SESSION_SECONDS": "600",
            "AUTH_APPLE_WEB_CLIENT_ID": "com.example.web",
            "AUTH_APPLE_WEB_CALLBACK_URL": "https://auth.example.com/auth/apple/callback",
            "AUTH_APPLE_RETURN_URLS": "com.example.app:/signed-in",
        ]
        #if !SQLite
        environment["AUTH_APPLE_STORE"] = "memory:"
        #endif
        try simulator("keys").output.write(to: folder.appending(path: "apple-keys.json"))
        guard try run("keys", "new").status == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    package func run(_ arguments: String..., input: Data = Data()) throws -> Ran {
        try Ran([Programs.built("auth-apple").path()] + arguments, environment: environment, input: input)
    }

    @discardableResult
    package func simulator(_ arguments: String...) throws -> Ran {
        try Ran([Programs.built("apple-simulator").path()] + arguments, environment: environment)
    }

    /// A token that the simulator signs, now.
    package func token(_ options: String...) throws -> String {
        let ran = try Ran([Programs.built("apple-simulator").path(), "token"] + options, environment: environment)
        return String(decoding: ran.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// A sign-in event as a client of the plain doorway writes it.
    package func event(token: String, _ more: [String: Any] = [:], headers: [String: String] = [:]) throws -> Data {
        var body: [String: Any] = ["identity_token": token, "deviceInfo": ["platform": "iOS"]]
        body.merge(more) { $1 }
        return try Self.event(body: body, headers: headers)
    }

    package static func event(
        _ method: String = "POST", _ path: String = "/auth/apple", body: [String: Any], headers: [String: String] = [:]
    ) throws -> Data {
        let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        let event: [String: Any] = [
            "method": method, "path": path, "body": text,
            "headers": headers.merging(["content-type": "application/json"]) { first, _ in first },
        ]
        return try JSONSerialization.data(withJSONObject: event)
    }

    /// Sends an event by pipe.
    package func send(_ event: Data) throws -> Answer {
        try Answer(run(input: event))
    }

    /// Sends each event by a process of its own, all at once: not as many as there are threads here. The answers are in the
    /// order of the events.
    package func atOnce(_ events: [Data]) throws -> [Answer] {
        let place = folder.appending(path: "at-once-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let file = { (name: String, index: Int) in place.appending(path: "\(name).\(index)") }
        for (index, event) in events.enumerated() { try event.write(to: file("event", index)) }
        let script = """
            seq 0 $(($2 - 1)) | xargs -P "$2" -I{} sh -c \
            'auth-apple <"$1/event.{}" >"$1/answer.{}" 2>"$1/log.{}"' sh "$1"
            """
        let ran = try Ran("/bin/sh", "-c", script, "sh", place.path(), "\(events.count)", environment: environment)
        guard ran.status == 0 else { throw CocoaError(.fileReadUnknown) }
        return try events.indices.map { index in
            try Answer(
                output: Data(contentsOf: file("answer", index)), errors: Data(contentsOf: file("log", index)))
        }
    }

    /// A response, and what came with it.
    package struct Answer {
        package let status: Int
        package let headers: [String: String]
        package let body: [String: Any]
        package let text: String
        /// The lines on standard error.
        package let log: [[String: Any]]

        init(_ ran: Ran) throws {
            try self.init(output: ran.output, errors: ran.errors)
        }

        package init(output: Data, errors: Data = Data()) throws {
            guard let json = try JSONSerialization.jsonObject(with: output) as? [String: Any],
                let status = json["statusCode"] as? Int, let text = json["body"] as? String
            else { throw CocoaError(.fileReadCorruptFile) }
            self.status = status
            self.text = text
            headers = json["headers"] as? [String: String] ?? [:]
            body = (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]) ?? [:]
            log = try errors.split(separator: 0x0A).map { line in
                try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] ?? [:]
            }
        }

        package var accessToken: String { body["access_token"] as? String ?? "" }
        package var refreshToken: String { body["refresh_token"] as? String ?? "" }
        package var sessionID: String { (body["session"] as? [String: Any])?["id"] as? String ?? "" }
        package var accountID: String { (body["user"] as? [String: Any])?["id"] as? String ?? "" }
    }
}
