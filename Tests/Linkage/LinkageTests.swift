import Foundation
import TestSupport
import Testing

/// What every build of the program, with whatever traits, does without until it is needed.
struct LateLibraryTests {
    /// The program of these tests has the traits that they were built with, PostgreSQL among them.
    @Test func neitherLibpqNorLibcurlIsLoadedAtStart() throws {
        let program = try Programs.built("auth-apple").path()
        let loaded = try Ran(program, environment: ["LD_TRACE_LOADED_OBJECTS": "1"]).text
        #expect(loaded.contains("libc.so.6"))
        #expect(!loaded.contains("libpq") && !loaded.contains("libcurl"))
        // The scan finds what there is: a build with the trait knows the name, and one without does not.
        let trace = try Data(contentsOf: URL(filePath: program)).range(of: Data("libpq.so.5".utf8))
        #if PostgreSQL
        #expect(trace != nil)
        #else
        #expect(trace == nil)
        #endif
    }
}

/// What the release program asks of the machine that it starts on: every library costs each start, and every new symbol of
/// glibc costs a platform.
@Suite(
    .enabled(
        if: ReleaseBinary.isThere, "AUTH_APPLE_RELEASE_BINARY is not set: Tests/run.sh builds the release and sets it"))
struct LinkageTests {
    static let system: Set = [
        "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
    ]

    @Test func theReleaseNeedsTheSystemAndLibcryptoOnly() throws {
        let needed = try ReleaseBinary().neededLibraries()
        #expect(needed.contains("libc.so.6"))
        #expect(needed.subtracting(Self.system).subtracting(["libcrypto.so.3"]) == [])
    }

    /// Libraries bring libraries: what counts is all that is mapped before `main`.
    @Test func nothingThatIsLoadedAtStartIsFoundationICUOrLibcurl() throws {
        let loaded = try ReleaseBinary().loadedLibraries()
        #expect(loaded.contains("libc.so.6"))
        for library in loaded {
            for unwanted in ["libFoundation", "lib_Foundation", "libicu", "libcurl", "libswift", "libstdc++", "libpq"] {
                #expect(!library.hasPrefix(unwanted), "\(library) is loaded at start")
            }
        }
    }

    @Test func theReleaseStartsOnGlibc234() throws {
        let versions = try ReleaseBinary().glibcVersions()
        #expect(!versions.isEmpty)
        for version in versions {
            #expect(version.compare("2.34", options: .numeric) != .orderedDescending, "GLIBC_\(version)")
        }
    }

    @Test func theReleaseIsHardened() throws {
        let release = try ReleaseBinary()
        let header = try release.run("readelf", "-hldW", release.url.path())
        #expect(header.contains("DYN (Position-Independent Executable file)"))
        #expect(header.contains("GNU_RELRO") && header.contains("BIND_NOW"))
        #expect(header.contains(/GNU_STACK.* RW +0/))
        // Constants are in a segment that nothing can write to.
        let sections = try release.run("readelf", "-SW", release.url.path())
        #expect(sections.contains(/\s\.rodata +PROGBITS( +[0-9a-f]+){4} +A/))
        // A search path of its own would let whoever can write there choose libcrypto.
        #expect(!header.contains("RUNPATH") && !header.contains("RPATH"))
    }

    /// A library that is opened later would take a function of the program's for its own, as libgcc_s did `_dl_find_object`.
    @Test func theReleaseOffersNoSymbolToLibraries() throws {
        let release = try ReleaseBinary()
        #expect(try release.run("nm", "-D", release.url.path()).contains(" U "))
        for program in [release.url, release.simulator] {
            #expect(try release.run("nm", "-D", "--defined-only", program.path()) == "")
        }
    }

    /// What another program finds: checksec, of Debian's package of that name.
    @Test(.enabled(if: ReleaseBinary.hasChecksec, "checksec is not installed: deploy/packages.sh test"))
    func checksecFindsNothingMissing() throws {
        let release = try ReleaseBinary()
        let output = try release.run("checksec", "--file=\(release.url.path())", "--output=json")
        let report = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: [String: String]]
        let found = try #require(report?[release.url.path()])
        for (property, value) in [
            "relro": "full", "canary": "yes", "nx": "yes", "pie": "yes", "rpath": "no", "runpath": "no",
            "symbols": "no",
        ] { #expect(found[property] == value, "\(property)") }
    }

    /// The bill of materials that `deploy/build.sh` wrote beside the program: of this program, and with everything that is
    /// loaded at its start. Tests/run.sh has SPDX's own validator read it.
    @Test func theBillOfMaterialsIsOfThisProgramAndNamesWhatIsLoaded() throws {
        let release = try ReleaseBinary()
        let file = release.url.appendingPathExtension("spdx.json")
        let document = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        let packages = try #require(document["packages"] as? [[String: Any]])
        let own = try #require(packages.first { $0["name"] as? String == "auth-apple" })
        let sum = try #require((own["checksums"] as? [[String: String]])?.first?["checksumValue"])
        #expect(try release.run("sha256sum", release.url.path()).hasPrefix(sum))
        let names = packages.compactMap { $0["name"] as? String }
        let libcrypto = try release.neededLibraries().contains("libcrypto.so.3") ? "libssl3" : "libssl-dev"
        #expect(
            Set(names).isSuperset(of: ["swift-runtime", libcrypto, "libc6", "libsqlite3-dev", "libgcc-12-dev"]),
            "\(names)")
        #expect(names.contains { $0.hasPrefix("libcurl4") }, "what is opened later is in it too")
        let opensLibpq = try Data(contentsOf: release.url).range(of: Data("libpq.so.5".utf8)) != nil
        #expect(names.contains("libpq5") == opensLibpq)
        for package in packages { #expect(!(package["versionInfo"] as? String ?? "").isEmpty, "\(package)") }
    }

    /// The simulator can sign as Apple; nothing of it may be where real tokens are checked.
    @Test func theSimulatorIsNotPartOfTheRelease() throws {
        let release = try ReleaseBinary()
        let trace = Data("APPLE_SIMULATOR_KEYS".utf8)
        #expect(try Data(contentsOf: release.simulator).range(of: trace) != nil)
        #expect(try Data(contentsOf: release.url).range(of: trace) == nil)
    }

    /// Loading libcurl costs more than all the rest of a request.
    @Test func aSignInWithKeysInTheCacheNeverLoadsLibcurl() throws {
        let release = try ReleaseBinary()
        let folder = FileManager.default.temporaryDirectory.appending(path: "warm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = { (name: String) in folder.appending(path: name).path() }

        let apple = ["APPLE_SIMULATOR_KEYS": file("apple-keys.json")]
        // The keys come over HTTP: from a file they would be read without libcurl at any time.
        let announcement = folder.appending(path: "serve.out")
        let server = try ChildProcess(
            release.simulator, ["serve", "--port", "0"], environment: apple, output: announcement)
        defer { server.kill(SIGTERM) }
        let address = try #require(server.firstLine(in: announcement))
        let token = try release.run(
            release.simulator.path(), "token", "--audience", "com.example.app", environment: apple)
        var environment = [
            "AUTH_APPLE_MODE": "development", "AUTH_APPLE_KEYS_URL": "\(address)/auth/keys",
            "AUTH_APPLE_KEY_CACHE": file("cache/keys"), "AUTH_APPLE_STORE": "sqlite:\(file("store.db"))",
            "AUTH_APPLE_AUDIENCES": "com.example.app", "AUTH_APPLE_SIGNING_KEYS_FILE": file("signing.json"),
            "AUTH_APPLE_TOKEN_ISSUER": "https://auth.example", "AUTH_APPLE_TOKEN_AUDIENCE": "example",
        ]
        _ = try release.run(release.url.path(), "keys", "new", environment: environment)
        _ = try release.run(release.url.path(), "store", "migrate", environment: environment)
        let body = try JSONSerialization.data(withJSONObject: [
            "identity_token": token.trimmingCharacters(in: .whitespacesAndNewlines), "deviceInfo": ["model": "test"],
        ])
        let event = try JSONSerialization.data(withJSONObject: [
            "method": "POST", "path": "/auth/apple", "headers": ["content-type": "application/json"],
            "body": String(decoding: body, as: UTF8.self),
        ])
        let signIn = { (standardError: Bool) in
            try release.run(
                release.url.path(), environment: environment, input: String(decoding: event, as: UTF8.self),
                standardError: standardError)
        }

        environment["LD_DEBUG"] = "files"
        #expect(try signIn(true).contains("libcurl"), "with an empty cache the keys are fetched")
        #expect(try !signIn(true).contains("libcurl"), "with the keys at hand they are not")
        environment["LD_DEBUG"] = nil
        #expect(try signIn(false).contains(#""statusCode":200"#))
    }
}
