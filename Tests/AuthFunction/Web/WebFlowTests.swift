import Accounts
import AppleID
import JOSE
import TestSupport
import Testing

/// The web flow when all is well.
struct WebFlowTests {
    var visit = WebVisit()

    @Test mutating func `The browser is sent to Apple with what OpenID Connect and form_post want`() throws {
        let answer = try visit.start(query: WebVisit.query())
        #expect(answer.status == 303)
        #expect(answer.body.isEmpty)
        #expect(answer.headers["cache-control"] == "no-store")
        #expect(answer.headers["referrer-policy"] == "no-referrer")
        let page = try ApplePage(try #require(answer.headers["location"]?.string))
        #expect(page.address == "https://appleid.apple.com/auth/authorize")
        #expect(
            page.parameters.fields.map(\.name) == [
                "client_id", "redirect_uri", "response_type", "response_mode", "scope", "nonce", "state",
            ])
        #expect(page.parameters["client_id"] == "com.finnova.web")
        #expect(page.parameters["redirect_uri"] == "https://auth.finnova.example/auth/apple/callback")
        #expect(page.parameters["response_type"] == "code id_token")
        #expect(page.parameters["response_mode"] == "form_post")
        #expect(page.parameters["scope"] == "name email")
        #expect(page.nonce.utf8.count == 22)
        #expect(page.state.utf8.count < 1000, "a state travels in an address")
        let cookie = try #require(answer.headers["set-cookie"]?.string)
        #expect(
            cookie.wholeMatch(
                of: /__Host-auth-apple=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=None/) != nil
        )
    }

    @Test mutating func `The browser comes back to the app with a code, the app's state, and who answers (RFC 9207)`()
        throws
    {
        let page = try visit.start()
        let answer = try visit.finish(page.answer())
        #expect(answer.headers["cache-control"] == "no-store")
        #expect(answer.headers["referrer-policy"] == "no-referrer")
        #expect(answer.log["outcome"] == "ok")
        let landing = try Landing(answer)
        #expect(landing.address == WebVisit.appURL)
        #expect(landing.parameters.fields.map(\.name) == ["code", "iss", "state"])
        #expect(landing.parameters["state"] == "app state/1")
        #expect(landing.parameters["iss"] == "https://api.finnova.example")
        #expect(try landing.require("code").utf8.count < 1200, "a code travels in an address")
    }

    @Test mutating func `The code and the verifier open a session: 201, then 200 with the same account`() throws {
        var accounts: [UUIDv7?] = []
        for status in [201, 200] {
            let answer = try visit.exchange(try visit.code())
            #expect(answer.status == status)
            #expect(answer.headers["cache-control"] == "no-store")
            #expect(answer.json["is_new"] == .bool(status == 201))
            #expect(answer.json["user"]?["email"] == "x7k2m9@privaterelay.appleid.com")
            #expect(answer.log["account_created"] == .bool(status == 201))
            #expect(answer.log["sub_hash"] != nil)
            let me = try visit.doorway.send("GET", "/auth/me", accessToken: answer.accessToken)
            #expect(me.status == 200)
            accounts.append(answer.accountID)
        }
        #expect(accounts[0] != nil && accounts[0] == accounts[1])
    }

    @Test mutating func `A native sign-in of the same person is the same account`() throws {
        let native = try visit.doorway.signIn()
        let web = try visit.exchange(try visit.code())
        #expect(web.status == 200)
        #expect(web.accountID == native.accountID)
    }

    @Test mutating func `A return address that has a query keeps it`() throws {
        let page = try visit.start(["return_url": WebVisit.siteURL, "state": String?.none])
        let landing = try Landing(try visit.finish(page.answer()))
        #expect(landing.address == "https://finnova.example/signed-in")
        #expect(landing.parameters.fields.map(\.name) == ["from", "code", "iss"])
        #expect(landing.parameters["from"] == "apple")
    }

    @Test(arguments: [
        (#"{"name":{"firstName":"Ana","lastName":"Pérez"},"email":"mallory@example.com"}"#, "Ana Pérez"),
        (#"{"name":{"firstName":"Ana"}}"#, "Ana"), (#"{"name":"Ana Pérez"}"#, "Ana Pérez"), (#"{"name":null}"#, nil),
        (#"{"name":{"firstName":7}}"#, nil), ("{}", nil), ("[]", nil), ("", nil), ("{", nil), ("null", nil),
        (#"{"name":{"firstName":"A"},"name":{"firstName":"B"}}"#, nil), ("\u{FEFF}{}", nil), ("Ana", nil),
        (String(repeating: "[", count: 5000), nil),
    ])
    mutating func `The name of Apple's user is kept, and no shape of it ever fails the login`(
        _ user: String, _ name: String?
    ) throws {
        let page = try visit.start()
        let code = try Landing(try visit.finish(page.answer(["user": user]))).require("code")
        let answer = try visit.exchange(code)
        #expect(answer.status == 201)
        #expect(answer.json["user"]?["full_name"] == .string(orNull: name))
        #expect(answer.json["user"]?["email"] == "x7k2m9@privaterelay.appleid.com", "never the unsigned one")
    }

    @Test mutating func `A person without an e-mail address signs in`() throws {
        let page = try visit.start()
        let token = page.forge().with(["email": JSON?.none]).token
        let code = try Landing(try visit.finish(page.answer(token: token))).require("code")
        let answer = try visit.exchange(code)
        #expect(answer.status == 201)
        #expect(answer.json["user"]?["email"] == .null)
    }

    @Test mutating func `Apple's code is left to be exchanged once, with the redirect_uri and for the Services ID`()
        throws
    {
        #expect(try visit.exchange(visit.code()).status == 201)
        #expect(visit.doorway.errands.isEmpty, "nobody is configured to do it")
        visit = WebVisit(Doorway(codes: .refused, web: WebVisit.client))
        let code = try visit.code()
        let answer = try visit.exchange(code)
        _ = try visit.exchange(code)
        #expect(visit.doorway.errands.count == 1, "a repetition leaves nothing to do")
        guard case .exchange(let left)? = visit.doorway.errands.first else {
            Issue.record("nothing is left to do")
            return
        }
        #expect(left.code == SecretBytes(Array(WebVisit.appleCode.utf8)))
        #expect(left.redirectURI == "https://auth.finnova.example/auth/apple/callback")
        #expect(left.clientID == "com.finnova.web")
        #expect(left.subject == TokenForge.subject)
        #expect(left.accountID == answer.accountID)
    }

    @Test mutating func `Two flows at once in one browser both end well`() throws {
        let first = try visit.start(["state": "first"])
        let cookie = visit.cookie
        let second = try visit.start(["state": "second"])
        #expect(visit.cookie == cookie, "the browser's value is used again")
        #expect(first.nonce != second.nonce && first.state != second.state)
        for (page, state) in [(first, "first"), (second, "second")] {
            let landing = try Landing(try visit.finish(page.answer()))
            #expect(landing.parameters["state"] == state)
            #expect(try visit.exchange(try landing.require("code")).status < 300)
        }
    }

    @Test(arguments: [
        "x", "", "=", "__Host-auth-apple=short", "__Host-auth-apple=", "__Host-auth-apple",
        "__host-auth-apple=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ])
    mutating func `A cookie that cannot be ours is replaced`(_ cookie: String) throws {
        visit.cookie = cookie
        let page = try visit.start()
        #expect(visit.cookie != cookie)
        #expect(try visit.finish(page.answer()).status == 303)
    }

    @Test mutating func `The cookie is found among others`() throws {
        let page = try visit.start()
        visit.cookie = "a=1; __Host-auth-apple-2=x;\(visit.cookie ?? ""); b=2=3"
        #expect(try visit.finish(page.answer()).status == 303)
    }

    @Test mutating func `A rotation of our keys in the middle of a flow ends no flow`() throws {
        var keys = Doorway.signingKeys
        var before = WebVisit(Doorway(web: WebVisit.client, signingKeys: keys))
        let page = try before.start()
        let rotation = keys.rotate(
            next: TokenForge.newKey("SIGNING003", for: .es256),
            at: TokenForge.now.adding(seconds: SigningKeySet.announcementSeconds), accessTokenSeconds: 900)
        #expect(rotation == .rotated)
        var after = WebVisit(Doorway(web: WebVisit.client, signingKeys: keys))
        after.cookie = before.cookie
        let code = try Landing(try after.finish(page.answer())).require("code")
        #expect(try after.exchange(code).status == 201)
        // A code of before is good after as well.
        let early = try before.code()
        #expect(try after.exchange(early).status == 200)
    }

    /// The code says when Apple vouched for the person, not when it was made.
    @Test(arguments: [(Int64(60), 201), (61, 401)])
    mutating func `A code of before a deletion makes nobody anew`(_ seconds: Int64, _ status: Int) throws {
        let (first, second) = (try visit.code(), try visit.code())
        let id = try #require(try visit.exchange(first).accountID)
        let time = TokenForge.now.adding(seconds: seconds)
        _ = try visit.doorway.users.change(account: .id(id), once: nil, at: time) { account, _ in
            .delete(
                revoking: true,
                remembering: Departure.mark(of: account, at: time, using: TokenForge.cryptography),
                AuditEntry(time: time, event: .accountDeleted, accountID: id, origin: TestService.origin))
        }
        let late = try visit.exchange(second)
        #expect(late.status == status && late.log["reason"]?.string == (status == 401 ? "too_old" : nil))
    }

    @Test mutating func `A disabled account gets 403`() throws {
        let signedIn = try visit.exchange(try visit.code())
        let id = try #require(signedIn.accountID)
        _ = try visit.doorway.users.change(account: .id(id), once: nil, at: TokenForge.now) { account, sessions in
            var account = account
            account.disabledAt = TokenForge.now
            return .update(account, ending: sessions, audit: [])
        }
        #expect(try visit.exchange(try visit.code()).code == "account_disabled")
    }
}
