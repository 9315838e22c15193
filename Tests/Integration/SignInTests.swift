import Foundation
import TestSupport
import Testing

/// Sign-in through the program itself: real processes, a real database, tokens of the simulator.
@Suite(.serialized) struct SignInTests {
    /// The service with the simulator as Apple, over HTTP, whose requests are counted.
    static func withServedKeys(_ body: (FunctionSite, _ fetches: () throws -> Int) throws -> Void) throws {
        let site = try FunctionSite()
        let log = site.folder.appending(path: "simulator.log")
        try Data().write(to: log)
        let process = Process()
        process.executableURL = try Programs.built("apple-simulator")
        process.arguments = ["serve", "--port", "0"]
        process.environment = site.environment
        let output = Pipe()
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        // Its first line; what follows is for people.
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        site.environment["AUTH_APPLE_KEYS_URL"] = (said.split(separator: "\n").first ?? "") + "/auth/keys"
        try body(site) {
            try String(contentsOf: log, encoding: .utf8).split(separator: "\n").count { $0.contains("/auth/keys") }
        }
    }

    #if SQLite
    @Test func ofSixtyFourFirstLoginsAtOnceOneMakesTheAccount() throws {
        let site = try FunctionSite()
        let token = try site.token("--subject", "001.race.1")
        let answers = try site.atOnce(Array(repeating: site.event(token: token), count: 64))
        #expect(answers.count { $0.status == 201 } == 1)
        #expect(answers.count { $0.status == 200 } == 63)
        #expect(Set(answers.map(\.accountID)).count == 1 && !answers[0].accountID.isEmpty)
        #expect(Set(answers.map(\.sessionID)).count == 64)
    }

    /// What a login leaves behind, on disk and in the log, after every kind of outcome.
    @Test func nothingSecretOrPersonalIsInALogOrAFileThatIsNotMeantForIt() throws {
        let site = try FunctionSite()
        let email = "canary-mail@example.com"
        let token = try site.token("--subject", "001.canary.1", "--email", email, "--nonce", "canary-nonce")
        let more: [String: Any] = [
            "nonce": "canary-nonce", "full_name": "Canary Name", "email": "canary-body@example.com",
            "deviceInfo": ["name": "canary-device"],
        ]
        var logs = ""
        func send(_ event: Data) throws -> FunctionSite.Answer {
            let ran = try site.run(input: event)
            logs += String(decoding: ran.errors, as: UTF8.self)
            return try site.send(event)
        }
        let answer = try send(site.event(token: token, more))
        // 201 where the store is in memory and has forgotten the first login.
        #expect(answer.status < 300, "\(answer.log)")
        #expect(try send(site.event(token: token + "x", more)).status == 401)
        #expect(try send(site.event(token: token, more.merging(["nonce": "canary-nonce-2"]) { $1 })).status == 401)
        #expect(try send(site.event(token: token, more.merging(["deviceInfo": "canary-device"]) { $1 })).status == 400)
        let store = site.environment["AUTH_APPLE_STORE"]
        site.environment["AUTH_APPLE_STORE"] = "sqlite:/proc/none/accounts.sqlite"
        #expect(try send(site.event(token: token, more)).status == 503)
        site.environment["AUTH_APPLE_STORE"] = store
        site.environment["AUTH_APPLE_KEYS_URL"] = "http://127.0.0.1:9/auth/keys"
        #expect(try send(site.event(token: token, more)).status == 503)
        site.environment["AUTH_APPLE_AUDIENCES"] = nil
        let unconfigured = try send(site.event(token: token, more))
        #expect(unconfigured.status == 500)
        #expect(!unconfigured.text.contains("AUTH_APPLE"))

        let refresh = try #require(answer.body["refresh_token"] as? String)
        let access = try #require(answer.body["access_token"] as? String)
        #expect(!logs.isEmpty)
        for secret in [token, String(token.split(separator: ".")[2]), refresh, access, email, "Canary", "canary"] {
            #expect(!logs.contains(secret))
        }
        // The store holds the profile and the device, and nothing that could be presented.
        let files = try #require(FileManager.default.enumerator(at: site.folder, includingPropertiesForKeys: nil))
        for case let file as URL in files where !file.hasDirectoryPath {
            let data = try Data(contentsOf: file)
            for secret in [String(token.split(separator: ".")[2]), refresh, access, "canary-nonce"] {
                #expect(data.range(of: Data(secret.utf8)) == nil, "\(file.lastPathComponent)")
            }
            let isStore = file.path().contains("/state/")
            if !isStore {
                for personal in [email, "Canary Name", "canary-device"] {
                    #expect(data.range(of: Data(personal.utf8)) == nil, "\(file.lastPathComponent)")
                }
            }
        }
    }

    @Test func anOutageIsNeverTheTokensFault() throws {
        let site = try FunctionSite()
        let event = try site.event(token: site.token("--subject", "001.outage.1"))
        site.environment["AUTH_APPLE_KEYS_URL"] = "http://127.0.0.1:9/auth/keys"
        let keys = try site.send(event)
        #expect(keys.status == 503 && keys.body["code"] as? String == "keys_unavailable")
        #expect(Int(keys.headers["retry-after"] ?? "") ?? 0 > 0)
        let other = try FunctionSite()
        other.environment["AUTH_APPLE_STORE"] = "sqlite:/proc/none/accounts.sqlite"
        let store = try other.send(other.event(token: other.token("--subject", "001.outage.1")))
        #expect(store.status == 503 && store.body["code"] as? String == "store_unavailable")
    }
    #endif

    @Test func aThirdPartyVerifiesTheAccessTokenByThePublishedKeys() throws {
        let site = try FunctionSite()
        let answer = try site.send(site.event(token: site.token("--subject", "001.pyjwt.1")))
        #expect(answer.status == 201)
        let keys = try site.send(FunctionSite.event("GET", "/.well-known/jwks.json", body: [:]))
        let input = try JSONSerialization.data(withJSONObject: [
            "token": answer.body["access_token"] as? String ?? "", "keys": keys.text,
        ])
        let script = """
            import sys, json, jwt
            given = json.load(sys.stdin)
            kid = jwt.get_unverified_header(given["token"])["kid"]
            keys = {key.key_id: key for key in jwt.PyJWKSet.from_json(given["keys"]).keys}
            claims = jwt.decode(given["token"], keys[kid].key, algorithms=["ES256"], issuer="https://auth.example.com",
                audience="https://api.example.com", options={"require": ["exp", "iat", "sub", "aud", "iss", "jti"]})
            print(jwt.get_unverified_header(given["token"])["typ"], claims["client_id"], claims["sub"], claims["sid"])
            """
        let ran = try Ran("/usr/bin/python3", "-c", script, input: input)
        let user = (answer.body["user"] as? [String: Any])?["id"] as? String ?? ""
        let session = (answer.body["session"] as? [String: Any])?["id"] as? String ?? ""
        #expect(ran.text == "at+jwt com.example.app \(user) \(session)\n")
    }

    @Test func twoHundredProcessesWithInventedKeyNamesCauseOneFetch() throws {
        try Self.withServedKeys { site, fetches in
            let good = try site.event(token: site.token("--subject", "001.kids.1"))
            #expect(try site.send(good).status == 201)
            #expect(try fetches() == 1)
            let bad = try (0..<8).map { _ in
                try site.event(token: site.token("--subject", "001.kids.1", "--bad", "unknown-kid"))
            }
            let answers = try site.atOnce((0..<200).map { bad[$0 % 8] })
            #expect(answers.allSatisfy { $0.status == 401 })
            #expect(try fetches() == 2)
            #expect(try site.send(good).status != 503)
        }
    }

    @Test func aTokenOfAKeyThatAppearedAfterTheLastFetchSignsInAtTheFirstTry() throws {
        try Self.withServedKeys { site, fetches in
            let token = try site.token("--subject", "001.rotate.1")
            #expect(try site.send(site.event(token: token)).status == 201)
            // As if Apple had added the key that signs since: the file remembers all keys but that one.
            let cache = site.folder.appending(path: "cache/apple-keys.json")
            let text = try String(contentsOf: cache, encoding: .utf8)
            let header = try #require(Data(base64Encoded: String(token.prefix { $0 != "." }) + "=="))
            let kid = try #require((JSONSerialization.jsonObject(with: header) as? [String: String])?["kid"])
            let key = try Regex(#"\{[^{}]*"kid":"KID"\}"#.replacing("KID", with: kid))
            let shorter = text.replacing(key, with: "").replacing("[,", with: "[").replacing(",,", with: ",")
                .replacing(",]", with: "]")
            #expect(!shorter.contains(kid) && shorter.contains("kid"))
            try Data(shorter.utf8).write(to: cache)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: cache.path())
            let answer = try site.send(site.event(token: token))
            // 201 where the store is in memory and has forgotten the first login.
            #expect(answer.status < 300, "\(answer.log)")
            #expect(answer.log.first?["key_cache"] as? String == "refreshed")
            #expect(try fetches() == 2)
        }
    }
}
