import Foundation
import JOSE
import TestSupport
import Testing

@testable import Xid

/// The command line, by real processes against the provider of these tests on a real socket.
@Suite struct CommandTests {
    /// Follows the redirects, as a browser does for a person whom the provider knows already.
    static let browser = #"curl --silent --location --max-redirs 5 --output /dev/null "$1""#

    private struct Scene {
        let provider: OpenIDProvider
        let site: LoopbackSite
        let xid: XidProcess

        init(_ mutations: [Mutation] = [], browser: String? = CommandTests.browser) throws {
            provider = OpenIDProvider(now: { UnixTime(seconds: Int64(Date().timeIntervalSince1970)) })
            provider.set(mutations)
            site = try LoopbackSite(provider)
            xid = try XidProcess(issuer: provider.issuer, clientID: OpenIDProvider.clientID, browser: browser)
        }

        var secrets: [String] {
            provider.locked { provider.secrets }
                + provider.requests("/token").flatMap { request in
                    ["code_verifier", "code", "refresh_token"].compactMap { request.form[$0] }
                }
                + provider.requests("/authorize").flatMap { request in
                    ["state", "nonce"].compactMap { request.query[$0] }
                }
        }
    }

    @Test func aSessionFromItsBeginningToItsEnd() throws {
        let scene = try Scene()
        let xid = scene.xid
        let login = try xid.run("login", "--dpop", "--scope", "openid", "--scope", "offline_access")
        #expect(login.status == 0, "\(login.errors)")
        #expect(login.output == "Signed in as Ana Canary <ana@canary.example>\n")
        #expect(login.errors.hasPrefix("Opening the browser. If none opens, go to:\n  http://127.0.0.1:"))

        // From here on, what was named is remembered.
        xid.environment["XID_ISSUER"] = nil
        xid.environment["XID_CLIENT_ID"] = nil
        let session = try xid.run("session", "--json").json
        #expect(session["signed_in"] == .bool(true) && session["issuer"]?.string == scene.provider.issuer)
        #expect(session["subject"]?.string == OpenIDProvider.subject && session["token_type"] == "DPoP")
        #expect(session["scopes"] == .array(["openid", "offline_access"]))
        #expect(try #require(session["expires_at"]?.integer) > Int64(Date().timeIntervalSince1970))
        let shown = try xid.run("session").output
        #expect(shown.hasPrefix("Ana Canary <ana@canary.example>\n  subject  \(OpenIDProvider.subject)\n"))
        #expect(try /token    DPoP, good for [45] min/.firstMatch(in: shown) != nil)

        let first = try xid.run("token")
        #expect(first.status == 0 && first.errors.isEmpty)
        let isKnown = scene.provider.locked { scene.provider.accessTokens[String(first.output.dropLast())] != nil }
        #expect(isKnown && first.output.hasSuffix("\n"), "the token and nothing else")
        #expect(try xid.run("token").output == first.output)
        let second = try xid.run("token", "--refresh")
        #expect(second.status == 0 && second.output != first.output)
        let fields = try xid.run("token", "--url", "https://api.example.com/me?x=1", "--method", "POST")
        #expect(fields.output.hasPrefix("Authorization: DPoP \(second.output)DPoP: eyJ"))
        let whole = try xid.run("token", "--json").json
        #expect(whole["access_token"]?.string == String(second.output.dropLast()) && whole["token_type"] == "DPoP")

        let logout = try xid.run("logout", "--end-session", "--json")
        #expect(logout.status == 0, "\(logout.errors)")
        #expect(logout.output == "{\"signed_in\":false,\"was_signed_in\":true}\n")
        #expect(scene.provider.count("/revoke") == 2)
        // Without an address to come back to, nobody waits for the browser.
        for _ in 0..<200 where scene.provider.count("/logout") == 0 { usleep(50_000) }
        #expect(scene.provider.count("/logout") == 1)
        #expect(try xid.kept().isEmpty)
        #expect(try xid.run("logout").output == "Nobody was signed in\n")
        let after = try xid.run("token")
        #expect(after.status == 4 && after.output.isEmpty)
        #expect(after.errors == "xid: nobody is signed in. Run: xid login\n")
    }

    @Test func theFileThatRemembersIsClosedToOthersAndHoldsNoSecret() throws {
        let scene = try Scene()
        #expect(try scene.xid.run("login").status == 0)
        let file = scene.xid.rememberedFile
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path())
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let text = try String(contentsOf: file, encoding: .utf8)
        let members = try JSON(parsing: Array(text.utf8), limits: .init(bytes: 4096)).object?.members.map(\.name)
        #expect(members == ["issuer", "client_id", "scopes", "redirect_uri", "dpop"])
        for secret in scene.secrets + [OpenIDProvider.subject] { #expect(!text.contains(secret)) }
        // Another client of the same provider is not given what belongs to this one.
        let other = try scene.xid.run("session", "--client-id", "other")
        #expect(other.status == 4)
    }

    @Test func aLoginThatFailsIsNotRemembered() throws {
        let scene = try Scene([.redirectError("access_denied")])
        let login = try scene.xid.run("login")
        #expect(login.status == 1)
        #expect(login.errors.hasSuffix("xid: access was denied on the provider's page. To try again: xid login\n"))
        #expect(!login.errors.contains("100%"), "the provider's own sentence is not repeated")
        #expect(!FileManager.default.fileExists(atPath: scene.xid.rememberedFile.path()))
        #expect(try scene.xid.kept().isEmpty)
    }

    @Test func withoutABrowserTheAddressIsPrinted() throws {
        // One that would be seen if it were opened all the same.
        let scene = try Scene(browser: #"echo opened >"$HOME/opened""#)
        let running = try scene.xid.start("login", "--no-browser", "--json")
        try LoopbackTests.browse(try running.address())
        let ended = try running.end()
        #expect(ended.status == 0 && ended.errors.hasPrefix("Open this address in a browser on this machine:\n"))
        #expect(try ended.json["name"] == "Ana Canary")
        #expect(!FileManager.default.fileExists(atPath: scene.xid.folder.appending(path: "opened").path()))
    }

    @Test(arguments: [nil, "exit 3"])
    func aBrowserThatCannotBeOpenedIsNotTheEnd(browser: String?) throws {
        let scene = try Scene(browser: browser)
        let running = try scene.xid.start("login")
        try LoopbackTests.browse(try running.address())
        let ended = try running.end()
        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func ctrlCCancelsAndLeavesNothing() throws {
        for (signal, status) in [(SIGINT, Int32(130)), (SIGTERM, 143)] {
            let scene = try Scene()
            let running = try scene.xid.start("login", "--no-browser")
            _ = try running.address()
            #expect(try !scene.xid.kept().isEmpty, "the sign-in is open")
            running.process.kill(signal)
            let ended = try running.end()
            #expect(ended.status == status && ended.output.isEmpty)
            #expect(ended.errors.hasSuffix("xid: cancelled\n"))
            #expect(try scene.xid.kept().isEmpty, "no verifier stays behind")
        }
    }

    @Test(arguments: [
        ([], "xid: sign in with"), (["sign-in"], "no command sign-in"), (["login"], "--issuer and --client-id"),
        (["login", "--issuer"], "--issuer wants a value"), (["login", "--secret", "x"], "no option --secret"),
        (["token", "eyJhbGciOi"], "takes options only"), (["session", "--json=yes"], "--json takes no value"),
        (["session", "--json", "--json"], "--json is given twice"), (["token", "--method", "GET"], "go with --url"),
        (["login", "--issuer", "a b", "--client-id", "c"], "--issuer is no URL"),
        (["login", "--issuer", "ftp://x.example", "--client-id", "c"], "issuer must be an https URL"),
        (
            ["login", "--issuer", "https://x.example", "--client-id", "c", "--scope", "offline_access"],
            "without --dpop"
        ),
    ])
    func wrongUseIsTold(arguments: [String], expected: String) throws {
        let xid = try XidProcess()
        let ended = try XidProcess.Running(xid, arguments).end()
        #expect(ended.status == 2 && ended.output.isEmpty)
        #expect(ended.errors.contains(expected), "\(ended.errors)")
        #expect(!ended.errors.contains("eyJ"), "what stands in a wrong place may be a secret")
    }

    /// It was called "nobody is signed in"; and a logout said so as well, and left the tokens where they were.
    @Test func aFileOfTheLastLoginThatCannotBeReadIsSaid() throws {
        let scene = try Scene()
        let xid = scene.xid
        #expect(try xid.run("login").status == 0)
        let named = xid.environment
        xid.environment["XID_ISSUER"] = nil
        xid.environment["XID_CLIENT_ID"] = nil
        let path = xid.rememberedFile.path()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        for command in ["session", "token", "logout", "login"] {
            let ended = try xid.run(command)
            #expect(ended.status == 1 && ended.output.isEmpty && ended.errors.contains("chmod 600"), "\(ended.errors)")
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try Data("{".utf8).write(to: xid.rememberedFile)
        #expect(try xid.run("logout").status == 1)
        xid.environment["HOME"] = nil
        #expect(try xid.run("logout").status == 1)
        #expect(try !xid.kept().isEmpty)
        // Who names both needs none.
        xid.environment = named
        #expect(try xid.run("logout").output == "Signed out\n")
        #expect(try xid.kept().isEmpty)
    }

    /// A script would take an empty file for a token.
    @Test(arguments: [["token"], ["session", "--json"], ["--help"], ["logout"]])
    func anAnswerThatCannotBeWrittenIsNoSuccess(arguments: [String]) throws {
        let scene = try Scene()
        #expect(try scene.xid.run("login").status == 0)
        let errors = scene.xid.folder.appending(path: "full.err")
        let process = try ChildProcess(
            Programs.built("xid"), arguments, environment: scene.xid.environment,
            output: URL(filePath: "/dev/full"), errors: errors)
        #expect(process.wait() == 1)
        let said = try String(contentsOf: errors, encoding: .utf8)
        #expect(said == "xid: standard output cannot be written: No space left on device\n")
    }

    /// A script tries again after status 3, which an outage is, whoever answers during it.
    @Test(arguments: [
        (Mutation.answer("/.well-known/openid-configuration", status: 503, body: ""), Int32(3), "HTTP 503. Try again"),
        (.answer("/token", status: 429, body: ""), 3, "HTTP 429. Try again"),
        (.redirectError("temporarily_unavailable"), 3, "(temporarily_unavailable). Try again later"),
        (.answer("/token", status: 500, body: #"{"error":"server_error"}"#), 3, "(server_error). Try again later"),
        (
            .answer("/.well-known/openid-configuration", status: 404, body: ""), 1,
            "HTTP 404, which is of no use here. Check --issuer"
        ),
        (.redirectError("invalid_scope"), 1, "(invalid_scope). Check that the client"),
    ])
    func anOutageIsToldFromARefusal(mutation: Mutation, status: Int32, said: String) throws {
        let ended = try Scene([mutation]).xid.run("login")
        #expect(ended.status == status && ended.errors.contains(said), "\(ended.errors)")
    }

    /// It was "not to be trusted", and the clock's fault.
    @Test func aProviderWhoseDPoPIsAnotherIsToldFromOneThatRefuses() throws {
        let scene = try Scene([.discovery("dpop_signing_alg_values_supported", .array(["RS256"]))])
        let ended = try scene.xid.run("login", "--dpop")
        #expect(ended.status == 1 && ended.errors.contains("signed with ES256. Leave out --dpop"), "\(ended.errors)")
        #expect(!ended.errors.contains("clock"))
    }

    /// "Try again when the device is unlocked" is no word for a folder of a machine.
    @Test func aPlaceForTokensThatIsNoneIsSaidInTheSystemsWords() throws {
        let scene = try Scene()
        scene.xid.environment["XDG_STATE_HOME"] = scene.xid.folder.appending(path: "bin/xdg-open").path()
        let ended = try scene.xid.run("login")
        #expect(ended.status == 1, "\(ended.errors)")
        #expect(
            ended.errors.hasSuffix("in $XDG_STATE_HOME/xid (~/.local/state/xid): Not a directory\n"), "\(ended.errors)")
    }

    @Test func whoIsNotSignedInIsToldSo() throws {
        let xid = try XidProcess()
        let session = try xid.run("session", "--json")
        #expect(session.status == 4 && session.output == "{\"signed_in\":false}\n")
        #expect(try xid.run("session").output.isEmpty)
        #expect(try xid.run("logout").status == 0)
    }

    @Test func aProviderThatIsNotThereIsAnotherStatus() throws {
        let scene = try Scene()
        scene.site.stop()
        usleep(100_000)
        let ended = try scene.xid.run("login")
        #expect(ended.status == 3 && ended.errors.hasPrefix("xid: the provider cannot be reached."), "\(ended.errors)")
    }

    @Test func aSessionThatCannotBeRenewedIsNoSession() throws {
        let scene = try Scene([.tokenResponse("expires_in", .integer(1))])
        #expect(try scene.xid.run("login").status == 0)
        usleep(1_100_000)
        let ended = try scene.xid.run("token")
        #expect(ended.status == 4 && ended.output.isEmpty && ended.errors.hasSuffix("Run: xid login\n"))
        #expect(try scene.xid.kept().isEmpty)
    }

    /// The provider was told nothing, and the person stayed signed in there: a session without renewal expires within the hour.
    @Test func whoseTokenHasExpiredIsSignedOutAtTheProviderAllTheSame() throws {
        let scene = try Scene([.tokenResponse("expires_in", .integer(1))])
        #expect(try scene.xid.run("login").status == 0)
        usleep(1_100_000)
        let ended = try scene.xid.run("logout", "--end-session")
        #expect(ended.status == 0 && ended.output == "Signed out\n", "\(ended.errors)")
        for _ in 0..<200 where scene.provider.count("/logout") == 0 { usleep(50_000) }
        #expect(scene.provider.requests("/logout").first?.query["id_token_hint"] != nil)
        #expect(scene.provider.count("/revoke") == 1)
        #expect(try scene.xid.kept().isEmpty)
    }

    @Test(arguments: ["login", "session", "token", "logout"])
    func everyCommandHasHelpWithItsStatuses(command: String) throws {
        let ended = try XidProcess().run(command, "--help")
        #expect(ended.status == 0 && ended.errors.isEmpty)
        #expect(ended.output.hasPrefix("xid \(command)") && ended.output.contains("Exit status: 0 done"))
        for option in ["--issuer", "--client-id", "--json"] { #expect(ended.output.contains(option)) }
        let lines = ended.output.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 120 })
    }

    /// The command itself, its failures among it: a token is seen where it was asked for and nowhere else.
    @Test func noFailureShowsASecret() throws {
        let bad: [[Mutation]] = [
            [.appendOne("iss")], [.appendOne("aud")], [.appendOne("nonce")], [.signatureXOR], [.unsigned],
            [.setTime("exp", -600)], [.atHash(isRight: false)], [.tokenResponse("token_type", "x")],
            [.tokenResponse("id_token", nil)],
            [.answer("/token", status: 400, body: #"{"error":"eyJhbGciOi","error_description":"code-x"}"#)],
        ]
        for mutations in bad {
            let scene = try Scene(mutations)
            let ended = try scene.xid.run("login")
            #expect(ended.status == 1, "\(mutations) \(ended.errors)")
            let secrets = scene.secrets
            #expect(secrets.count > 3)
            CanaryTests.check(ended.output + ended.errors, secrets + ["eyJ", "code-x"], "\(mutations)")
            #expect(try scene.xid.kept().isEmpty)
        }
    }

    /// A provider's name for somebody could move the cursor, or say something else than it says.
    @Test func aNameCommandsNoTerminal() throws {
        let name = "Ana\u{1B}[2J\u{202E}\u{9B}\u{7F}\n\u{E0041}é"
        let scene = try Scene([.setClaim("name", .string(name))])
        #expect(try scene.xid.run("login").output == "Signed in as Ana?[2J?????é <ana@canary.example>\n")
        // JSON is for programs, and is looked at as well. It says the same, in escapes.
        let ended = try scene.xid.run("session", "--json")
        #expect(ended.output.contains(#""name":"Ana\u001b[2J\u202e\u009b\u007f\n\udb40\udc41é""#), "\(ended.output)")
        #expect(try ended.json["name"]?.string == name)
    }

    /// On a terminal there is a spinner, whose line is gone at the end; in a file there is none.
    @Test func onATerminalItIsSeenToWait() throws {
        let scene = try Scene()
        // A terminal of the kernel's: unlocked (TIOCSPTLCK), and its number asked for (TIOCGPTN).
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(terminal) }
        var (lock, number) = (Int32(0), UInt32(0))
        try #require(ioctl(terminal, 0x4004_5431, &lock) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
        let running = try scene.xid.start("login", "--no-browser", terminal: "/dev/pts/\(number)")
        var seen = ""
        func read(until isEnough: (String) -> Bool) {
            for _ in 0..<400 where !isEnough(seen) {
                var entry = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
                guard poll(&entry, 1, 50) > 0 else { continue }
                var chunk = [UInt8](repeating: 0, count: 4096)
                let count = Foundation.read(terminal, &chunk, chunk.count)
                if count > 0 { seen += String(decoding: chunk[..<count], as: UTF8.self) }
            }
        }
        read { $0.contains("⠹ Waiting for the browser; Ctrl-C cancels") }
        #expect(seen.contains("\r⠹ Waiting for the browser"))
        let address = try #require(seen.firstMatch(of: /(http:\/\/127\.0\.0\.1:\d+\/[a-z0-9]+)/))
        try LoopbackTests.browse(try #require(URL(string: String(address.1))))
        #expect(running.process.wait() == 0)
        read { $0.hasSuffix("\r\u{1B}[K") }
        #expect(seen.hasSuffix("\r\u{1B}[K"))
        let inAFile = try Scene().xid.run("login")
        #expect(inAFile.status == 0 && !inAFile.errors.contains("Waiting"))
    }
}
