// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import TestSupport
import Testing

/// The web flow in a real browser (Debian's Chromium), as on an Android phone: from the app's button over the function behind
/// lighttpd, with TLS, and the simulator's page to the session.
///
/// The three have origins of three sites, so that cookies, redirects and Apple's form are what they are in the world. The
/// browser ends on an address of loopback, since there is no app here that a scheme of its own could open.
@Suite struct WebBrowserTests {
    /// What the app was given, and what it had kept.
    private struct Landing {
        let parameters: [String: String]
        let names: [String]
        let state: String
        let verifier: String
        let referrer: String
        let cookies: String

        init(_ json: Any?) throws {
            let walk = try #require(json as? [String: Any])
            let flow = try #require(walk["flow"] as? [String: String])
            let pairs = try #require(walk["parameters"] as? [[String]])
            parameters = Dictionary(pairs.map { ($0[0], $0[1]) }) { $1 }
            names = pairs.map { $0[0] }.sorted()
            state = try #require(flow["state"])
            verifier = try #require(flow["verifier"])
            referrer = walk["referrer"] as? String ?? "none"
            cookies = walk["cookies"] as? String ?? "none"
        }
    }

    @Test func aPersonSignsInFromTheButtonToTheSessionAndNobodyElseDoes() throws {
        let (simulatorPort, appPort) = (Loopback.freePort(), Loopback.freePort())
        let apple = "http://127.0.0.1:\(simulatorPort)"
        let site = try CGISite()
        site.environment.merge([
            "AUTH_APPLE_KEYS_URL": "\(apple)/auth/keys", "AUTH_APPLE_AUTHORIZE_URL": "\(apple)/auth/authorize",
            "AUTH_APPLE_WEB_CALLBACK_URL": "https://localhost:{port}/auth/apple/callback",
            "AUTH_APPLE_RETURN_URLS": "http://127.0.0.1:\(appPort)/signed-in",
        ]) { $1 }
        try WebServer.run(.lighttpd, site, variant: .tls) { server in
            let simulator = try AppleSimulator()
            let callback = "https://localhost:\(server.port)/auth/apple/callback"
            let client = "com.example.web=TEAM000001,\(callback)"
            try simulator.serving(port: simulatorPort, arguments: ["--client", client]) { _ in
                try walk(server, appPort: appPort)
            }
        }
    }

    private func walk(_ server: WebServer, appPort: Int) throws {
        let pictures = Programs.packageRoot.appending(path: ".build/web-pictures")
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        let foreign = try foreignAnswer(server, returnURL: "http://127.0.0.1:\(appPort)/signed-in")
        let task: [String: Any] = [
            "site": "https://localhost:\(server.port)", "key": try publicKeyDigest(of: server), "return": "/signed-in",
            "port": appPort, "pictures": pictures.path(), "foreign": foreign,
            "walks": [
                ["name": "share", "person": "ana", "email": "share", "action": "continue"],
                ["name": "hide", "person": "luis", "email": "hide", "action": "continue"],
                ["name": "cancel", "person": "ana", "email": "share", "action": "cancel"],
            ],
        ]
        let ran = try Ran(
            ["/usr/bin/python3", Programs.packageRoot.appending(path: "Tests/Runtimes/Browser.py").path()],
            environment: ["PATH": "/usr/bin:/bin"], input: JSONSerialization.data(withJSONObject: task))
        try #require(ran.status == 0, "\(String(decoding: ran.errors, as: UTF8.self)) \(server.log())")
        let said = try #require(JSONSerialization.jsonObject(with: ran.output) as? [String: Any])
        let walks = try #require(said["walks"] as? [Any]).map { try Landing($0) }

        for landing in walks {
            #expect(landing.parameters["state"] == landing.state, "the app's own state comes back")
            #expect(landing.parameters["iss"] == "https://auth.example.com")
            #expect(landing.referrer.isEmpty, "the app does not learn where the browser came from")
            #expect(landing.cookies.isEmpty)
        }
        try signIn(walks[0], server, name: "Ana Ruiz", email: /ana\.ruiz@example\.com/, isPrivate: false)
        try signIn(walks[1], server, name: "Luis Ortega", email: /[^@]+@privaterelay\.appleid\.com/, isPrivate: true)
        #expect(walks[2].names == ["error", "iss", "state"])
        #expect(walks[2].parameters["error"] == "access_denied")

        // Login CSRF: the page of a browser that did not begin that flow.
        let page = try #require(said["foreign"] as? [String: Any])
        #expect(page["title"] as? String == "Iniciar sesión con Apple")
        #expect(page["language"] as? String == "es")
        #expect((page["text"] as? String)?.contains("No se pudo iniciar sesión con Apple. Intenta de nuevo.") == true)
        #expect(page["width"] as? Int == page["view"] as? Int, "nothing is wider than the phone")
        #expect((page["size"] as? Double ?? 0) >= 16, "readable without a lens")
        #expect(page["background"] as? String == "rgb(255, 255, 255)", "its style is let in by its own policy")

        let log = server.log()
        for landing in walks {
            for secret in [landing.verifier, landing.state, landing.parameters["code"] ?? landing.state] {
                #expect(!log.contains(secret.suffix(30)), "no code, state or verifier is in a log")
            }
        }
        for secret in ["eyJ", "Ana", "ana.ruiz", "Luis", "privaterelay", "__Host-", "code_verifier"] {
            #expect(!log.contains(secret), "\(secret) is in a log")
        }
        #expect(log.contains(#""reason":"state_of_another_browser""#) && log.contains(#""reason":"cancelled""#))
    }

    /// The app exchanges its code, and reads who is signed in; the code is good once.
    private func signIn(
        _ landing: Landing, _ server: WebServer, name: String, email: Regex<Substring>, isPrivate: Bool
    ) throws {
        #expect(landing.names == ["code", "iss", "state"])
        func exchange(device: String) throws -> HTTPAnswer {
            let body: [String: Any] = [
                "code": landing.parameters["code"] ?? "", "code_verifier": landing.verifier,
                "deviceInfo": ["model": device, "platform": "Android"],
            ]
            return try send(
                server, "POST", "/auth/apple/exchange", ["Content-Type: application/json"],
                JSONSerialization.data(withJSONObject: body))
        }
        let answer = try exchange(device: "Pixel 9")
        #expect(answer.status == 201, "\(answer.text) \(server.log())")
        let token = answer.json["access_token"] as? String ?? ""
        let me = try send(server, "GET", "/auth/me", ["Authorization: Bearer \(token)"])
        #expect(me.status == 200)
        let user = me.json["user"] as? [String: Any] ?? [:]
        #expect(user["full_name"] as? String == name)
        #expect(user["is_private_email"] as? Bool == isPrivate)
        #expect(try email.wholeMatch(in: user["email"] as? String ?? "") != nil)
        #expect(try exchange(device: "another").status == 401)
    }

    /// An attacker's start, and the answer of Apple's to it, which the victim's browser is to send.
    private func foreignAnswer(_ server: WebServer, returnURL: String) throws -> [String: String] {
        let challenge = String(repeating: "A", count: 43)
        let start = try send(
            server, "GET",
            "/auth/apple/authorize?return_url=\(returnURL)&code_challenge=\(challenge)&code_challenge_method=S256")
        let location = try #require(start[field: "location"].flatMap { URLComponents(string: $0) })
        let state = try #require(location.queryItems?.first { $0.name == "state" }?.value)
        return ["state": state, "code": "c", "id_token": "a.b.c"]
    }

    private func send(
        _ server: WebServer, _ method: String, _ path: String, _ headers: [String] = [], _ body: Data? = nil
    ) throws -> HTTPAnswer {
        try HTTPAnswer.byCurl(
            method, "https://localhost:\(server.port)\(path)", headers: headers, body: body,
            options: ["--cacert", server.configuration.folder.appending(path: "certificate.pem").path()])
    }

    /// What the browser is told to trust: this key and nothing else that does not verify.
    private func publicKeyDigest(of server: WebServer) throws -> String {
        let file = server.configuration.folder.appending(path: "certificate.pem").path()
        let script = """
            openssl x509 -in "$1" -noout -pubkey | openssl pkey -pubin -outform DER | openssl dgst -sha256 -binary | base64
            """
        let ran = try Ran("/bin/sh", "-c", script, "sh", file, environment: ["PATH": "/usr/bin:/bin"])
        return String(decoding: ran.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
#endif
