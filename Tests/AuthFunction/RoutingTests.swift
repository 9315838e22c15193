import Accounts
import JOSE
import TestSupport
import Testing

struct RoutingTests {
    let doorway = Doorway()

    @Test(arguments: [
        "", "/", "auth/apple", "/auth", "/auth/apple/", "//auth/apple", "/auth//apple", "/AUTH/apple", "/Auth/Apple",
        "/auth/apple/x", "/auth/./apple", "/x/../auth/apple", "/auth%2Fapple", "/auth/appl%65", "/auth/apple;x",
        "/auth/apple#x", "/auth/apple ", " /auth/apple", "/auth/apple\u{0}", "/auth/apple\n", "/auth/apple\u{301}",
        "https://host.example/auth/apple", "/.well-known/jwks.json/", "/.well-known", "/healthz", "*",
    ])
    func `404: a path is one of the routes as a whole, or none`(_ path: String) throws {
        for method in ["POST", "GET", "PATCH"] {
            let answer = try doorway.answer(method, path)
            #expect(answer.status == 404)
            #expect(answer.code == "not_found")
        }
    }

    @Test(arguments: [
        ("GET", "/auth/apple", "POST"), ("HEAD", "/auth/apple", "POST"), ("OPTIONS", "/auth/apple", "POST"),
        ("post", "/auth/apple", "POST"), ("POST ", "/auth/apple", "POST"), ("POST", "/health", "GET, HEAD"),
        ("get", "/health", "GET, HEAD"), ("DELETE", "/.well-known/jwks.json", "GET, HEAD"),
        ("PO\u{301}ST", "/auth/apple", "POST"), ("\u{0}", "/health", "GET, HEAD"),
    ])
    func `405: another method is answered with those that the route takes`(
        _ method: String, _ path: String, _ allowed: String
    ) throws {
        let answer = try doorway.answer(method, path)
        #expect(answer.status == 405)
        #expect(answer.headers["allow"]?.string == allowed)
    }

    @Test(arguments: ["/auth/apple?", "/auth/apple?x=1", "/auth/apple?a?b", "/auth/apple?\u{301}"])
    func `A query is no part of the path`(_ path: String) throws {
        #expect(try doorway.answer("POST", path, body: Doorway.body().text).status == 201)
    }

    @Test func `GET /health: alive`() throws {
        let answer = try doorway.answer("GET", "/health", headers: nil)
        #expect(answer.status == 200)
        #expect(answer.json == ["status": "ok"])
        #expect(answer.headers["cache-control"] == "no-store")
    }

    @Test func `GET /.well-known/jwks.json: every public key, and no private one`() throws {
        let answer = try doorway.answer("GET", "/.well-known/jwks.json", headers: nil)
        #expect(answer.status == 200)
        #expect(answer.headers["content-type"] == "application/jwk-set+json")
        #expect(answer.headers["cache-control"] == "public, max-age=900")
        let keys = try KeySet(answer.json)
        #expect(keys == Doorway.signingKeys.publicKeys)
        #expect(keys.keys.count == 2)
        #expect(!answer.body.contains("\"d\""))
    }

    @Test(arguments: ["/health", "/.well-known/jwks.json"])
    func `HEAD is GET without the body`(_ path: String) throws {
        let get = try doorway.answer("GET", path)
        let head = try doorway.answer("HEAD", path)
        #expect(head.body.isEmpty)
        #expect(!get.body.isEmpty)
        #expect(head.status == get.status)
        #expect(head.headers == get.headers)
        #expect(try doorway.answer("HEAD", "/nowhere").body.isEmpty)
    }

    @Test func `A base path is stripped by whole segments, and only once`() throws {
        let doorway = Doorway(basePath: "/v1/prod")
        func status(_ path: String) throws -> Int { try doorway.answer("GET", path).status }
        #expect(try status("/v1/prod/health") == 200)
        #expect(try status("/v1/prod/health?x") == 200)
        #expect(try status("/health") == 200)
        for path in [
            "/v1/prod", "/v1/prod/", "/v1/production/health", "/v1/prodhealth", "/v1/health", "/V1/prod/health",
            "/v1/prod/v1/prod/health", "/v1/prod//health", "/v1/prod\u{301}/health",
        ] {
            #expect(try status(path) == 404, "\(path)")
        }
    }
}
