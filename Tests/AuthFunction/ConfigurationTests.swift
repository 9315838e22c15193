import Accounts
import AppleID
import AuthFunction
import JOSE
import TestSupport
import Testing

/// Reads a configuration as a process of user 1000 would, from variables and files that exist here only.
struct Setting {
    static let keys = SigningKeySet(
        current: TokenForge.newKey("one", for: .es256), next: TokenForge.newKey("two", for: .es256),
        at: TokenForge.now
    ).secretJSON.text

    /// What has no default, and a home.
    var variables = [
        "AUTH_APPLE_AUDIENCES": "com.finnova.app", "AUTH_APPLE_SIGNING_KEYS": keys,
        "AUTH_APPLE_TOKEN_ISSUER": "https://api.finnova.example", "AUTH_APPLE_TOKEN_AUDIENCE": "finnova-api",
        "HOME": "/home/finnova", "PATH": "/usr/bin",
    ]
    var files: [String: [UInt8]] = [:]
    var secretFiles: Set<String> = []
    var extraEntries: [String] = []
    /// What the edges find wrong, by the variable.
    var edgeFaults: [String: EdgeJudgement.Fault] = [:]
    var rawEntries: [[UInt8]] = []

    init(_ changes: [String: String?] = [:]) {
        for (name, value) in changes { variables["AUTH_APPLE_" + name] = value }
    }

    func read() throws(Configuration.Refusal) -> Configuration {
        let entries = variables.map { "\($0)=\($1)" } + extraEntries
        let environment = Environment(entries: entries.map { Array($0.utf8) } + rawEntries) { path, isSecret in
            guard let bytes = files[path] else { return .failure(.init(reason: "cannot be opened (No such file)")) }
            guard isSecret == secretFiles.contains(path) else { return .failure(.init(reason: "has a wrong mode")) }
            return .success(bytes)
        }
        return try Configuration(
            environment, userID: 1000, using: TokenForge.cryptography,
            judgedBy: EdgeJudgement(
                keysURL: { _, _ in edgeFaults["KEYS_URL"] }, keyCache: { _ in edgeFaults["KEY_CACHE"] },
                store: { _ in edgeFaults["STORE"] }))
    }

    /// The problems, each as its line; none when it serves.
    var problems: [String] {
        do {
            _ = try read()
            return []
        } catch {
            return error.problems.map(\.line)
        }
    }
}

struct ConfigurationTests {
    @Test func `What is not set has its default`() throws {
        let configuration = try Setting().read()
        #expect(configuration.mode == .production)
        #expect(configuration.policy.audiences == ["com.finnova.app"])
        #expect(configuration.policy.issuers == ["https://appleid.apple.com"])
        #expect(configuration.policy.leewaySeconds == 60)
        #expect(configuration.policy.maximumAgeSeconds == 86_400)
        #expect(!configuration.policy.requiresNonce)
        #expect(configuration.keysURL == "https://appleid.apple.com/auth/keys")
        #expect(configuration.caBundle == nil)
        #expect(configuration.keyCachePath == "/tmp/auth-apple-1000/apple-keys.json")
        #expect(configuration.storeURL == "sqlite:/home/finnova/.local/state/auth-apple/accounts.sqlite")
        #expect(configuration.tokenIssuer == "https://api.finnova.example")
        #expect(configuration.tokenAudience == "finnova-api")
        #expect(configuration.accessTokenSeconds == 900)
        #expect(configuration.signInPolicy.sessions.refreshTokenSeconds == 2_592_000)
        #expect(configuration.signInPolicy.sessions.sessionSeconds == 31_536_000)
        #expect(configuration.signInPolicy.sessions.graceSeconds == 10)
        #expect(!configuration.signInPolicy.linksVerifiedEmail)
        #expect(configuration.rateLimits.isEmpty)
        #expect(configuration.trustedProxies == 0)
        #expect(configuration.basePath.isEmpty)
        #expect(configuration.signingKeys.current.keyID == "one")
    }

    @Test func `What is set is taken`() throws {
        let configuration = try Setting([
            "MODE": "development", "AUDIENCES": "com.finnova.app, com.finnova.web", "ISSUERS": "https://a,https://b",
            "LEEWAY_SECONDS": "0", "MAX_TOKEN_AGE_SECONDS": "600", "REQUIRE_NONCE": "true",
            "KEYS_URL": "http://127.0.0.1:8080/keys", "CA_BUNDLE": "/etc/ca.pem", "KEY_CACHE": "/var/cache/k.json",
            "STORE": "memory:", "ACCESS_TOKEN_SECONDS": "60", "REFRESH_TOKEN_SECONDS": "3600", "BASE_PATH": "/v1/prod",
            "SESSION_SECONDS": "7200", "REFRESH_GRACE_SECONDS": "0", "RATE_LIMITS": "sign-in=30/60",
            "TRUSTED_PROXIES": "2", "ACCOUNT_QUERIES": "/etc/queries", "LINK_VERIFIED_EMAIL": "true",
        ]).read()
        #expect(configuration.signInPolicy.linksVerifiedEmail)
        #expect(configuration.mode == .development)
        #expect(configuration.policy.audiences == ["com.finnova.app", "com.finnova.web"])
        #expect(configuration.policy.issuers == ["https://a", "https://b"])
        #expect(configuration.policy.leewaySeconds == 0)
        #expect(configuration.policy.maximumAgeSeconds == 600)
        #expect(configuration.policy.requiresNonce)
        #expect(configuration.keysURL == "http://127.0.0.1:8080/keys")
        #expect(configuration.caBundle == "/etc/ca.pem")
        #expect(configuration.keyCachePath == "/var/cache/k.json")
        #expect(configuration.storeURL == "memory:")
        #expect(configuration.accessTokenSeconds == 60)
        #expect(configuration.signInPolicy.sessions.refreshTokenSeconds == 3600)
        #expect(configuration.signInPolicy.sessions.sessionSeconds == 7200)
        #expect(configuration.signInPolicy.sessions.graceSeconds == 0)
        #expect(configuration.rateLimits == [.signIn: RateLimit(attempts: 30, seconds: 60)])
        #expect(configuration.trustedProxies == 2)
        #expect(configuration.basePath == "/v1/prod")
    }

    @Test func `Limits are off, or set each for itself`() throws {
        #expect(try Setting(["RATE_LIMITS": "off"]).read().rateLimits.isEmpty)
        #expect(
            try Setting(["RATE_LIMITS": "refresh=1/86400,sign-in=1000000/1"]).read().rateLimits == [
                .refresh: RateLimit(attempts: 1, seconds: 86_400), .signIn: RateLimit(attempts: 1_000_000, seconds: 1),
            ])
    }

    @Test func `The folders of the system are taken when they are absolute, and no others`() throws {
        let folders = try Setting().with {
            $0.variables["XDG_CACHE_HOME"] = "/c"
            $0.variables["XDG_STATE_HOME"] = "/s"
        }.read()
        #expect(folders.keyCachePath == "/c/auth-apple/apple-keys.json")
        #expect(folders.storeURL == "sqlite:/s/auth-apple/accounts.sqlite")
        let relative = try Setting().with {
            $0.variables["XDG_CACHE_HOME"] = "c"
            $0.variables["XDG_STATE_HOME"] = "../s"
        }.read()
        #expect(relative.keyCachePath == "/tmp/auth-apple-1000/apple-keys.json")
        #expect(relative.storeURL == "sqlite:/home/finnova/.local/state/auth-apple/accounts.sqlite")
        for home in [nil, "", "home"] {
            #expect(
                Setting().with { $0.variables["HOME"] = home }.problems == [
                    "AUTH_APPLE_STORE is not set, and neither is HOME: set it to sqlite:/var/lib/auth-apple/accounts.sqlite"
                ])
        }
    }

    static let bounds: [(String, ClosedRange<Int64>)] = [
        ("LEEWAY_SECONDS", 0...300), ("MAX_TOKEN_AGE_SECONDS", 60...604_800), ("ACCESS_TOKEN_SECONDS", 60...86_400),
        ("REFRESH_TOKEN_SECONDS", 3600...31_536_000), ("SESSION_SECONDS", 3600...315_360_000),
        ("REFRESH_GRACE_SECONDS", 0...60), ("TRUSTED_PROXIES", 0...10),
    ]

    @Test(arguments: bounds.indices)
    func `A number is whole, and between its bounds`(_ index: Int) {
        let (name, range) = Self.bounds[index]
        for good in [range.lowerBound, range.upperBound] { #expect(Setting([name: "\(good)"]).problems.isEmpty) }
        let bad = [
            "\(range.lowerBound - 1)", "\(range.upperBound + 1)", "x", "1.5", "1e3", " 60", "60s", "٦٠", "0x60", "--60",
            "99999999999999999999", "\(Int64.min)",
        ]
        for text in bad {
            let problems = Setting([name: text]).problems
            #expect(problems.count == 1, "\(text)")
            #expect(
                problems.first?.hasPrefix(
                    "AUTH_APPLE_\(name) is not a whole number from \(range.lowerBound) to \(range.upperBound): set it")
                    == true)
        }
    }

    static let badValues: [(String, [String])] = [
        ("MODE", ["Production", "dev", "development\t"]), ("REQUIRE_NONCE", ["1", "yes", "True", "false "]),
        ("AUDIENCES", [",", "a,", ",a", "a,,b", "a b", "a,\tb", "a\n"]),
        ("ISSUERS", [",", "https://a, ,https://b", "idmsa.apple.com", "https://a,http://b", "HTTPS://a"]),
        ("TOKEN_AUDIENCE", [",", "finnova-api,", "finnova-api,other"]),
        (
            "KEYS_URL",
            [
                "appleid.apple.com/auth/keys", "http://appleid.apple.com/auth/keys", "HTTPS://appleid.apple.com",
                "https://user:password@host/keys", "https://host/a b", "ftp://host", "file:///etc/passwd",
                "http://127.0.0.1:80/keys", "https:/host",
            ]
        ),
        ("BASE_PATH", ["prod", "/", "/prod/", "prod/", "/a?b"]), ("STORE", ["memory:", "Memory:", "MEMORY:x"]),
        (
            "RATE_LIMITS",
            [
                "on", "OFF", "sign-in", "sign-in=", "sign-in=30", "sign-in=30/", "sign-in=/60", "sign-in=30/60,",
                "sign-in=30/60,sign-in=40/60", "signin=30/60", "Sign-In=30/60", "login=30/60", "sign-in=0/60",
                "sign-in=30/0", "sign-in=-1/60", "sign-in=1000001/60", "sign-in=30/86401",
                "sign-in=30/60/60",
                "sign-in=30/60=1", " sign-in=30/60", "sign-in=30/60, refresh=1/1", "=30/60", ",", "sign-in=1e3/60",
                "sign-in=99999999999999999999/60",
            ]
        ),
        ("SIGNING_KEYS", ["x", "{}", "[]", "{\"keys\":[]}"]),
    ]

    @Test(arguments: badValues.indices)
    func `A bad value is one problem, which names the variable and the remedy and does not repeat the value`(
        _ index: Int
    ) {
        let (name, values) = Self.badValues[index]
        for value in values {
            let problems = Setting([name: value]).problems
            #expect(problems.count == 1, "\(value)")
            #expect(problems.first?.hasPrefix("AUTH_APPLE_\(name) ") == true)
            #expect(problems.first?.contains(": ") == true)
            // The remedy for a limit shows one that is good, which some of these begin like.
            if value.count > 10, name != "RATE_LIMITS" { #expect(problems.first?.contains(value) == false) }
        }
    }

    /// They were taken as a part of it, and nobody could sign in.
    @Test(arguments: [
        ("AUDIENCES", #""com.finnova.app""#), ("AUDIENCES", "'com.finnova.app'"),
        ("AUDIENCES", #"com.a,"com.finnova.app""#),
        ("ISSUERS", #""https://appleid.apple.com""#), ("TOKEN_ISSUER", #""https://api.finnova.example""#),
        ("TOKEN_AUDIENCE", "'finnova-api'"), ("KEY_CACHE", #""/var/cache/auth-apple/keys.json""#),
        ("REQUIRE_NONCE", #""true""#),
        ("STORE", #""sqlite:/var/lib/auth-apple/accounts.sqlite""#), ("SIGNING_KEYS", "'\(Setting.keys)'"),
    ])
    func `Quotation marks that nobody took away, as Docker's --env-file does not, are no part of a value`(
        _ name: String, _ value: String
    ) {
        let problems = Setting([name: value]).problems
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("AUTH_APPLE_\(name) has quotation marks around its value: ") == true)
    }

    @Test(arguments: ["TOKEN_ISSUER", "TOKEN_AUDIENCE"], [" a", "a ", "a\r", "\ta"])
    func `White space around what our tokens say would make them nobody's`(_ name: String, _ value: String) {
        let problems = Setting([name: value]).problems
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("AUTH_APPLE_\(name) begins or ends with white space: ") == true)
    }

    @Test(arguments: [
        "http://127.0.0.1:8080/keys", "http://127.0.0.1/keys", "http://[::1]:8080/keys", "http://[::1]/keys",
        "http://localhost:8080/keys", "http://localhost/keys", "file:///tmp/keys.json",
    ])
    func `Development alone takes Apple's keys from loopback or from a file`(_ url: String) throws {
        #expect(try Setting(["KEYS_URL": url, "MODE": "development"]).read().keysURL == url)
        let problems = Setting(["KEYS_URL": url]).problems
        #expect(problems.count == 1)
        #expect(problems.first?.contains("AUTH_APPLE_MODE=development") == true)
    }

    @Test(arguments: [
        "http://127.0.0.1.example.com/keys", "http://localhost.example.com:80/keys", "http://127.0.0.1:80@example.com/",
        "http://example.com/127.0.0.1", "http://localhost", "file://host/keys", "http://0.0.0.0:80/",
        "http://127.0.0.2:80/",
    ])
    func `Development takes nothing that only looks like loopback`(_ url: String) {
        #expect(Setting(["KEYS_URL": url, "MODE": "development"]).problems.count == 1)
    }

    @Test func `Without an audience, a signing key, an issuer and an audience of ours it does not serve, and says all`()
    {
        let problems = Setting([
            "AUDIENCES": String?.none, "SIGNING_KEYS": String?.none, "TOKEN_ISSUER": String?.none,
            "TOKEN_AUDIENCE": "", "LEEWAY_SECONDS": "x", "MODE": "x",
        ]).problems
        #expect(
            problems.map { $0.prefix { $0 != " " } } == [
                "AUTH_APPLE_MODE", "AUTH_APPLE_AUDIENCES", "AUTH_APPLE_LEEWAY_SECONDS", "AUTH_APPLE_TOKEN_ISSUER",
                "AUTH_APPLE_TOKEN_AUDIENCE", "AUTH_APPLE_SIGNING_KEYS",
            ])
        #expect(problems.count { $0.contains(" is not set: set ") } == 4)
    }

    @Test func `What the edges find wrong is said with all the rest, and once a variable`() {
        let setting = Setting(["AUDIENCES": String?.none]).with {
            $0.edgeFaults = ["KEYS_URL": ("a", "b"), "KEY_CACHE": ("c", "d"), "STORE": ("e", "f")]
        }
        let edges = ["AUTH_APPLE_KEYS_URL a: b", "AUTH_APPLE_KEY_CACHE c: d", "AUTH_APPLE_STORE e: f"]
        #expect(setting.problems.count == 4)
        #expect(setting.problems.filter { !$0.hasPrefix("AUTH_APPLE_AUDIENCES") } == edges)
        let both = setting.with { $0.variables["AUTH_APPLE_STORE"] = "memory:" }
        #expect(both.problems.count == 4)
        #expect(both.problems.count { $0.hasPrefix("AUTH_APPLE_STORE is memory:") } == 1)
    }

    @Test func `A variable of ours that does not exist is refused: a misspelt one would switch a rule off`() {
        for name in ["AUDIENCE", "REQUIRE_NONCES", "require_nonce", "", "MODE_FILE_FILE", "_FILE"] {
            #expect(
                Setting([name: "true"]).problems == [
                    "AUTH_APPLE_\(name) is no variable of auth-apple: correct its name, or unset it"
                ])
        }
    }

    @Test func `A variable of ours that is set twice is refused, even to the same value`() {
        for value in ["com.finnova.app", "com.attacker.app", ""] {
            let setting = Setting().with { $0.extraEntries = ["AUTH_APPLE_AUDIENCES=\(value)"] }
            #expect(
                setting.problems == [
                    "AUTH_APPLE_AUDIENCES is set twice: set it once in the environment of the process"
                ])
        }
        #expect(Setting().with { $0.extraEntries = ["PATH=/bin", "no equals sign", "=x", ""] }.problems.isEmpty)
    }

    @Test func `A variable of ours is never passed over for its bytes, and one that is not ours always is`() {
        let damaged = Setting().with {
            $0.rawEntries = [Array("AUTH_APPLE_REQUIRE_NONCE=tru".utf8) + [0xE9], Array("EDITOR=".utf8) + [0xFF]]
        }
        #expect(damaged.problems == ["AUTH_APPLE_REQUIRE_NONCE is not UTF-8 text: set it to text"])
        let required = Setting().with {
            $0.variables["AUTH_APPLE_AUDIENCES"] = nil
            $0.rawEntries = [Array("AUTH_APPLE_AUDIENCES=".utf8) + [0xC3]]
        }
        #expect(required.problems == ["AUTH_APPLE_AUDIENCES is not UTF-8 text: set it to text"])
        let name = Setting().with { $0.rawEntries = [Array("AUTH_APPLE_".utf8) + [0xFF] + Array("=x".utf8)] }
        #expect(name.problems == ["AUTH_APPLE_\u{FFFD} is not UTF-8 text: set it to text"])
        // U+0301 makes one character of the equals sign before it, or of the underscore.
        #expect(
            Setting(["REQUIRE_NONCE": "\u{301}true"]).problems.first?.hasPrefix(
                "AUTH_APPLE_REQUIRE_NONCE is neither true nor false") == true)
        #expect(Setting(["\u{301}NONCE": "x"]).problems.count == 1)
    }
}

struct ConfigurationFileTests {
    private static let names = [
        "AUDIENCES": "com.finnova.app", "ISSUERS": "https://a", "MODE": "development", "LEEWAY_SECONDS": "7",
        "MAX_TOKEN_AGE_SECONDS": "700", "REQUIRE_NONCE": "true", "KEYS_URL": "https://a/b", "CA_BUNDLE": "/a",
        "KEY_CACHE": "/b", "STORE": "sqlite:/c", "TOKEN_ISSUER": "i", "TOKEN_AUDIENCE": "a",
        "ACCESS_TOKEN_SECONDS": "70", "REFRESH_TOKEN_SECONDS": "7000", "BASE_PATH": "/d", "SIGNING_KEYS": Setting.keys,
        "SESSION_SECONDS": "8000", "REFRESH_GRACE_SECONDS": "9", "RATE_LIMITS": "off", "TRUSTED_PROXIES": "1",
    ]

    @Test func `Every variable may come from a file, whose last line feed is not part of it`() throws {
        var setting = Setting()
        for (name, value) in Self.names {
            setting.variables["AUTH_APPLE_\(name)"] = nil
            setting.variables["AUTH_APPLE_\(name)_FILE"] = "/run/\(name)"
            setting.files["/run/\(name)"] = Array("\(value)\(name.count.isMultiple(of: 2) ? "\n" : "\r\n")".utf8)
        }
        setting.secretFiles = ["/run/SIGNING_KEYS"]
        let configuration = try setting.read()
        #expect(configuration.mode == .development)
        #expect(configuration.policy.audiences == ["com.finnova.app"])
        #expect(configuration.policy.leewaySeconds == 7)
        #expect(configuration.policy.requiresNonce)
        #expect(configuration.keysURL == "https://a/b")
        #expect(configuration.storeURL == "sqlite:/c")
        #expect(configuration.basePath == "/d")
        #expect(configuration.signInPolicy.sessions.refreshTokenSeconds == 7000)
        #expect(configuration.signingKeys.current.keyID == "one")
    }

    @Test(arguments: names.keys.sorted())
    func `A variable and its file, or a file that cannot be read: one problem, with its remedy`(_ name: String) throws {
        let both = Setting([name: "x", "\(name)_FILE": "/run/x"]).problems
        #expect(both == ["AUTH_APPLE_\(name) is set as well as AUTH_APPLE_\(name)_FILE: unset one of the two"])

        let missing = Setting([name: String?.none, "\(name)_FILE": "/run/missing"]).problems
        #expect(missing.count == 1)
        #expect(
            missing.first?.hasPrefix("AUTH_APPLE_\(name)_FILE names a file that cannot be opened (No such file): let ")
                == true)
        #expect((missing.first?.contains("0600") == true) == (name == "SIGNING_KEYS"))

        let binary = Setting([name: String?.none, "\(name)_FILE": "/run/binary"]).with {
            $0.files["/run/binary"] = [0xFF]
            $0.secretFiles = name == "SIGNING_KEYS" ? ["/run/binary"] : []
        }
        #expect(
            binary.problems == [
                "AUTH_APPLE_\(name)_FILE names a file that is not UTF-8 text: write the value to it as text"
            ])

        for content in ["", "\n", "\r\n"] {
            let empty = Setting([name: String?.none, "\(name)_FILE": "/run/empty"]).with {
                $0.files["/run/empty"] = Array(content.utf8)
                $0.secretFiles = name == "SIGNING_KEYS" ? ["/run/empty"] : []
            }
            #expect(
                empty.problems == [
                    "AUTH_APPLE_\(name)_FILE names a file that is empty: write the value to it, or unset the variable"
                ])
        }
    }

    @Test func `No value shows in a problem: not a key, not a password, not a path`() throws {
        let secret = try #require(TokenForge.newKey("CANARY", for: .es256).secretJSON["d"]?.string)
        let key = TokenForge.newKey("CANARY", for: .es256).secretJSON.text
        let settings = [
            Setting(["SIGNING_KEYS": key + "x"]), Setting(["SIGNING_KEYS": key.replacing("P-256", with: "P-999")]),
            Setting(["SIGNING_KEYS": "CANARY", "SIGNING_KEYS_FILE": "/CANARY"]),
            Setting(["SIGNING_KEYS": String?.none, "SIGNING_KEYS_FILE": "/CANARY"]),
            Setting(["STORE": "postgres://user:CANARY@host/db", "STORE_FILE": "/CANARY"]),
            Setting(["STORE": "memory:CANARY"]), Setting(["KEYS_URL": "https://user:CANARY@host"]),
            Setting(["AUDIENCES": "CANARY,"]), Setting(["MODE": "CANARY"]), Setting(["REQUIRE_NONCE": "CANARY"]),
            Setting(["LEEWAY_SECONDS": "CANARY"]), Setting(["BASE_PATH": "CANARY"]),
            Setting(["RATE_LIMITS": "CANARY=1/1"]),
            Setting(["TRUSTED_PROXIES": "CANARY"]), Setting(["UNKNOWN": "CANARY"]),
            Setting().with { $0.extraEntries = ["AUTH_APPLE_STORE=CANARY", "AUTH_APPLE_STORE=CANARY"] },
        ]
        for setting in settings {
            let problems = setting.problems
            #expect(!problems.isEmpty)
            for problem in problems { #expect(!problem.contains("CANARY") && !problem.contains(secret)) }
        }
    }
}

extension Setting {
    func with(_ change: (inout Setting) -> Void) -> Setting {
        var setting = self
        change(&setting)
        return setting
    }
}
