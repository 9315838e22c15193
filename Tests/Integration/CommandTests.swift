import Foundation
import TestSupport
import Testing

/// The commands of the program, and what it does with a configuration that is wrong.
@Suite struct CommandTests {
    @Test func helpAndVersionAreGivenAndAnUnknownCommandIsNamedOne() throws {
        let site = try FunctionSite()
        for words in [["--help"], ["-h"], ["help"], ["outbox", "--help"], ["store", "export", "--help"]] {
            let ran = try Ran([Programs.built("auth-apple").path()] + words, environment: site.environment)
            #expect(ran.status == 0 && ran.text.contains("auth-apple keys rotate"))
        }
        #expect(try site.run("--version").text.hasPrefix("auth-apple "))
        for words in [["--helf"], ["keys"], ["keys", "new", "now"], ["lines", "x"], ["transfer", "export"]] {
            let ran = try Ran([Programs.built("auth-apple").path()] + words, environment: site.environment)
            #expect(ran.status == 64 && ran.output.isEmpty)
            let expected = words == ["--helf"] ? "--help" : "  auth-apple \(words[0]) "
            #expect(ran.text.contains(expected) && !ran.text.contains("auth-apple outbox"), "\(ran.text)")
        }
    }

    /// Whatever the limits are under which it is started: a memory image has keys and tokens in it.
    @Test func aCrashLeavesNoMemoryBehind() throws {
        let site = try FunctionSite()
        let script = """
            ulimit -c unlimited && ulimit -c
            sleep 5 | auth-apple lines &
            for attempt in 1 2 3 4 5 6 7 8 9 10; do
                grep 'Max core file size *0 *0' /proc/$!/limits && break
                sleep 0.1
            done
            kill $!
            """
        let ran = try Ran("/bin/sh", "-c", script, environment: site.environment)
        #expect(ran.text.hasPrefix("unlimited"))
        #expect(ran.text.contains("Max core file size"), "\(ran.text)")
    }

    @Test func newKeysNeverOverwriteAFileAndAreClosedToOthers() throws {
        let site = try FunctionSite()
        let file = try #require(site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"])
        let before = try Data(contentsOf: URL(filePath: file))
        let ran = try site.run("keys", "new")
        #expect(ran.status == 73 && ran.text.contains("exists already"))
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        let refused = try site.run("check")
        #expect(refused.status == 78 && refused.text.contains("AUTH_APPLE_SIGNING_KEYS_FILE"))
    }

    #if SQLite
    /// It is run before a change, and at times by somebody else than the function's user.
    @Test func checkMakesNoDatabase() throws {
        let site = try FunctionSite()
        var environment = site.environment
        let state = site.folder.appending(path: "not yet")
        environment["AUTH_APPLE_STORE"] = "sqlite:\(state.path(percentEncoded: false))/accounts.sqlite"
        let ran = try Ran(Programs.built("auth-apple").path(), "check", environment: environment)
        #expect(ran.status == 0 && ran.text.contains("does not exist yet, the first sign-in creates it"), "\(ran.text)")
        #expect(!FileManager.default.fileExists(atPath: state.path(percentEncoded: false)))
    }
    #endif

    /// Root's own folders, as where a guide was followed by another user: sysfs refuses root as well.
    @Test func aFolderThatCannotBeMadeIsTheReasonThatIsTold() throws {
        let site = try FunctionSite()
        let ran = try Ran(
            Programs.built("auth-apple").path(), "keys", "new",
            environment: ["AUTH_APPLE_SIGNING_KEYS_FILE": "/sys/auth-apple/keys/new.json"])
        #expect(ran.status == 73 && ran.text.contains("is in a folder that cannot be created ("), "\(ran.text)")
        let made = site.folder.appending(path: "a/b/keys.json").path()
        #expect(
            try Ran(
                Programs.built("auth-apple").path(), "keys", "new",
                environment: ["AUTH_APPLE_SIGNING_KEYS_FILE": made]
            ).status == 0)
    }

    @Test func showPrintsThePublicSetAndNothingPrivate() throws {
        let site = try FunctionSite()
        let ran = try site.run("keys", "show")
        let json = try #require(JSONSerialization.jsonObject(with: ran.output) as? [String: [[String: String]]])
        let keys = try #require(json["keys"])
        #expect(keys.count == 2)
        for key in keys { #expect(Set(key.keys) == ["kty", "crv", "x", "y", "use", "alg", "kid"]) }
    }

    /// A timer's rotation was put off for so long without a word, and with the exit status of success.
    @Test func aKeyOfAClockThatWasAheadIsSaidAndNotWaitedFor() throws {
        let site = try FunctionSite()
        let file = URL(filePath: try #require(site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"]))
        try site.letPass(seconds: -10 * 365 * 86_400)
        let keys = try Data(contentsOf: file)
        let ran = try site.run("keys", "rotate")
        #expect(ran.status == 73 && ran.text.contains("was the clock ahead"), "\(ran.text)")
        #expect(try Data(contentsOf: file) == keys)
        #expect(try site.run("keys", "rotate", "--force").status == 0)
    }

    @Test func rotationGoesOneStepAndNotBeforeItsTime() throws {
        let site = try FunctionSite()
        let first = try site.run("keys", "show").output
        #expect(try site.run("keys", "rotate").text.contains("Nothing was changed"))
        #expect(try site.run("keys", "show").output == first)
        let event = try site.event(token: site.token("--subject", "001.rotation.1"))
        #expect(try site.send(event).status < 300)
        try site.letPass(seconds: 3 * 3600)
        #expect(try site.run("keys", "rotate").text.contains("Rotated"))
        let keys = try JSONSerialization.jsonObject(with: site.run("keys", "show").output) as? [String: [Any]]
        #expect(keys?["keys"]?.count == 3)
        #expect(try site.send(event).status < 300)
        #expect(try site.run("check").status == 0)
    }

    @Test func afterALeakNoKeyOfTheFileIsLeft() throws {
        let site = try FunctionSite()
        func names() throws -> Set<String> {
            let json = try JSONSerialization.jsonObject(with: site.run("keys", "show").output) as? [String: [Any]]
            return Set((json?["keys"] ?? []).compactMap { ($0 as? [String: String])?["kid"] })
        }
        let leaked = try names()
        let ran = try site.run("keys", "rotate", "--force")
        #expect(ran.status == 0 && ran.text.contains("Replaced every key"))
        let kept = try names()
        #expect(leaked.count == 2 && kept.count == 2 && leaked.isDisjoint(with: kept))
        #expect(try site.send(site.event(token: site.token("--subject", "001.leak.1"))).status < 300)
        #expect(try site.run("check").status == 0)

        let file = URL(filePath: try #require(site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"]))
        try Data("something else".utf8).write(to: file)
        #expect(try site.run("keys", "rotate", "--force").status == 78)
        #expect(try Data(contentsOf: file) == Data("something else".utf8))
    }

    @Test func aRotationThatFailsSaysNothingElse() throws {
        let site = try FunctionSite()
        let file = try #require(site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"])
        let before = try Data(contentsOf: URL(filePath: file))
        let program = try Programs.built("auth-apple").path()
        // No file may grow: the new one cannot be written. What is said comes through a pipe.
        let rotation = "trap '' XFSZ; ulimit -f 0; '\(program)' keys rotate --force; echo \"status $?\""
        let ran = try Ran("/bin/sh", "-c", "(\(rotation)) 2>&1 | cat", environment: site.environment)
        #expect(ran.text.contains("cannot be written (File too large)\nstatus 73"), "\(ran.text)")
        #expect(ran.text.split(separator: "\n").count == 2, "\(ran.text)")
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
    }

    @Test func aRotationReplacesTheFileThatALinkLeadsTo() throws {
        let site = try FunctionSite()
        let file = try #require(site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"])
        let link = site.folder.appending(path: "link.json").path()
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "signing-keys.json")
        let before = try site.run("keys", "show").output
        site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"] = link
        #expect(try site.run("keys", "rotate", "--force").status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "signing-keys.json")
        site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"] = file
        #expect(try site.run("keys", "show").output != before)
    }

    @Test func rotationsAtOnceLeaveAWholeFile() throws {
        let site = try FunctionSite()
        DispatchQueue.concurrentPerform(iterations: 12) { _ in _ = try? site.run("keys", "rotate", "--force") }
        let ran = try site.run("check")
        #expect(ran.status == 0, "\(ran.text)")
    }

    @Test func checkSaysALineEachAndWhatToDo() throws {
        let site = try FunctionSite()
        let good = try site.run("check")
        #expect(good.status == 0)
        #expect(good.text.split(separator: "\n").allSatisfy { $0.hasPrefix("ok ") || $0.hasPrefix("off ") })
        #expect(good.text.contains("on for com.example.web"))
        site.environment["AUTH_APPLE_KEYS_URL"] = "http://127.0.0.1:9/auth/keys"
        let unreachable = try site.run("check")
        #expect(unreachable.status == 78)
        #expect(unreachable.text.contains("AUTH_APPLE_KEYS_URL"))
    }

    @Test func aCacheThatCannotBeKeptIsSaidWithTheReasonAndTheRemedy() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_KEY_CACHE"] = "/proc/auth-apple/apple-keys.json"
        let ran = try site.run("check")
        #expect(ran.status == 78)
        let said = "cache folder cannot be written (No such file or directory): let AUTH_APPLE_KEY_CACHE name"
        #expect(ran.text.contains(said), "\(ran.text)")
    }

    @Test func everyProblemIsNamedAtOnceAndInFunctionModeOnlyToTheLog() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_AUDIENCES"] = nil
        site.environment["AUTH_APPLE_TOKEN_ISSUER"] = nil
        site.environment["AUTH_APPLE_LEEWAY_SECONDS"] = "canary"
        site.environment["AUTH_APPLE_REQUIRE_NONSE"] = "true"
        let names = ["AUDIENCES", "TOKEN_ISSUER", "LEEWAY_SECONDS", "REQUIRE_NONSE"].map { "AUTH_APPLE_\($0)" }
        let check = try site.run("check")
        #expect(check.status == 78)
        for name in names { #expect(check.text.contains(name)) }
        #expect(!check.text.contains("canary"))

        let ran = try site.run(input: FunctionSite.event("GET", "/health", body: [:]))
        #expect(ran.status == 78)
        let output = String(decoding: ran.output, as: UTF8.self)
        #expect(output.contains(#""statusCode":500"#))
        #expect(!output.contains("AUTH_APPLE"))
        for name in names { #expect(String(decoding: ran.errors, as: UTF8.self).contains(name)) }
        let lines = try site.run("lines", input: Data("{}\n{}\n".utf8))
        #expect(lines.status == 78 && lines.output.split(separator: 0x0A).count == 2)
    }

    @Test(arguments: ["https://", "https://a:b:c/", "https://host/#x", "https://host:99999/", "https://h\u{f6}st/"])
    func anAddressThatCannotBeAskedIsRefusedAtTheStartWithEverythingElse(url: String) throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_KEYS_URL"] = url
        site.environment["AUTH_APPLE_STORE"] = "nonesuch:x"
        site.environment["AUTH_APPLE_KEY_CACHE"] = "/"
        site.environment["AUTH_APPLE_TOKEN_ISSUER"] = nil
        let ran = try site.run("check")
        #expect(ran.status == 78)
        for name in ["KEYS_URL", "STORE", "KEY_CACHE", "TOKEN_ISSUER"] {
            #expect(ran.text.contains("AUTH_APPLE_\(name) "), "\(name): \(ran.text)")
        }
        #expect(ran.text.split(separator: "\n").count == 4)
    }

    @Test func anAbsentStoreSaysWhichBuildHasIt() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_STORE"] = "postgres://localhost/accounts"
        let ran = try site.run("check")
        #expect(ran.status == 78 && ran.text.contains("PostgreSQL"))
        #if !SQLite
        site.environment["AUTH_APPLE_STORE"] = "sqlite:/tmp/accounts.sqlite"
        let absent = try site.run("check")
        #expect(absent.status == 78 && absent.text.contains("SQLite"))
        #endif
    }

    #if SQLite
    @Test func anAnswerThatNobodyTakesIsSaidInTheLogAndByTheExitStatus() throws {
        let site = try FunctionSite()
        let program = try Programs.built("auth-apple").path()
        let event = try site.event(token: site.token("--subject", "001.lost.1"))
        let answer = "'\(program)'; echo \"status $?\" >&2"
        // A full disk, no standard output at all, and a pipe whose reader is gone before the program answers.
        let scripts = ["exec >/dev/full; \(answer)", "exec >&-; \(answer)", "{ sleep 0.3; \(answer); } | true"]
        for (count, script) in scripts.enumerated() {
            let ran = try Ran(["/bin/sh", "-c", script], environment: site.environment, input: event)
            #expect(ran.text.contains("status 74"), "\(script): \(ran.text)")
            #expect(ran.text.contains(#""outcome":"answer_not_written""#), "\(script): \(ran.text)")
            #expect(ran.text.contains(#""account_created":\#(count == 0)"#), "\(script): \(ran.text)")
        }
    }
    #endif

    @Test func anEventThatCannotBeReadIsNoLargeOne() throws {
        let site = try FunctionSite()
        let program = try Programs.built("auth-apple").path()
        for (command, input) in [("", "<&-"), ("", "</tmp"), ("lines", "</tmp")] {
            let script = "'\(program)' \(command) \(input); echo \"status $?\" >&2"
            let ran = try Ran("/bin/sh", "-c", script, environment: site.environment)
            #expect(String(decoding: ran.output, as: UTF8.self).contains(#""statusCode":400"#))
            #expect(ran.text.contains("event: cannot_be_read") && ran.text.contains("status 74"), "\(ran.text)")
        }
    }

    /// Whatever comes in, one answer goes out.
    @Test func noInputCrashesTheProgram() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_STORE"] = "memory:"
        let good = try site.event(token: site.token("--subject", "001.fuzz.1"))
        var random = SystemRandomNumberGenerator()
        var input = Data()
        var count = 0
        for round in 0..<2000 {
            var line = round % 4 == 0 ? Data((0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }) : good
            for _ in 0..<3 {
                line[Int.random(in: 0..<line.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            line.replace([0x0A], with: [0x20])
            input += line + [0x0A]
            count += 1
        }
        let ran = try site.run("lines", input: input)
        #expect(ran.status == 0)
        #expect(ran.output.split(separator: 0x0A).count == count)
        let tooLong = try site.run("lines", input: Data(repeating: 0x20, count: 600_000) + Data("\n{}\n".utf8))
        let answers = tooLong.output.split(separator: 0x0A)
        #expect(answers.count == 2)
        #expect(String(decoding: answers[0], as: UTF8.self).contains(#""statusCode":413"#))
        #expect(try site.send(Data()).status == 400)
        #expect(try site.send(Data(repeating: 0x7B, count: 600_000)).status == 413)
    }
}
