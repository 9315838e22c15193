import Accounts
import AuthFunction
import Testing

/// The variables of the web flow.
struct WebConfigurationTests {
    private static let good: [String: String?] = [
        "AUDIENCES": "com.finnova.app,com.finnova.web", "WEB_CLIENT_ID": "com.finnova.web",
        "WEB_CALLBACK_URL": "https://auth.finnova.example/auth/apple/callback",
        "RETURN_URLS": "com.finnova.app:/signed-in, https://finnova.example/signed-in?from=apple",
    ]

    private func setting(_ changes: [String: String?] = [:]) -> Setting {
        Setting(Self.good.merging(changes) { $1 })
    }

    @Test func `Off when nothing is set, on when all is, with Apple's page as the default`() throws {
        #expect(try Setting().read().web == nil)
        let web = try #require(try setting().read().web)
        #expect(web.id == "com.finnova.web")
        #expect(web.callbackURL == "https://auth.finnova.example/auth/apple/callback")
        #expect(web.authorizeURL == "https://appleid.apple.com/auth/authorize")
        #expect(web.returnURL("com.finnova.app:/signed-in") != nil)
        #expect(web.returnURL("https://finnova.example/signed-in?from=apple") != nil)
        #expect(web.returnURL("https://finnova.example/signed-in") == nil)
    }

    @Test func `Some of it without the rest is refused, and each that is missing is named`() {
        let names = ["WEB_CLIENT_ID", "WEB_CALLBACK_URL", "RETURN_URLS"]
        for name in names {
            let problems = setting([name: nil]).problems
            #expect(problems.count == 1)
            #expect(problems.first?.hasPrefix("AUTH_APPLE_\(name) is not set: ") == true)
            var only: [String: String?] = ["AUDIENCES": "com.finnova.app,com.finnova.web"]
            only[name] = Self.good[name] ?? nil
            #expect(Setting(only).problems.count == 2)
        }
        let alone = Setting(["AUTHORIZE_URL": "https://appleid.apple.com/auth/authorize"]).problems
        #expect(alone.count == 3, "a page that nobody is sent to")
    }

    @Test func `The Services ID is one of the audiences, whole and by its bytes`() {
        for audiences in ["com.finnova.app", "com.finnova.web.x", "com.finnova", "COM.FINNOVA.WEB"] {
            let problems = setting(["AUDIENCES": audiences]).problems
            #expect(
                problems == [
                    "AUTH_APPLE_WEB_CLIENT_ID is not among the audiences: add it to AUTH_APPLE_AUDIENCES"
                ])
        }
    }

    @Test(arguments: [
        "http://auth.finnova.example/auth/apple/callback", "https:///auth/apple/callback",
        "https://auth.finnova.example/auth/apple/callback?x=1", "https://auth.finnova.example/auth/apple/callback#x",
        "https://ana@auth.finnova.example/auth/apple/callback", "https://auth.finnova.example/auth/apple/callback/",
        "https://auth.finnova.example/auth/apple/Callback", "https://auth.finnova.example/callback",
        "auth.finnova.example/auth/apple/callback", "https://auth.finnova.example/ /auth/apple/callback",
        "https://f\u{131}nnova.example/auth/apple/callback", "http://127.0.0.1:8080/auth/apple/callback",
        "https://\(String(repeating: "a", count: 500)).example/auth/apple/callback",
    ])
    func `The callback is an https address of this function's route`(_ url: String) {
        let problems = setting(["WEB_CALLBACK_URL": url]).problems
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("AUTH_APPLE_WEB_CALLBACK_URL ") == true)
    }

    @Test(
        arguments: [
            "http://finnova.example/x", "https://", "https:///x", "https://finnova.example/x#y",
            "https://a@finnova.example/x",
            "https://finnova.example/\u{e9}", "javascript:alert(1)", "javascript://finnova.example/%0aalert(1)",
            "data:text/html,x", "intent://x#Intent;end", "finnova:/x", "com.finnova.app:", "com.finnova.app:x",
            "Com.finnova.app:/x", ".com:/x", "7.com:/x", "/x", "//finnova.example/x", "*", "https://*",
            "file:///etc/passwd",
            "https://finnova.example\\x", "https://finnova.example/<x>", "https://finnova.example/x?code=1",
            "https://finnova.example/x?a=1&state=2", "com.finnova.app:/x?%69ss=1", "https://finnova.example/x?error",
            "https://finnova.example/x?%", "http://localhost:3000/x",
            "com.finnova.app:/\(String(repeating: "x", count: 512))",
        ])
    func `A return address is https, or of a scheme that is somebody's own`(_ url: String) {
        let problems = setting(["RETURN_URLS": "com.finnova.app:/signed-in,\(url)"]).problems
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("AUTH_APPLE_RETURN_URLS ") == true)
    }

    @Test func `In development http on loopback will do`() throws {
        let local: [String: String?] = [
            "MODE": "development", "WEB_CALLBACK_URL": "http://localhost:8080/auth/apple/callback",
            "RETURN_URLS": "http://127.0.0.1:3000/x,http://[::1]/x",
            "AUTHORIZE_URL": "http://127.0.0.1:8410/auth/authorize",
        ]
        let web = try #require(try setting(local).read().web)
        #expect(web.authorizeURL == "http://127.0.0.1:8410/auth/authorize")
        #expect(web.returnURL("http://[::1]/x") != nil)
        for url in [
            "http://localhost.evil.example/x", "http://localhost@evil.example/x", "http://127.0.0.1.evil.example/x",
        ] {
            #expect(setting(local.merging(["RETURN_URLS": url]) { $1 }).problems.count == 1)
        }
    }

    @Test(arguments: [
        "http://appleid.apple.com/auth/authorize", "https://appleid.apple.com/auth/authorize?x=1",
        "https://appleid.apple.com/auth/authorize#x", "ftp://x",
    ])
    func `Apple's page is an https address without a query`(_ url: String) {
        let problems = setting(["AUTHORIZE_URL": url]).problems
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("AUTH_APPLE_AUTHORIZE_URL ") == true)
    }

    @Test func `A file is no page, not even in development`() {
        #expect(setting(["MODE": "development", "AUTHORIZE_URL": "file:///tmp/x"]).problems.count == 1)
    }

    @Test func `No problem repeats a value`() {
        for name in ["WEB_CLIENT_ID", "WEB_CALLBACK_URL", "RETURN_URLS", "AUTHORIZE_URL"] {
            for line in setting([name: "canary"]).problems { #expect(!line.contains("canary")) }
        }
    }
}
