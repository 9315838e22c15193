import Accounts
import AuthFunction
import JOSE
import TestSupport
import Testing
import UserStores

/// What the routes of the web flow take, and what they are when it is off.
struct WebRequestTests {
    var visit = WebVisit()

    private static let routes = [
        ("GET", "/auth/apple/authorize"), ("POST", "/auth/apple/callback"), ("POST", "/auth/apple/exchange"),
    ]

    @Test(arguments: routes)
    func `Off unless configured: the routes are none`(_ method: String, _ path: String) throws {
        let answer = try Doorway().answer(method, path, body: "{}")
        #expect(answer.status == 404)
        #expect(answer.code == "not_found")
    }

    @Test(arguments: [
        ("HEAD", "/auth/apple/authorize", "GET"), ("POST", "/auth/apple/authorize", "GET"),
        ("GET", "/auth/apple/callback", "POST"), ("GET", "/auth/apple/exchange", "POST"),
        ("POST", "/auth/providers", "GET, HEAD"),
    ])
    func `Each route takes its own method`(_ method: String, _ path: String, _ allowed: String) throws {
        let answer = try visit.doorway.answer(method, path)
        #expect(answer.status == 405)
        #expect(answer.headers["allow"] == .string(allowed))
    }

    @Test func `The log says the route by its name, and never the query`() throws {
        let answer = try visit.start(query: WebVisit.query(["state": "canary"]))
        #expect(answer.log["route"] == "GET /auth/apple/authorize")
        #expect(!answer.log.text.contains("canary"))
    }

    // MARK: The start

    @Test func `Every parameter that is wrong is named, all of them at once`() throws {
        let answer = try visit.start(query: "code_challenge=x&code_challenge_method=plain&state=%00")
        #expect(answer.status == 400)
        #expect(
            answer.errors == [
                "return_url: required", "code_challenge: not_43_base64url_characters",
                "code_challenge_method: not_S256", "state: not_printable_ascii_of_at_most_512_bytes",
            ])
    }

    @Test(arguments: ["return_url", "code_challenge", "code_challenge_method", "state"])
    func `A parameter that comes twice is refused, also with one value`(_ name: String) throws {
        let query = WebVisit.query()
        let field = try #require(query.split(separator: "&").first { $0.hasPrefix("\(name)=") })
        for twice in [query + "&" + field, query + "&\(name)=", "\(name)=x&" + query] {
            let answer = try visit.start(query: twice)
            #expect(answer.status == 400)
            #expect(answer.errors == ["\(name): duplicate"])
        }
    }

    @Test func `Parameters that nobody knows are passed over (RFC 6749 §3.1)`() throws {
        let query = WebVisit.query() + "&client_id=evil&redirect_uri=https://attacker.example&nonce=evil&scope=x"
        let page = try ApplePage(try #require(try visit.start(query: query).headers["location"]?.string))
        #expect(page.parameters["client_id"] == "com.finnova.web")
        #expect(page.parameters["redirect_uri"] == WebVisit.client.callbackURL)
        #expect(page.nonce != "evil")
    }

    @Test(arguments: [
        "%", "%4", "%zz=1", "a=%ff", "=x", "state=\u{e9}", String(repeating: "a=1&", count: 33),
    ])
    func `A query that is no form is refused`(_ query: String) throws {
        let answer = try visit.start(query: query)
        #expect(answer.status == 400)
        #expect(answer.errors == ["query: not_a_form"])
    }

    @Test(arguments: [
        (String(repeating: "s", count: 512), true), (String(repeating: "\"", count: 512), true), (" ~!", true),
        (String(repeating: "s", count: 513), false), ("\u{7F}", false), ("\n", false), ("é", false), ("\u{0}", false),
    ])
    mutating func `The app's state is printable ASCII of at most 512 bytes, and comes back as it was`(
        _ state: String, _ isTaken: Bool
    ) throws {
        guard isTaken else {
            let answer = try visit.start(query: WebVisit.query(["state": state]))
            #expect(answer.errors == ["state: not_printable_ascii_of_at_most_512_bytes"])
            return
        }
        let page = try visit.start(["state": state])
        #expect(try Landing(try visit.finish(page.answer())).parameters["state"] == state)
    }

    // MARK: Apple's form

    @Test(arguments: ["state", "code", "id_token", "error", "user"])
    mutating func `A field of Apple's form that comes twice is refused`(_ name: String) throws {
        let page = try visit.start()
        let value = page.answer().first { $0.0 == name }?.1 ?? "x"
        let answer = try visit.finish(page.answer([name: value]) + [(name, value)])
        #expect(answer.status == 400)
        #expect(answer.errors == ["\(name): duplicate"])
        #expect(answer.headers["location"] == nil)
    }

    @Test(arguments: [
        "application/json", "multipart/form-data; boundary=x", "text/plain", "", "application/x-www-form-urlencoded2",
        "application/x-www-form-urlencoded, application/json",
    ])
    mutating func `Apple's answer is a form, and the other routes' bodies are none`(_ type: String) throws {
        let page = try visit.start()
        let answer = try visit.finish(page.answer(), headers: ["content-type": .string(type)])
        #expect(answer.status == 415)
        #expect(answer.headers["accept"] == "application/x-www-form-urlencoded")
        for path in ["/auth/apple", "/auth/apple/exchange", "/auth/refresh"] {
            let form: JSON = ["content-type": "application/x-www-form-urlencoded"]
            let answer = try visit.doorway.answer("POST", path, headers: form, body: "{}")
            #expect(answer.status == 415)
            #expect(answer.headers["accept"] == "application/json")
        }
    }

    @Test(arguments: [
        "application/x-www-form-urlencoded; charset=UTF-8", "APPLICATION/X-WWW-FORM-URLENCODED",
        " application/x-www-form-urlencoded ;x=y",
    ])
    mutating func `The type's case and parameters do not matter`(_ type: String) throws {
        let page = try visit.start()
        #expect(try visit.finish(page.answer(), headers: ["content-type": .string(type)]).status == 303)
    }

    @Test(arguments: ["%", "state=%zz", "a b", "state=\u{e9}", "=x", String(repeating: "a&", count: 33), "{}\n"])
    mutating func `A body that is no form is refused`(_ body: String) throws {
        _ = try visit.start()
        let answer = try visit.finish(body: body)
        #expect(answer.status == 400)
        #expect(answer.errors == ["body: not_a_form"])
    }

    @Test mutating func `A form that is too large is refused unread`() throws {
        let page = try visit.start()
        let large = String(repeating: "x", count: AuthFunction.maximumBodySize)
        #expect(try visit.finish(page.answer(["user": large])).status == 413)
    }

    // MARK: The exchange

    @Test func `Every field of an exchange that is wrong is named, all of them at once`() throws {
        let json: JSON = ["content-type": "application/json"]
        func errors(_ body: String) throws -> [String] {
            try visit.doorway.answer("POST", "/auth/apple/exchange", headers: json, body: body).errors
        }
        #expect(try errors("{}") == ["code: required", "code_verifier: required", "deviceInfo: required"])
        #expect(
            try errors(#"{"code":7,"code_verifier":null,"codeVerifier":[],"deviceInfo":1}"#) == [
                "code: not_a_string", "code_verifier: not_a_string", "deviceInfo: not_an_object",
            ])
        #expect(
            try errors(#"{"code":"","code_verifier":"a","codeVerifier":"b","device_info":{},"deviceInfo":{}}"#) == [
                "code: required", "code_verifier: duplicate", "code_verifier: not_43_to_128_unreserved_characters",
                "deviceInfo: duplicate",
            ])
        #expect(try errors(#"{"code":"a","code":"b"}"#) == ["body: not_json"])
    }

    @Test mutating func `An exchange takes camelCase, and no name or address from its body`() throws {
        let answer = try visit.exchange(
            try visit.code(), verifier: nil,
            changes: [
                "codeVerifier": .string(WebVisit.verifier), "deviceInfo": JSON?.none, "device_info": [:],
                "full_name": "Mallory", "email": "mallory@example.com",
            ])
        #expect(answer.status == 201)
        #expect(answer.json["user"]?["full_name"] == .null)
        let id = try #require(answer.accountID)
        #expect(try visit.doorway.users.account(id)?.profile.contactEmail == nil)
    }

    // MARK: Limits

    @Test(arguments: routes)
    func `Each of the routes counts as a sign-in, by address`(_ method: String, _ path: String) throws {
        let doorway = Doorway(limits: [.signIn: RateLimit(attempts: 2, seconds: 60)], web: WebVisit.client)
        func attempt(_ address: String) throws -> Answer {
            try doorway.answer(
                to: .success(Request(method: method, path: path, context: .init(sourceAddress: address))))
        }
        for _ in 0..<2 { #expect(try attempt("192.0.2.1").status != 429) }
        #expect(try attempt("192.0.2.1").status == 429)
        #expect(try attempt("192.0.2.2").status != 429)
    }
}

struct ProvidersTests {
    private func answer(_ query: String, _ doorway: Doorway = Doorway(web: WebVisit.client)) throws -> Answer {
        try doorway.answer("GET", "/auth/providers?\(query)", headers: nil)
    }

    private func apple(show: Bool, flow: String?, url: String? = nil) -> JSON {
        [
            "id": "apple", "show": .bool(show), "flow": .string(orNull: flow), "authorize_url": .string(orNull: url),
        ]
    }

    @Test func `iOS has the native button, configured or not`() throws {
        for doorway in [Doorway(), Doorway(web: WebVisit.client)] {
            let answer = try answer("platform=ios", doorway)
            #expect(answer.status == 200)
            #expect(
                answer.json == ["platform": "ios", "providers": .array([apple(show: true, flow: "native")])])
        }
    }

    @Test(arguments: ["android", "web"])
    func `Scenario 5: Android and the web have the web flow, or no button`(_ platform: String) throws {
        let url = "https://auth.finnova.example/auth/apple/authorize"
        let on = try answer("platform=\(platform)")
        #expect(
            on.json == [
                "platform": .string(platform), "providers": .array([apple(show: true, flow: "web", url: url)]),
            ])
        let off = try answer("platform=\(platform)", Doorway())
        #expect(
            off.json == ["platform": .string(platform), "providers": .array([apple(show: false, flow: nil)])])
    }

    @Test func `The address of the start lies where the callback does, under a base path too`() throws {
        let client = WebClient(
            id: "com.finnova.web", callbackURL: "https://api.finnova.example/v1/prod/auth/apple/callback",
            authorizeURL: "https://appleid.apple.com/auth/authorize", returnURLs: [])
        let answer = try answer("platform=web", Doorway(web: client))
        #expect(answer.body.contains(#""https://api.finnova.example/v1/prod/auth/apple/authorize""#))
    }

    @Test func `The answer may be kept for a moment, and read by any page: it is the same for everybody`() throws {
        let answer = try answer("platform=web")
        #expect(answer.headers["cache-control"] == "public, max-age=300")
        #expect(answer.headers["access-control-allow-origin"] == "*")
        #expect(answer.headers["access-control-allow-credentials"] == nil)
    }

    @Test(arguments: [
        ("", "platform: required"), ("platform=", "platform: required"), ("platform", "platform: required"),
        ("platform=iOS", "platform: not_ios_android_or_web"), ("platform=windows", "platform: not_ios_android_or_web"),
        ("platform=ios&platform=ios", "platform: duplicate"), ("%", "query: not_a_form"),
    ])
    func `Another platform is 400`(_ query: String, _ error: String) throws {
        let answer = try answer(query)
        #expect(answer.status == 400)
        #expect(answer.errors == [error])
    }
}
