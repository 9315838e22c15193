import AppleID
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

struct AppleServerTests {
    private func failure(_ work: () throws -> Void) throws -> AppleServerFailure? {
        do {
            try work()
            return nil
        } catch let failure as AppleServerFailure {
            return failure
        }
    }

    @Test func `A code of a native app is exchanged without a redirect_uri`() throws {
        let apple = AppleServerBench(200, AppleServerBench.tokens())
        #expect(try apple.exchange().refreshToken == "r0.canary-refresh")
        #expect(
            try apple.fields() == ["client_id=com.finnova.app", "grant_type=authorization_code", "code=c0de.0.x"])
        #expect(apple.requests.map(\.url) == ["https://appleid.apple.com/auth/token"])
        #expect(apple.requests.map(\.bearer) == [nil])
    }

    @Test func `A code of the web flow is exchanged with the redirect_uri of its request`() throws {
        let apple = AppleServerBench(200, AppleServerBench.tokens())
        _ = try apple.exchange(code: "c&code=d%00+", redirectURI: "https://auth.example/auth/apple/callback?a=b&c")
        #expect(
            try apple.fields() == [
                "client_id=com.finnova.app", "grant_type=authorization_code", "code=c&code=d%00+",
                "redirect_uri=https://auth.example/auth/apple/callback?a=b&c",
            ])
    }

    @Test(arguments: ["", "a b", "a\n", "é", "a\u{0}", String(repeating: "c", count: 4097)])
    func `What no code of Apple's could be is not sent to Apple`(_ code: String) throws {
        let apple = AppleServerBench(200, AppleServerBench.tokens())
        #expect(try failure { _ = try apple.exchange(code: code) } == .refused(.invalidGrant))
        #expect(apple.requests.isEmpty)
    }

    @Test func `A refresh token is revoked, and an empty 200 says so`() throws {
        for body in ["", "{}"] {
            let apple = AppleServerBench(200, body)
            try apple.revoke()
            #expect(
                try apple.fields() == [
                    "client_id=com.finnova.app", "token=r0.token", "token_type_hint=refresh_token",
                ])
            #expect(apple.requests.map(\.url) == ["https://appleid.apple.com/auth/revoke"])
        }
    }

    @Test(arguments: AppleErrorCode.allCases, [200, 400, 401, 403])
    func `An error is an error, whatever status it comes with`(_ code: AppleErrorCode, _ status: Int) throws {
        let word = code == .other ? "something_new" : code.rawValue
        let apple = AppleServerBench(status, #"{"error":"\#(word)","error_description":"canary"}"#)
        for failed in [try failure { _ = try apple.exchange() }, try failure { try apple.revoke() }] {
            #expect(failed == .refused(code))
            #expect(failed?.word == "apple_\(code.rawValue)" && failed?.detail == nil)
        }
    }

    /// apple-signin-auth took it for tokens.
    @Test func `An error beside tokens is an error`() throws {
        let apple = AppleServerBench(200, AppleServerBench.tokens(TokenForge(), ["error": "invalid_grant"]))
        #expect(try failure { _ = try apple.exchange() } == .refused(.invalidGrant))
    }

    @Test(arguments: [JSON.null, .integer(1), .array([]), [:], ""])
    func `An error that is no word is an error`(_ error: JSON) throws {
        let apple = AppleServerBench(400, JSON.object(["error": error]).text)
        #expect(try failure { _ = try apple.exchange() } == .refused(.other))
    }

    @Test(arguments: [201, 204, 301, 302, 404, 408, 429, 500, 502, 503])
    func `Tokens or errors under another status are an outage`(_ status: Int) throws {
        for body in ["", AppleServerBench.tokens(), #"{"error":"invalid_grant"}"#] {
            let apple = AppleServerBench(status, body)
            #expect(try failure { _ = try apple.exchange() } == .unavailable(.status(status)))
            #expect(try failure { try apple.revoke() } == .unavailable(.status(status)))
        }
    }

    @Test(arguments: [400, 401, 403], ["", "<html>Forbidden</html>", "{}", "[]", #"{"error":"a","error":"b"}"#])
    func `A refusal without a word of Apple's is an outage, and never the code's fault`(
        _ status: Int, _ body: String
    ) throws {
        let apple = AppleServerBench(status, body)
        #expect(try failure { _ = try apple.exchange() } == .unavailable(.status(status)))
    }

    private static let unreadable: [String] = [
        "", "<html></html>", "null", "[]", "{}", AppleServerBench.tokens() + "x",
        #"{"refresh_token":"a","refresh_token":"b","id_token":"c"}"#,
        AppleServerBench.tokens() + String(repeating: " ", count: 65_536),
        AppleServerBench.tokens(TokenForge(), ["refresh_token": JSON?.none]),
        AppleServerBench.tokens(TokenForge(), ["refresh_token": .null]),
        AppleServerBench.tokens(TokenForge(), ["refresh_token": ""]),
        AppleServerBench.tokens(TokenForge(), ["refresh_token": .integer(1)]),
        AppleServerBench.tokens(TokenForge(), ["refresh_token": "a\nb"]),
        AppleServerBench.tokens(TokenForge(), ["refresh_token": .string(String(repeating: "r", count: 4097))]),
        AppleServerBench.tokens(TokenForge(), ["id_token": JSON?.none]),
        AppleServerBench.tokens(TokenForge(), ["id_token": .string(String(repeating: "i", count: 8193))]),
        AppleServerBench.tokens(TokenForge(), ["access_token": .integer(1)]),
    ]

    @Test(arguments: unreadable.indices)
    func `A 200 that does not hold what it must has failed`(_ index: Int) throws {
        let apple = AppleServerBench(200, Self.unreadable[index])
        #expect(try failure { _ = try apple.exchange() } == .unavailable(.unreadable))
    }

    @Test(arguments: ["<html></html>", " ", "null", "[]"])
    func `A page that answers 200 in Apple's place revokes nothing`(_ body: String) throws {
        #expect(try failure { try AppleServerBench(200, body).revoke() } == .unavailable(.unreadable))
    }

    @Test func `That there was no answer is passed on in the transport's words`() throws {
        let reason = NoAppleServerAnswer(code: "timeout", words: "it took too long")
        let failed = try failure { _ = try AppleServerBench(reason).exchange() }
        #expect(failed == .unavailable(.noAnswer(reason)))
        #expect(failed?.word == "apple_no_answer" && failed?.detail == "timeout: it took too long")
    }

    @Test func `Only what an outage or the operator can change is worth another attempt`() {
        let hopeless = AppleErrorCode.allCases.filter { !AppleServerFailure.refused($0).mayPassLater }
        #expect(hopeless == [.invalidRequest, .invalidGrant, .unsupportedGrantType, .invalidScope])
        let outages: [AppleServerOutage] = [
            .noAnswer(NoAppleServerAnswer(code: "tls", words: "x")), .status(500), .unreadable, .clientSecret("x"),
        ]
        #expect(outages.allSatisfy { AppleServerFailure.unavailable($0).mayPassLater })
        let words =
            AppleErrorCode.allCases.map { AppleServerFailure.refused($0).word }
            + outages.map { AppleServerFailure.unavailable($0).word }
        #expect(Set(words).count == words.count)
    }

    @Test func `The migration: a token, then the old team's question and the new team's`() throws {
        let apple = AppleServerBench(200, #"{"access_token":"m0.canary","token_type":"Bearer","expires_in":3600}"#)
        let token = try apple.server().migrationToken(clientID: AppleServerBench.clientID, at: TokenForge.now)
        #expect(token.expiresAt == TokenForge.now.adding(seconds: 3600))
        #expect(
            try apple.fields() == [
                "client_id=com.finnova.app", "grant_type=client_credentials", "scope=user.migration",
            ])
        #expect(apple.requests.map(\.url) == ["https://appleid.apple.com/auth/token"])

        let old = AppleServerBench(200, #"{"transfer_sub":"760417.ebbf12acbc78e1be1668ba852d492d8a.1827"}"#)
        let identifier = try old.server().transferIdentifier(
            sub: TokenForge.subject, target: "TEAMB12345", clientID: AppleServerBench.clientID, token: token,
            at: TokenForge.now)
        #expect(identifier == "760417.ebbf12acbc78e1be1668ba852d492d8a.1827")
        #expect(
            try old.fields() == ["client_id=com.finnova.app", "sub=\(TokenForge.subject)", "target=TEAMB12345"])

        let new = AppleServerBench(
            200, #"{"sub":"000001.new.1","email":"x@privaterelay.appleid.com","is_private_email":"true"}"#)
        let person = try new.server().person(
            transferIdentifier: identifier, clientID: AppleServerBench.clientID, token: token, at: TokenForge.now)
        #expect(person.subject == "000001.new.1")
        #expect(
            person.email == AppleEmail(address: "x@privaterelay.appleid.com", isVerified: nil, isPrivate: true))
        #expect(try new.fields() == ["client_id=com.finnova.app", "transfer_sub=\(identifier)"])
        for apple in [old, new] {
            #expect(apple.requests.map(\.bearer) == ["m0.canary"])
            #expect(apple.requests.map(\.url) == ["https://appleid.apple.com/auth/usermigrationinfo"])
        }
    }

    @Test(arguments: ["", "{}", #"{"transfer_sub":""}"#, #"{"transfer_sub":1,"sub":null}"#, #"{"access_token":"a b"}"#])
    func `A migration that answers without the person has failed`(_ body: String) throws {
        let apple = AppleServerBench(200, #"{"access_token":"m0"}"#)
        let server = try apple.server()
        let (id, now) = (AppleServerBench.clientID, TokenForge.now)
        let token = try server.migrationToken(clientID: id, at: now)
        #expect(token.expiresAt == now.adding(seconds: 300))
        apple.answer = .success(AppleServerAnswer(status: 200, body: Array(body.utf8)))
        let questions: [() throws -> Void] = [
            { _ = try server.migrationToken(clientID: id, at: now) },
            { _ = try server.transferIdentifier(sub: "s", target: "t", clientID: id, token: token, at: now) },
            { _ = try server.person(transferIdentifier: "t", clientID: id, token: token, at: now) },
        ]
        for question in questions { #expect(try failure(question) == .unavailable(.unreadable)) }
    }

    @Test func `No token, code or secret shows when anything of the exchange is printed`() throws {
        let apple = AppleServerBench(200, AppleServerBench.tokens())
        let tokens = try apple.exchange(code: "canary-code")
        apple.answer = .success(AppleServerAnswer(status: 200, body: Array(#"{"access_token":"canary-m"}"#.utf8)))
        let server = try apple.server()
        let migration = try server.migrationToken(clientID: AppleServerBench.clientID, at: TokenForge.now)
        let answer = AppleServerAnswer(status: 200, body: Array("canary".utf8))
        let canary = Array("canary".utf8).map(String.init).joined(separator: ", ")
        for value in [tokens, migration, answer, apple.requests, [tokens], server] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("canary") && !text.contains(canary) && !text.contains("eyJ"), "\(text)")
            }
        }
    }
}
