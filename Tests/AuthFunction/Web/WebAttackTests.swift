import Accounts
import AppleID
import AuthFunction
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing
import UserStores

/// The web flow under attack. Each test is an attack as it would be made, and what becomes of it.
struct WebAttackTests {
    var victim = WebVisit()

    /// Another browser before the same function.
    private func other() -> WebVisit { WebVisit(victim.doorway) }

    private func expectPage(_ answer: Answer, _ reason: String) {
        #expect(answer.status == 400)
        #expect(answer.errors == ["state: not_valid"], "the caller is not told which check failed")
        #expect(answer.log["reason"] == .string(reason))
        #expect(answer.headers["location"] == nil)
    }

    private func expectReturn(
        _ answer: Answer, _ error: String, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let landing = try Landing(answer)
        #expect(landing.address == WebVisit.appURL, sourceLocation: sourceLocation)
        #expect(landing.parameters.fields.map(\.name) == ["error", "iss", "state"], sourceLocation: sourceLocation)
        #expect(landing.parameters["error"] == error, sourceLocation: sourceLocation)
        #expect(answer.log["outcome"] == .string(error), sourceLocation: sourceLocation)
        #expect(answer.log["reason"] == .string(reason), sourceLocation: sourceLocation)
    }

    // MARK: Login CSRF (RFC 6749 §10.12)

    @Test mutating func `Login CSRF: an attacker's answer of Apple's in the victim's browser is refused`() throws {
        var attacker = other()
        let answer = try attacker.start().answer(subject: "attacker")
        // The victim has never been here.
        expectPage(try victim.finish(answer), "state_of_another_browser")
        // The victim is in a flow of their own.
        _ = try victim.start()
        expectPage(try victim.finish(answer), "state_of_another_browser")
        #expect(try Landing(try attacker.finish(answer)).parameters["code"] != nil, "the attack itself was good")
    }

    @Test mutating func `Login CSRF: two cookies of our name, one of them the attacker's, are none`() throws {
        var attacker = other()
        let answer = try attacker.start().answer()
        _ = try victim.start()
        let (own, planted) = (victim.cookie ?? "", attacker.cookie ?? "")
        for cookies in ["\(own); \(planted)", "\(planted); \(own)"] {
            expectPage(try victim.finish(answer, headers: ["cookie": .string(cookies)]), "state_of_another_browser")
        }
    }

    @Test mutating func `Login CSRF: an answer without a state is refused`() throws {
        let page = try victim.start()
        for state in [String?.none, ""] {
            let answer = try victim.finish(page.answer(["state": state]))
            #expect(answer.status == 400)
            #expect(answer.errors == ["state: required"])
            #expect(answer.headers["location"] == nil)
        }
    }

    // MARK: Code injection, mix-up, replay of tokens

    @Test mutating func `Code injection: another person's Apple code beside one's own token is refused by c_hash`()
        throws
    {
        let page = try victim.start()
        let answer = page.answer(["code": "c1.0.stolen.of-somebody-else"])
        try expectReturn(try victim.finish(answer), "server_error", "c_hash")
    }

    @Test(arguments: [JSON?.none, .null, "", .integer(1), "not base64url!", "x3KqkUYpqe2mZRkcAd-kXA"])
    mutating func `Code injection: a token that names no code, or names it badly, binds none`(_ hash: JSON?) throws {
        let page = try victim.start()
        let token = page.forge().with(["c_hash": hash]).token
        try expectReturn(try victim.finish(page.answer(token: token)), "server_error", "c_hash")
    }

    @Test mutating func `Token replay: a token of another flow is refused by its nonce`() throws {
        let earlier = try victim.start().forge().token
        let page = try victim.start()
        try expectReturn(try victim.finish(page.answer(token: earlier)), "server_error", "nonce_mismatch")
    }

    @Test mutating func `Token replay: no nonce is no nonce, also where Apple says that it supports none`() throws {
        for supported in [JSON.bool(true), .bool(false), "false"] {
            let page = try victim.start()
            let token = page.forge().with(["nonce": JSON?.none, "nonce_supported": supported]).token
            try expectReturn(try victim.finish(page.answer(token: token)), "server_error", "nonce_missing")
        }
        // The digest that apps may send is not what was asked for here.
        let page = try victim.start()
        let digest = Base64URL.encode(TokenForge.cryptography.sha256(Array(page.nonce.utf8)[...]))
        let token = page.forge().with(["nonce": .string(digest)]).token
        try expectReturn(try victim.finish(page.answer(token: token)), "server_error", "nonce_mismatch")
    }

    @Test mutating func `Mix-up: a token for the native app, or from another issuer, is refused`() throws {
        let changes: [(String, JSON, String)] = [
            ("aud", .string(TokenForge.audience), "audience"), ("aud", "com.other.web", "audience"),
            ("aud", "com.finnova.web.evil", "audience"), ("aud", "COM.finnova.web", "audience"),
            ("iss", "https://accounts.google.com", "issuer"), ("iss", "https://appleid.apple.com/", "issuer"),
        ]
        for (claim, value, reason) in changes {
            let page = try victim.start()
            let token = page.forge().with([claim: value]).token
            try expectReturn(try victim.finish(page.answer(token: token)), "server_error", reason)
        }
    }

    @Test(arguments: TokenForge.faults.filter { !$0.token.isEmpty })
    mutating func `A token that does not verify is refused here as everywhere`(_ fault: TokenForge.Fault) throws {
        let page = try victim.start()
        let answer = try victim.finish(page.answer(token: fault.token))
        #expect(try Landing(answer).parameters["code"] == nil)
        #expect(answer.log["outcome"] == "server_error")
    }

    // MARK: Theft of a code

    @Test mutating func `Code theft: who catches the code on its way has no verifier, and uses up nothing`() throws {
        let code = try victim.code()
        let thief = other()
        for verifier in [WebVisit.otherVerifier, WebVisit.challenge, String(WebVisit.verifier.reversed())] {
            let answer = try thief.exchange(code, verifier: verifier)
            #expect(answer.status == 401)
            #expect(answer.code == "invalid_token")
            #expect(answer.log["reason"] == "code_verifier")
        }
        let answer = try thief.exchange(code, verifier: nil)
        #expect(answer.status == 400)
        #expect(answer.errors == ["code_verifier: required"])
        #expect(try victim.exchange(code).status == 201, "the app itself is not kept out")
    }

    @Test
    mutating func `PKCE downgrade: no challenge, plain, or a challenge that is no digest is refused at the start`()
        throws
    {
        let changes: [([String: String?], [String])] = [
            (
                ["code_challenge": nil, "code_challenge_method": nil],
                ["code_challenge: required", "code_challenge_method: required"]
            ),
            (["code_challenge": ""], ["code_challenge: required"]),
            (["code_challenge": "AAAA"], ["code_challenge: not_43_base64url_characters"]),
            (
                ["code_challenge": String(repeating: "A", count: 44)],
                ["code_challenge: not_43_base64url_characters"]
            ),
            (["code_challenge_method": nil], ["code_challenge_method: required"]),
            (["code_challenge_method": "plain"], ["code_challenge_method: not_S256"]),
            (["code_challenge_method": "s256"], ["code_challenge_method: not_S256"]),
            (["code_challenge": WebVisit.challenge + "="], ["code_challenge: not_43_base64url_characters"]),
            (
                ["code_challenge": String(WebVisit.challenge.dropLast())],
                ["code_challenge: not_43_base64url_characters"]
            ),
            // The last character of 43 has two unused bits: another spelling of the same digest.
            (
                ["code_challenge": String(WebVisit.challenge.dropLast()) + "N"],
                ["code_challenge: not_43_base64url_characters"]
            ),
            (
                ["code_challenge": String(WebVisit.challenge.dropLast()) + "+"],
                ["code_challenge: not_43_base64url_characters"]
            ),
        ]
        for (change, errors) in changes {
            let answer = try victim.start(query: WebVisit.query(change))
            #expect(answer.status == 400)
            #expect(answer.errors == errors)
            #expect(answer.headers["location"] == nil && answer.headers["set-cookie"] == nil)
        }
    }

    @Test(arguments: [
        "", "short", String(repeating: "a", count: 42), String(repeating: "a", count: 129),
        String(repeating: "é", count: 43), WebVisit.verifier + "+",
    ])
    mutating func `A verifier is 43 to 128 unreserved characters (RFC 7636 §4.1)`(_ verifier: String) throws {
        let answer = try victim.exchange(try victim.code(), verifier: verifier)
        #expect(answer.status == 400)
        let reason = verifier.isEmpty ? "required" : "not_43_to_128_unreserved_characters"
        #expect(answer.errors == ["code_verifier: \(reason)"])
    }

    // MARK: Replay

    @Test mutating func `Replay: one flow opens one session, whatever codes were made of it`() throws {
        let page = try victim.start()
        let codes = try (0..<2).map { _ in try Landing(try victim.finish(page.answer())).require("code") }
        #expect(codes[0] != codes[1])
        #expect(try victim.exchange(codes[0]).status == 201)
        let answer = try victim.exchange(codes[1])
        #expect(answer.status == 401)
        #expect(answer.log["reason"] == "spent")
        // Not even when the flow has run out, and the code is a last one.
        victim.doorway.now = TokenForge.now.adding(seconds: 119)
        #expect(try victim.exchange(codes[1]).log["reason"] == "spent")
    }

    @Test mutating func `Replay: the last code of a flow, made at its very end, opens no second session`() throws {
        let page = try victim.start()
        #expect(try victim.exchange(try Landing(try victim.finish(page.answer())).require("code")).status == 201)
        victim.doorway.now = TokenForge.now.adding(seconds: 599)
        let token = page.forge(at: victim.doorway.now).token
        let last = try Landing(try victim.finish(page.answer(token: token))).require("code")
        victim.doorway.now = TokenForge.now.adding(seconds: 718)
        #expect(try victim.exchange(last).log["reason"] == "spent")
        victim.doorway.now = TokenForge.now.adding(seconds: 719)
        #expect(try victim.exchange(last).log["reason"] == "code_expired")
    }

    @Test mutating func `Replay: a code is good once; only the same request again gets the same answer, for a moment`()
        throws
    {
        let code = try victim.code()
        let first = try victim.exchange(code)
        #expect(first.status == 201)
        #expect(try victim.exchange(code).body == first.body, "the retry of a client whose answer was lost")
        let other = try victim.exchange(code, changes: ["deviceInfo": ["model": "Attacker"]])
        #expect(other.status == 401)
        #expect(other.log["reason"] == "spent")
        victim.doorway.now = TokenForge.now.adding(seconds: 11)
        #expect(try victim.exchange(code).log["reason"] == "spent")
    }

    @Test mutating func `An Idempotency-Key names an exchange as it names a sign-in`() throws {
        let code = try victim.code()
        let first = try victim.exchange(code, key: "key-1")
        victim.doorway.now = TokenForge.now.adding(seconds: 60)
        #expect(try victim.exchange(code, key: "key-1").body == first.body)
        #expect(try victim.exchange(code, key: "key-2").log["reason"] == "spent")
        #expect(try victim.exchange(code, key: String(repeating: "k", count: 256)).status == 400)
    }

    @Test mutating func `What has expired is refused: the state after ten minutes, the code after two`() throws {
        let page = try victim.start()
        let code = try victim.code()
        victim.doorway.now = TokenForge.now.adding(seconds: 119)
        _ = try Landing(try victim.finish(page.answer()))
        victim.doorway.now = TokenForge.now.adding(seconds: 120)
        let late = try victim.exchange(code)
        #expect(late.status == 401)
        #expect(late.log["reason"] == "code_expired")
        victim.doorway.now = TokenForge.now.adding(seconds: 600)
        expectPage(try victim.finish(page.answer()), "state_expired")
    }

    // MARK: Forgery

    @Test mutating func `A state or code of which any byte is another is none of ours`() throws {
        let page = try victim.start()
        let code = try victim.code()
        for (text, isState) in [(page.state, true), (code, false)] {
            let bytes = Array(text.utf8)
            for index in stride(from: 0, to: bytes.count, by: 7) {
                var changed = bytes
                changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                try expectNone(String(decoding: changed, as: UTF8.self), of: page, isState: isState)
            }
            for other in [
                "", ".", "..", String(text.dropLast()), text + "A", text + ".", "x." + text, text.uppercased(),
                String(text.drop { $0 != "." }), String(repeating: "A", count: 9000),
            ] where !other.isEmpty {
                try expectNone(other, of: page, isState: isState)
            }
        }
    }

    private func expectNone(_ text: String, of page: ApplePage, isState: Bool) throws {
        if isState {
            expectPage(try victim.finish(page.answer(["state": text])), "state")
        } else {
            let answer = try victim.exchange(text)
            #expect(answer.status == 401)
            #expect(answer.log["reason"] == "code")
        }
    }

    @Test mutating func `A state is no code and a code is no state`() throws {
        let page = try victim.start()
        let code = try victim.code()
        try expectNone(page.state, of: page, isState: false)
        try expectNone(code, of: page, isState: true)
    }

    @Test
    mutating func `A state or code of a deployment with other keys is none of ours, though the key has the same name`()
        throws
    {
        let keys = SigningKeySet(
            current: TokenForge.newKey("SIGNING001", for: .es256), next: TokenForge.newKey("SIGNING002", for: .es256),
            at: TokenForge.now)
        var foreign = WebVisit(Doorway(web: WebVisit.client, signingKeys: keys))
        let page = try foreign.start()
        let code = try foreign.code()
        victim.cookie = foreign.cookie
        try expectNone(page.state, of: page, isState: true)
        try expectNone(code, of: page, isState: false)
    }

    // MARK: Open redirect (RFC 9700 §4.11)

    @Test(arguments: [
        "https://attacker.example/", "com.finnova.app:/signed-in/", "com.finnova.app:/signed-in?x=1",
        "com.finnova.app:/signed-in#x", "com.finnova.app:/signed-i", "com.finnova.app:/SIGNED-IN",
        "COM.finnova.app:/signed-in", "com.finnova.app:/signed%2Din", "com.finnova.app:/signed-in/../x",
        "com.finnova.app://signed-in", "com.finnova.app:/signed-in ", " com.finnova.app:/signed-in",
        "com.finnova.app:/signed-in\r\nSet-Cookie: a=1", "com.finnova.app:/signed-in%0d%0aSet-Cookie:%20a=1",
        "https://finnova.example/signed-in", "https://finnova.example/signed-in?from=apple&",
        "https://finnova.example/signed-in?from=apple&x=https://attacker.example",
        "https://finnova.example@attacker.example/signed-in?from=apple",
        "https://finnova.example.attacker.example/signed-in?from=apple",
        "https://attacker.example/https://finnova.example/signed-in?from=apple",
        "https://finnova.example:443/signed-in?from=apple", "http://finnova.example/signed-in?from=apple",
        "//finnova.example/signed-in?from=apple", "/signed-in", "javascript:alert(1)", "data:text/html,x",
        "https://finnova.example\\@attacker.example/", "https://f\u{131}nnova.example/signed-in?from=apple",
        "com.finnova.app:/signed-in\u{0}",
    ])
    mutating func `Open redirect: an address that is not on the list, byte for byte, is gone to by nobody`(
        _ url: String
    ) throws {
        let answer = try victim.start(query: WebVisit.query(["return_url": url]))
        #expect(answer.status == 400)
        #expect(answer.errors == ["return_url: not_registered"])
        #expect(answer.headers["location"] == nil && answer.headers["set-cookie"] == nil)
    }

    @Test mutating func `Open redirect: an address that was taken off the list is gone to no more`() throws {
        let page = try victim.start()
        let narrowed = WebClient(
            id: WebVisit.client.id, callbackURL: WebVisit.client.callbackURL,
            authorizeURL: WebVisit.client.authorizeURL, returnURLs: [WebVisit.siteURL])
        var later = WebVisit(Doorway(web: narrowed))
        later.cookie = victim.cookie
        expectPage(try later.finish(page.answer()), "return_url")
        expectPage(try later.finish(page.answer(["id_token": nil, "error": "user_cancelled_authorize"])), "return_url")
    }

    @Test mutating func `Open redirect: without a state that opens here not even an error goes anywhere`() throws {
        let page = try victim.start()
        let fields = [("error", "user_cancelled_authorize"), ("return_url", "https://attacker.example/")]
        #expect(try victim.finish(fields).status == 400)
        expectPage(try victim.finish(fields + [("state", page.state + "A")]), "state")
        victim.cookie = nil
        expectPage(try victim.finish(fields + [("state", page.state)]), "state_of_another_browser")
    }

    @Test mutating func `What the app calls its state cannot become another parameter or header`() throws {
        let hostile = "x&code=evil&iss=evil#fragment %0d%0a"
        let page = try victim.start(["state": hostile])
        let answer = try victim.finish(page.answer())
        let landing = try Landing(answer)
        #expect(landing.parameters.fields.map(\.name) == ["code", "iss", "state"])
        #expect(landing.parameters["state"] == hostile)
        #expect(try victim.exchange(try landing.require("code")).status == 201)
    }

    // MARK: What Apple answers

    @Test(arguments: [
        ("user_cancelled_authorize", "access_denied", "cancelled"), ("user_cancelled", "server_error", "apple_error"),
        ("<script>canary</script>", "server_error", "apple_error"),
    ])
    mutating func `Apple's error is told to the app in its own address, in our words`(
        _ error: String, _ told: String, _ reason: String
    ) throws {
        let page = try victim.start()
        let answer = try victim.finish([("state", page.state), ("error", error)])
        try expectReturn(answer, told, reason)
        #expect(!answer.eventText.contains("canary"))
        // An error beside a token is an error.
        try expectReturn(try victim.finish(page.answer(["error": error])), told, reason)
    }

    @Test mutating func `Apple's answer without a token or a code opens nothing`() throws {
        for change in [
            ["id_token": String?.none], ["code": nil], ["id_token": ""], ["code": ""],
            ["code": String(repeating: "c", count: 1025)],
        ] {
            let page = try victim.start()
            try expectReturn(try victim.finish(page.answer(change)), "server_error", "incomplete")
        }
    }

    @Test mutating func `An outage of Apple's keys is told as one that passes`() throws {
        var visit = WebVisit(
            Doorway(
                keys: FixedKeys(unavailable: KeysUnavailable(reason: "connection refused", retryAfter: 7)),
                web: WebVisit.client))
        let page = try visit.start()
        try expectReturn(try visit.finish(page.answer()), "temporarily_unavailable", "connection refused")
    }

    @Test mutating func `An outage of the store is 503, and the code stays good`() throws {
        let code = try victim.code()
        let broken = WebVisit(Doorway(users: FailingUsers(error: .unavailable(reason: "down")), web: WebVisit.client))
        let answer = try broken.exchange(code)
        #expect(answer.status == 503)
        #expect(answer.code == "store_unavailable")
        #expect(try victim.exchange(code).status == 201)
    }
}
