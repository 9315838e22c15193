import CurlHTTP
import Foundation
import JOSE
import TestSupport

/// A real OpenID provider: Debian's glewlwyd on loopback, strict as it can be. ID tokens by ES256, PKCE demanded and S256 only,
/// DPoP with a nonce that the server demands, refresh tokens of one use, pushed requests offered, `iss` in the redirect.
///
/// Its pages, database and configuration lie in a folder of its own, which goes with it. It runs in a scope.
final class Glewlwyd: @unchecked Sendable {
    static let clientID = "app"
    static let person = (name: "ana", password: "una-clave-larga")

    let port = LoopbackPort.free()
    let callback = "http://127.0.0.1:\(LoopbackPort.free())/callback"
    let bye = "http://127.0.0.1:\(LoopbackPort.free())/bye"
    var issuer: String { "http://127.0.0.1:\(port)/api/oidc" }
    private let folder: URL
    private var cookie = ""

    static func run<Result>(_ body: (Glewlwyd) async throws -> Result) async throws -> Result {
        let server = try Glewlwyd()
        defer { try? FileManager.default.removeItem(at: server.folder) }
        let log = server.folder.appending(path: "log")
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/glewlwyd"), ["-c", server.folder.appending(path: "glewlwyd.conf").path()],
            environment: ["PATH": "/usr/bin:/bin", "HOME": server.folder.path()], output: log, errors: log)
        defer {
            process.kill(SIGKILL)
            process.wait()
        }
        try server.administer()
        return try await body(server)
    }

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "glewlwyd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try makePages()
        try makeDatabase()
        try Data(configuration.utf8).write(to: folder.appending(path: "glewlwyd.conf"))
    }

    /// The package's own pages, with its libraries in place of the links to them.
    private func makePages() throws {
        let pages = folder.appending(path: "pages").path()
        try run("cp", "-rL", "/usr/share/glewlwyd/webapp", pages)
        // In Debian 12 the link to the pages' configuration leads to a folder.
        try run("rm", "-rf", pages + "/config.json")
        try run("cp", "/usr/share/glewlwyd/templates/config.json", pages + "/config.json")
    }

    private func makeDatabase() throws {
        var schema = try Data(contentsOf: URL(filePath: "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"))
        // What a client may have is a list there; of this member there are several (RP-Initiated Logout §2.1).
        schema += Data(
            """
            UPDATE g_client_module_instance SET gcmi_parameters = json_set(gcmi_parameters,
                '$."data-format"."post_logout_redirect_uris"', json('{"multiple":true,"read":true,"write":true}'));
            """.utf8)
        try run("sqlite3", folder.appending(path: "database").path(), input: schema)
    }

    private var configuration: String {
        let path = { [folder] (name: String) in folder.appending(path: name).path() }
        let types = [
            "html": "text/html", "css": "text/css", "js": "application/javascript", "json": "application/json",
            "png": "image/png", "ico": "image/x-icon", "woff2": "font/woff2",
        ]
        let list = types.map { "{ extension = \".\($0.key)\"; mime_type = \"\($0.value)\"; }" }
        return """
            port = \(port)
            bind_address = "127.0.0.1"
            external_url = "http://127.0.0.1:\(port)"
            login_url = "login.html"
            api_prefix = "api"
            static_files_path = "\(path("pages"))/"
            static_files_mime_types = ( \(list.joined(separator: ", ")) )
            log_mode = "console"
            log_level = "ERROR"
            cookie_secure = 0
            cookie_same_site = "lax"
            session_key = "GLEWLWYD2_SESSION_ID"
            admin_scope = "g_admin"
            profile_scope = "g_profile"
            user_module_path = "/usr/lib/glewlwyd/user"
            client_module_path = "/usr/lib/glewlwyd/client"
            user_auth_scheme_module_path = "/usr/lib/glewlwyd/scheme"
            plugin_module_path = "/usr/lib/glewlwyd/plugin"
            hash_algorithm = "SHA512"
            database = { type = "sqlite3"; path = "\(path("database"))"; };

            """
    }

    /// As an operator does, by the API for administration: the provider, a person and the client.
    private func administer() throws {
        _ = try Chromium.wait { try? ask(.post, "/auth/", .object(["username": "admin", "password": "password"])) }
        let key = try run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")
        let publicKey = try run("openssl", "pkey", "-pubout", input: key)
        let nothing: JSON = .object([:])
        for name in ["openid", "offline_access"] {
            _ = try ask(
                name == "openid" ? .put : .post, "/scope/" + (name == "openid" ? name : ""),
                .object([
                    "name": .string(name), "display_name": .string(name), "description": .string(name),
                    "password_required": .bool(name == "openid"), "password_max_age": .integer(0), "scheme": nothing,
                    "scheme_required": nothing,
                ]))
        }
        let scopes: JSON = .array(["openid", "offline_access"])
        var parameters: JSON.Object = [
            "iss": .string(issuer), "jwt-type": "ecdsa", "jwt-key-size": "256",
            "key": .string(String(decoding: key, as: UTF8.self)),
            "cert": .string(String(decoding: publicKey, as: UTF8.self)), "jwks-show": .bool(true),
            "subject-type": "public", "allowed-scope": scopes, "access-token-duration": .integer(3600),
            "refresh-token-duration": .integer(86_400), "code-duration": .integer(600),
            "refresh-token-one-use": "always", "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            "oauth-par-duration": .integer(90), "session-cookie-name": "GLEWLWYD2_OIDC",
            "session-cookie-expiration": .integer(3600), "oauth-dpop-iat-duration": .integer(300),
            "oauth-dpop-nonce-counter": .integer(5), "name-claim": "mandatory", "email-claim": "mandatory",
        ]
        for name in [
            "auth-type-code-enabled", "auth-type-code-revoke-replayed", "auth-type-refresh-enabled",
            "refresh-token-rolling", "pkce-allowed", "pkce-required", "pkce-required-public-client",
            "introspection-revocation-allowed", "introspection-revocation-allow-target-client",
            "session-management-allowed", "front-channel-logout-allowed", "back-channel-logout-allowed",
            "oauth-dpop-allowed", "oauth-dpop-nonce-mandatory", "oauth-par-allowed", "oauth-as-iss-id",
        ] { parameters[name] = .bool(true) }
        for name in [
            "allow-non-oidc", "auth-type-implicit-enabled", "auth-type-token-enabled", "auth-type-password-enabled",
            "auth-type-client-enabled", "auth-type-device-enabled", "auth-type-none-enabled", "oauth-par-required",
            "pkce-method-plain-allowed", "request-parameter-allow",
        ] { parameters[name] = .bool(false) }
        _ = try ask(
            .post, "/mod/plugin/",
            .object(["module": "oidc", "name": "oidc", "display_name": "oidc", "parameters": .object(parameters)]))
        _ = try ask(
            .post, "/user/",
            .object([
                "username": .string(Self.person.name), "password": .string(Self.person.password), "name": "Ana Ruiz",
                "email": "ana@example.com", "enabled": .bool(true), "scope": scopes,
            ]))
        _ = try ask(
            .post, "/client/",
            .object([
                "client_id": .string(Self.clientID), "name": "App", "enabled": .bool(true),
                "confidential": .bool(false),
                "scope": scopes, "redirect_uri": .array([.string(callback)]),
                "post_logout_redirect_uris": .array([.string(bye)]), "token_endpoint_auth_method": .array(["none"]),
                "authorization_type": .array(["code", "refresh_token"]),
            ]))
    }

    private func ask(_ method: HTTPRequest.Method, _ path: String, _ body: JSON) throws -> [UInt8] {
        let request = HTTPRequest(
            method, try HTTPURL("http://127.0.0.1:\(port)/api\(path)", allowing: .loopback),
            headers: [.init("content-type", "application/json"), .init("cookie", cookie)], body: body.serialized())
        let answer = try HTTPClient(userAgent: "tests").send(request)
        guard answer.status == 200 else {
            throw Chromium.Refused(description: "glewlwyd: \(path): \(String(decoding: answer.body, as: UTF8.self))")
        }
        if let line = answer.headers.first(where: { $0.name == "set-cookie" }) {
            cookie = String(line.value.prefix { $0 != ";" })
        }
        return answer.body
    }

    @discardableResult
    private func run(_ program: String, _ arguments: String..., input: Data = Data()) throws -> Data {
        let ran = try Ran(
            ["/usr/bin/env", program] + arguments, environment: ["PATH": "/usr/bin:/bin"], input: input)
        guard ran.status == 0 else { throw Chromium.Refused(description: "\(program): \(ran.text)") }
        return ran.output
    }
}

extension Glewlwyd {
    private static let consent = ".carousel-item.active button.btn-primary"
    private static let secondScope = "#grant-offline_access"
    private static let goOn = ".card-footer button.btn-success"

    /// What its pages ask of a person: name and password, consent, and to go on.
    static var signIn: [Chromium.Step] {
        [
            Chromium.Step(when: "#loginbut") {
                try $0.type(person.name, into: "#username")
                try $0.type(person.password, into: "#password")
                try $0.touch("#loginbut")
            },
            Chromium.Step(when: consent) {
                if $0.sees(secondScope), try !$0.isTicked(secondScope) { try $0.touch(secondScope) }
                try $0.touch(consent)
            },
            Chromium.Step(when: goOn) { try $0.touch(goOn) },
        ]
    }

    static var signOut: [Chromium.Step] {
        let button = ".card-body button.btn-danger"
        return [Chromium.Step(when: button) { try $0.touch(button) }]
    }
}
