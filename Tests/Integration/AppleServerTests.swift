import AppleID
import AuthFunction
import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

@testable import auth_apple

/// Apple's server API over the program's own transport, against a real HTTPS server.
@Suite struct AppleServerTests {
    private static let key = TokenForge.newKey("ABC123DEFG", for: .es256)
    private static let clientID = TokenForge.audience
    private static let tokens = JSON.object([
        "access_token": "a0.access", "token_type": "Bearer", "expires_in": .integer(3600),
        "refresh_token": "r0.refresh", "id_token": .string(TokenForge().token),
    ]).text

    private static func server(
        at url: (String) -> String, caBundle: String?, development: Bool = false, deadline: Deadline = Deadline()
    ) throws -> AppleServer {
        let credentials = try #require(
            AppleCredentials(teamID: "TEAM123456", keyID: key.keyID, privateKey: key.privateKey))
        var endpoints = AppleServer.Endpoints()
        endpoints.token = url("/auth/token")
        endpoints.revocation = url("/auth/revoke")
        endpoints.migration = url("/auth/usermigrationinfo")
        let http = AppleHTTP(mode: development ? .development : .production, caBundle: caBundle, deadline: deadline)
        return AppleServer(
            endpoints: endpoints, credentials: credentials, cryptography: TokenForge.cryptography,
            send: AppleServerTransport(http).send)
    }

    private static func exchange(_ server: AppleServer) throws -> AppleTokens {
        try server.exchange(code: "c0de.0.a+b/c", clientID: clientID, redirectURI: nil, at: TokenForge.now)
    }

    private static func failure(_ work: () throws -> Void) throws -> AppleServerFailure? {
        do {
            try work()
            return nil
        } catch let failure as AppleServerFailure {
            return failure
        }
    }

    @Test func aCodeIsExchangedConfirmedAndRevokedOverHTTPS() throws {
        try LoopbackServer.run(.init(200, Self.tokens)) { apple in
            let server = try Self.server(at: { apple.url($0) }, caBundle: apple.authority)
            let tokens = try Self.exchange(server)
            let policy = try #require(TokenPolicy(audiences: [Self.clientID]))
            try tokens.confirm(
                subject: TokenForge.subject, clientID: Self.clientID,
                verifier: AppleTokenVerifier(policy: policy, cryptography: TokenForge.cryptography),
                keys: TokenForge.keys, at: TokenForge.now)

            try apple.answer(.init(200))
            try server.revoke(refreshToken: tokens.refreshToken, clientID: Self.clientID, at: TokenForge.now)
            try apple.answer(.init(200, #"{"access_token":"m0.bearer","expires_in":3600}"#))
            let migration = try server.migrationToken(clientID: Self.clientID, at: TokenForge.now)
            try apple.answer(.init(200, #"{"transfer_sub":"1.transfer.1"}"#))
            _ = try server.transferIdentifier(
                sub: TokenForge.subject, target: "TEAMB12345", clientID: Self.clientID, token: migration,
                at: TokenForge.now)

            let requests = try apple.requests()
            #expect(
                requests.map { "\($0.method) \($0.path)" } == [
                    "POST /auth/token", "POST /auth/revoke", "POST /auth/token", "POST /auth/usermigrationinfo",
                ])
            for request in requests {
                #expect(request.headers["content-type"] == "application/x-www-form-urlencoded")
                #expect(request.headers["user-agent"] == "auth-apple/\(Program.version)")
                #expect(request.headers["accept"] == "application/json")
            }
            #expect(requests.map { $0.headers["authorization"] } == [nil, nil, nil, "Bearer m0.bearer"])
            // Python's own reader of forms sees what was meant.
            let fields = try requests.prefix(2).map { try Self.fieldsByPython($0.body) }
            #expect(fields[0]["grant_type"] == "authorization_code" && fields[0]["code"] == "c0de.0.a+b/c")
            #expect(fields[1]["token"] == "r0.refresh" && fields[1]["token_type_hint"] == "refresh_token")
            #expect(fields.allSatisfy { $0["client_id"] == Self.clientID })
            // One connection for all of them, and a client secret that verifies.
            #expect(Set(requests.map(\.connection)).count == 1)
            let secret = try CompactJWS(
                parsing: Array(try #require(fields[0]["client_secret"]).utf8)[...], allowing: [.es256])
            #expect(throws: Never.self) {
                try secret.verified(by: Self.key.jwk, using: TokenForge.cryptography)
            }
        }
    }

    private static func fieldsByPython(_ body: Data) throws -> [String: String] {
        let script = """
            import json, sys, urllib.parse
            print(json.dumps(dict(urllib.parse.parse_qsl(sys.stdin.read(), strict_parsing=True, errors="strict"))))
            """
        let ran = try Ran("/usr/bin/env", "python3", "-c", script, input: body)
        return try JSONDecoder().decode([String: String].self, from: ran.output)
    }

    @Test func whatAppleRefusesIsTyped() throws {
        try LoopbackServer.run(.init(400, #"{"error":"invalid_grant"}"#)) { apple in
            let server = try Self.server(at: { apple.url($0) }, caBundle: apple.authority)
            #expect(try Self.failure { _ = try Self.exchange(server) } == .refused(.invalidGrant))
            let revoked = try Self.failure {
                try server.revoke(refreshToken: "r", clientID: Self.clientID, at: TokenForge.now)
            }
            #expect(revoked == .refused(.invalidGrant))
        }
    }

    private static let faults: [(String, LoopbackServer.Answer)] = [
        ("tls", .init(200, tokens).with { $0.tls = .wrongHost }),
        ("tls", .init(200, tokens).with { $0.tls = .untrusted }),
        ("tls", .init(200, tokens).with { $0.tls = .only11 }),
        ("too_large", .init(200, tokens + String(repeating: " ", count: 1 << 20))),
        ("transfer", .init(200, tokens).with { $0.truncated = true }),
        ("timeout", .init(200, tokens).with { $0.delay = 2 }),
    ]

    @Test(arguments: faults.indices) func whatIsNoCompleteAnswerOfApplesIsAnOutage(_ index: Int) throws {
        let (code, answer) = Self.faults[index]
        try LoopbackServer.run(answer) { apple in
            let deadline = Deadline()
            if code == "timeout" { deadline.time = System.now().adding(seconds: 1) }
            let server = try Self.server(at: { apple.url($0) }, caBundle: apple.authority, deadline: deadline)
            guard case .unavailable(.noAnswer(let reason))? = try Self.failure({ _ = try Self.exchange(server) }) else {
                Issue.record("it was an answer")
                return
            }
            #expect(reason.code == code)
            #expect(!reason.words.contains("c0de"))
        }
    }

    @Test(arguments: [301, 302, 307, 308]) func aRedirectIsNotFollowed(_ status: Int) throws {
        try LoopbackServer.run(.init(status, Self.tokens, headers: [["Location", "/elsewhere"]])) { apple in
            let server = try Self.server(at: { apple.url($0) }, caBundle: apple.authority)
            #expect(try Self.failure { _ = try Self.exchange(server) } == .unavailable(.status(status)))
            #expect(try apple.requests().map(\.path) == ["/auth/token"])
        }
    }

    @Test func httpIsAskedInDevelopmentOnly() throws {
        try LoopbackServer.run(.init(200, Self.tokens)) { apple in
            let production = try Self.server(at: { apple.plainURL($0) }, caBundle: nil)
            let failure = try Self.failure { _ = try Self.exchange(production) }
            #expect(failure?.word == "apple_no_answer" && failure?.detail?.hasPrefix("url: ") == true)
            #expect(try apple.requests().isEmpty)
            let development = try Self.server(at: { apple.plainURL($0) }, caBundle: nil, development: true)
            #expect(try Self.exchange(development).refreshToken == "r0.refresh")
        }
    }

    @Test func aRunThatEndsTooSoonDoesNotBegin() throws {
        try LoopbackServer.run(.init(200, Self.tokens)) { apple in
            let deadline = Deadline()
            deadline.time = System.now()
            let server = try Self.server(at: { apple.url($0) }, caBundle: apple.authority, deadline: deadline)
            let failure = try Self.failure { _ = try Self.exchange(server) }
            #expect(failure?.detail?.hasPrefix("timeout: ") == true)
            #expect(try apple.requests().isEmpty)
        }
    }
}
