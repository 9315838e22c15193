// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import Testing

/// The golden events through each server, with a real HTTP client: what comes back is what the plain doorway answers.
@Suite struct CGIEventTests {
    /// Events that HTTP cannot express, so that no web server could ever pass them on.
    static let notExpressible = ["29-event-without-method"]

    /// Fields of the response that are the function's; the server adds `date` and the like.
    static let ownFields = [
        "content-type", "cache-control", "x-content-type-options", "content-language", "allow", "accept",
        "www-authenticate",
        "retry-after", "location", "set-cookie", "referrer-policy", "access-control-allow-origin",
    ]

    /// By pipe: name → status, the function's own fields, body.
    static let byPipe = Result {
        let site = try CGISite()
        return try Dictionary(
            uniqueKeysWithValues: Installed.shared.events.map { name, event in
                let response = try site.pipe(event)
                let headers = response["headers"] as? [String: String] ?? [:]
                let answer = Comparable(
                    status: response["statusCode"] as? Int ?? 0, headers: headers,
                    body: Data((response["body"] as? String ?? "").utf8))
                return (name, answer)
            })
    }

    @Test(arguments: WebServer.Kind.allCases)
    func everyEventGetsTheAnswerThatItGetsByPipe(kind: WebServer.Kind) throws {
        let expected = try Self.byPipe.get()
        let site = try CGISite()
        try WebServer.run(kind, site) { server in
            var notExpressible: [String] = []
            for (name, event) in Installed.shared.events {
                let request = try JSONSerialization.jsonObject(with: event) as? [String: Any] ?? [:]
                guard let method = request["method"] as? String, let path = request["path"] as? String else {
                    notExpressible.append(name)
                    continue
                }
                let headers = (request["headers"] as? [String: String] ?? [:]).map { "\($0): \($1)" }
                let body = (request["body"] as? String).map { Data($0.utf8) }
                let answer = try server.send(method, path, headers: headers, body: body)
                let own = answer.headers.filter { Self.ownFields.contains($0.name) }
                let seen = Comparable(
                    status: answer.status, headers: Dictionary(own.map { ($0.name, $0.value) }) { "\($0), \($1)" },
                    body: answer.body)
                #expect(seen == expected[name], "\(name): \(server.log().suffix(500))")
                #expect(answer.exitStatus == 0, "\(name)")
            }
            #expect(notExpressible == Self.notExpressible)

            // Nothing of the people, and no token, has come into a log of the server or of the function.
            let log = server.log()
            for secret in ["eyJ", "ana@example.com", "Ana Bel", "kT7q2m9x", "refresh_token"] {
                #expect(!log.contains(secret), "\(secret) is in a log")
            }
            #expect(log.contains(#""outcome":"ok""#), "the function's own log lines arrive")
        }
    }

    /// What must be equal, with what differs from run to run put aside by its form.
    struct Comparable: Equatable {
        let status: Int
        let headers: [String: String]
        let body: String

        init(status: Int, headers: [String: String], body: Data) {
            self.status = status
            self.headers = headers.mapValues { value in
                value.replacing(/nonce=[A-Za-z0-9_-]+&state=[A-Za-z0-9_.-]+/, with: "NONCE")
                    .replacing(/__Host-auth-apple=[A-Za-z0-9_-]{43}/, with: "COOKIE")
            }
            let text = String(decoding: body, as: UTF8.self)
            self.body =
                text
                .replacing(/eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+/, with: "JWT")
                .replacing(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/, with: "UUID")
                .replacing(/"refresh_token":"[A-Za-z0-9_.-]{43,}"/, with: #""refresh_token":"TOKEN""#)
        }
    }
}
#endif
