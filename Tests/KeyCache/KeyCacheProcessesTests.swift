import Foundation
import JOSE
import TestSupport
import Testing

@testable import KeyCache

/// Real processes on one file, and a server that counts.
@Suite(.serialized) struct KeyCacheProcessesTests {
    static let program: URL = {
        let folder = (Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0]))
            .resolvingSymlinksInPath().deletingLastPathComponent()
        return folder.appending(path: "key-cache-probe")
    }()

    struct Outcome: Decodable, Sendable {
        let found: String
        let outcome: String
        let notes: [String]
    }

    /// One run of `key-cache-probe`.
    final class Probe {
        let process = Process()
        private let output = Pipe()
        /// Whose folder the process writes to.
        private let stage: Stage

        init(
            _ stage: Stage, _ server: LoopbackServer, naming keyID: String, url: String? = nil, shift: Int64 = 0,
            environment: [String: String] = [:]
        ) throws {
            self.stage = stage
            process.executableURL = KeyCacheProcessesTests.program
            process.arguments = [stage.path, url ?? server.url(), server.authority, keyID, String(shift)]
            process.environment = environment
            process.standardOutput = output
            try process.run()
        }

        /// Nil when it was killed.
        func outcome() throws -> Outcome? {
            let data = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return data.isEmpty ? nil : try JSONDecoder().decode(Outcome.self, from: data)
        }
    }

    static func good(delay: Double = 0) -> LoopbackServer.Answer {
        LoopbackServer.Answer(200, Keys.body("A", "B"), headers: [["Cache-Control", "max-age=600"]])
            .with { $0.delay = delay }
    }

    /// All at once.
    static func outcomes(
        _ count: Int, _ stage: Stage, _ server: LoopbackServer, shift: Int64 = 0, naming keyID: (Int) -> String
    ) throws -> [Outcome] {
        let probes = try (0..<count).map { try Probe(stage, server, naming: keyID($0), shift: shift) }
        return try probes.compactMap { try $0.outcome() }
    }

    @Test func sixtyFourProcessesWithoutAnyCacheMakeOneFetchAndAllAreServed() throws {
        try LoopbackServer.run(Self.good(delay: 0.5)) { server in
            let outcomes = try Self.outcomes(64, Stage(), server) { _ in "A" }
            #expect(outcomes.count == 64)
            #expect(outcomes.allSatisfy { $0.found == "known" && $0.notes.isEmpty })
            #expect(try server.requests().count == 1)
        }
    }

    @Test func sixtyFourProcessesOnAStaleCacheAreServedFromItAndRenewItOnce() throws {
        try LoopbackServer.run(Self.good(delay: 0.5)) { server in
            let stage = Stage()
            #expect(try Probe(stage, server, naming: "A").outcome()?.found == "known")
            let outcomes = try Self.outcomes(64, stage, server, shift: 3600) { _ in "A" }
            #expect(outcomes.count == 64)
            #expect(outcomes.allSatisfy { $0.found == "known" })
            #expect(outcomes.filter { $0.notes == ["renewed after the answer"] }.count == 1)
            #expect(try server.requests().count == 2)
        }
    }

    @Test func sixtyFourProcessesOnACacheThatIsTooOldMakeOneFetchAndAllAreServed() throws {
        try LoopbackServer.run(Self.good(delay: 0.5)) { server in
            let stage = Stage()
            #expect(try Probe(stage, server, naming: "A").outcome()?.found == "known")
            let outcomes = try Self.outcomes(64, stage, server, shift: 80 * 3600) { _ in "A" }
            #expect(outcomes.count == 64)
            #expect(outcomes.allSatisfy { $0.found == "known" })
            #expect(try server.requests().count == 2)
        }
    }

    @Test func sixtyFourProcessesInAnOutageMakeOneAttempt() throws {
        try LoopbackServer.run(Self.good(delay: 0.5).with { $0.status = 503 }) { server in
            let outcomes = try Self.outcomes(64, Stage(), server) { _ in "A" }
            #expect(outcomes.count == 64)
            #expect(outcomes.allSatisfy { $0.outcome == "unavailable" })
            #expect(try server.requests().count == 1)
        }
    }

    @Test func aRotationIsSeenByAllAtTheFirstTry() throws {
        try LoopbackServer.run(Self.good()) { server in
            let stage = Stage()
            #expect(try Probe(stage, server, naming: "A").outcome()?.found == "known")
            try server.answer(LoopbackServer.Answer(200, Keys.body("B", "C")).with { $0.delay = 0.5 })
            let outcomes = try Self.outcomes(16, stage, server) { _ in "C" }
            #expect(outcomes.count == 16)
            #expect(outcomes.allSatisfy { $0.found == "known" })
            #expect(try server.requests().count == 2)
        }
    }

    @Test func twoHundredProcessesWithRandomNamesMakeOneFetchAMinute() throws {
        try LoopbackServer.run(Self.good()) { server in
            let stage = Stage()
            #expect(try Probe(stage, server, naming: "A").outcome()?.found == "known")
            for minute in 0..<2 {
                for batch in 0..<5 {
                    let outcomes = try Self.outcomes(20, stage, server, shift: Int64(minute) * 120) {
                        "random-\(minute)-\(batch)-\($0)"
                    }
                    #expect(outcomes.count == 20)
                    #expect(outcomes.allSatisfy { $0.found == "unknown" })
                }
                #expect(try server.requests().count == 1 + minute + 1)
            }
        }
    }

    /// A CGI server may hand a client's `Proxy:` header on as HTTP_PROXY, and libcurl believes its relatives.
    @Test func proxiesOfTheEnvironmentAreIgnored() throws {
        try LoopbackServer.run(Self.good()) { server in
            let names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
            let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, "http://127.0.0.1:9") })
            for url in [server.url(), server.plainURL()] {
                let outcome = try Probe(Stage(), server, naming: "A", url: url, environment: environment).outcome()
                #expect(outcome?.found == "known")
            }
        }
    }

    /// Debian's OpenSSL does not speak TLS 1.1 by itself; this shows that we refuse it where the system would not.
    @Test func tls11IsRefusedEvenWhereTheSystemAllowsIt() throws {
        let configuration = FileManager.default.temporaryDirectory.path + "/openssl-\(UUID().uuidString).cnf"
        defer { unlink(configuration) }
        try """
        openssl_conf = all
        [all]
        ssl_conf = ssl
        [ssl]
        system_default = lax
        [lax]
        MinProtocol = TLSv1
        CipherString = DEFAULT:@SECLEVEL=0
        """.write(toFile: configuration, atomically: true, encoding: .utf8)
        let environment = ["OPENSSL_CONF": configuration]
        try LoopbackServer.run(Self.good().with { $0.tls = .only11 }) { server in
            let outcome = try #require(try Probe(Stage(), server, naming: "A", environment: environment).outcome())
            #expect(outcome.outcome == "unavailable")
            #expect(outcome.notes.isEmpty)
            #expect(outcome.found.contains("(tls: "))
            #expect(try server.requests().isEmpty)
        }
    }

    @Test(arguments: [
        "#include <stddef.h>\nvoid *dlopen(const char *name, int mode) { return NULL; }",
        // A library that is there but lacks a function.
        """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <string.h>
        void *dlsym(void *library, const char *name) {
            if (strncmp(name, "curl_", 5) == 0) return NULL;
            void *(*real)(void *, const char *) = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
            // As if the caller had called it: what comes next depends on who asks.
            __attribute__((musttail)) return real(library, name);
        }
        """,
    ])
    func withoutLibcurlTheErrorSaysSoAndRememberedKeysAreServed(source: String) throws {
        let missing = try Preload(source)
        try LoopbackServer.run(Self.good()) { server in
            let environment = ["LD_PRELOAD": missing.path]
            let empty = try #require(try Probe(Stage(), server, naming: "A", environment: environment).outcome())
            #expect(empty.outcome == "unavailable")
            #expect(empty.found.contains("(http_library: libcurl.so.4 cannot be opened: install libcurl"))
            let stage = Stage()
            #expect(try Probe(stage, server, naming: "A").outcome()?.found == "known")
            #expect(try Probe(stage, server, naming: "A", environment: environment).outcome()?.outcome == "hit")
        }
    }

    @Test func aProcessThatIsKilledBetweenWritingAndRenamingLeavesTheOldFileAndNoLock() throws {
        try LoopbackServer.run(Self.good()) { server in
            let stage = Stage()
            let killer = try Preload(
                "#include <signal.h>\nint renameat(int a, const char *b, int c, const char *d) { return raise(SIGKILL); }"
            )
            // With nothing there before, and with old keys there before.
            for old in [nil, "B"] {
                if old != nil { #expect(try Probe(stage, server, naming: "B").outcome()?.found == "known") }
                let before = try? Data(contentsOf: URL(fileURLWithPath: stage.path))
                let killed = try Probe(
                    stage, server, naming: "A", shift: old == nil ? 0 : 80 * 3600,
                    environment: ["LD_PRELOAD": killer.path])
                #expect(try killed.outcome() == nil)
                #expect(killed.process.terminationReason == .uncaughtSignal)
                #expect(FileManager.default.fileExists(atPath: stage.path + ".new"))
                #expect((try? Data(contentsOf: URL(fileURLWithPath: stage.path))) == before)
            }
            let next = try #require(try Probe(stage, server, naming: "A").outcome())
            #expect(next.outcome == "hit")
            #expect(next.notes.isEmpty)
            let renewed = try #require(try Probe(stage, server, naming: "A", shift: 80 * 3600).outcome())
            #expect(renewed.outcome == "refreshed")
            #expect(!FileManager.default.fileExists(atPath: stage.path + ".new"))
        }
    }

    @Test func processesThatAreKilledAtAnyMomentNeverSpoilTheFile() throws {
        try LoopbackServer.run(Self.good(delay: 0.02)) { server in
            let stage = Stage()
            for round in 0..<40 {
                let shift = Int64(round) * 80 * 3600
                let probe = try Probe(stage, server, naming: "A", shift: shift)
                usleep(UInt32(round) * 2500)
                kill(probe.process.processIdentifier, SIGKILL)
                _ = try probe.outcome()
                guard let bytes = FileManager.default.contents(atPath: stage.path) else { continue }
                #expect(KeyRecord(parsing: Array(bytes)) != nil)
            }
            #expect(try Probe(stage, server, naming: "A", shift: 41 * 80 * 3600).outcome()?.found == "known")
        }
    }
}
