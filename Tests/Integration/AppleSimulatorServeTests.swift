import Foundation
import TestSupport
import Testing

/// `apple-simulator serve` and its key file.
@Suite struct AppleSimulatorServeTests {
    @Test func theKeyFileIsClosedToOthers() throws {
        let simulator = try AppleSimulator()
        let keys = try simulator.line("keys")
        let modes = try [simulator.keyFile, simulator.keyFile.deletingLastPathComponent()].map {
            try FileManager.default.attributesOfItem(atPath: $0.path())[.posixPermissions] as? Int
        }
        #expect(modes == [0o600, 0o700])
        #expect(try simulator.line("keys") == keys)
        // Nothing but the key file, and nothing private in what is printed.
        let names = try FileManager.default.contentsOfDirectory(
            atPath: simulator.keyFile.deletingLastPathComponent().path())
        #expect(names == ["keys.json"])
        let members = try JSONSerialization.jsonObject(with: Data(keys.utf8)) as? [String: [[String: String]]]
        #expect(members?["keys"]?.allSatisfy { Set($0.keys) == ["kty", "kid", "use", "alg", "n", "e"] } == true)
    }

    @Test func aKeyFileThatIsOpenToOthersOrForeignInContentIsRefused() throws {
        let simulator = try AppleSimulator()
        _ = try simulator.run("keys")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: simulator.keyFile.path())
        let open = try simulator.run("token")
        #expect(open.exitStatus == 73 && open.output.isEmpty && open.errors.contains("open to others"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: simulator.keyFile.path())
        try Data("{}".utf8).write(to: simulator.keyFile)
        let empty = try simulator.run("token")
        #expect(empty.exitStatus == 73 && empty.output.isEmpty && empty.errors.contains("holds no keys"))
    }

    @Test func firstUsesAtOnceAgreeOnTheKeys() throws {
        let simulator = try AppleSimulator()
        let started = try (0..<6).map { _ in try simulator.start(["keys"]) }
        let printed = Set(
            try started.map { process, output, _ in
                #expect(process.wait() == 0)
                return String(decoding: try Data(contentsOf: output), as: UTF8.self)
            })
        #expect(printed.count == 1)
        #expect(printed.first?.hasPrefix("{\"keys\":[") == true)
    }

    @Test func wrongUseEndsWith64AndSaysWhy() throws {
        let simulator = try AppleSimulator()
        let uses = [
            [], ["sign"], ["token", "--bogus"], ["token", "extra"], ["token", "--subject"], ["token", "--bad", "odd"],
            ["token", "--key", "4"], ["token", "--key", "1", "--key", "2"], ["token", "--relay=1"],
            ["token", "--email", "a@b", "--relay"], ["token", "--nonce-verbatim"], ["token", "--claim", "x"],
            ["token", "--issued-at", "soon"], ["serve", "--port", "65536"], ["keys", "--port", "1"],
        ]
        for use in uses {
            let result = try simulator.run(use)
            #expect(result.exitStatus == 64 && result.output.isEmpty && !result.errors.isEmpty, "\(use)")
        }
        for use in [
            ["--help"], ["keys", "--help"], ["token", "--help"], ["serve", "--help"], ["token", "--bad", "list"],
        ] {
            let result = try simulator.run(use)
            #expect(result.exitStatus == 0 && result.output.contains("\n") && result.errors.isEmpty, "\(use)")
        }
        #expect(!FileManager.default.fileExists(atPath: simulator.keyFile.path()))
    }

    @Test func theKeysAreServedWithWhatACacheGoesBy() throws {
        let simulator = try AppleSimulator()
        let printed = try simulator.line("keys")
        let served = try simulator.serving { address in
            let answer = try address.get("/auth/keys?x=1")
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.hasSuffix("\r\n\r\n\(printed)"))
            #expect(answer.contains("\r\nCache-Control: public, max-age=3600\r\n"))
            #expect(answer.contains("\r\nContent-Type: application/json;charset=UTF-8\r\n"))
            #expect(answer.contains("\r\nContent-Length: \(printed.utf8.count)\r\n"))
            let tag = try #require(answer.firstMatch(of: /\r\nETag: ("[^"]+")\r\n/)).1
            for field in [String(tag), "W/\(tag)", "\"other\", \(tag)", "*"] {
                let known = try address.get("/auth/keys", headers: "If-None-Match: \(field)\r\n")
                #expect(known.hasPrefix("HTTP/1.1 304 ") && known.hasSuffix("\r\n\r\n"), "\(field)")
            }
            #expect(try address.get("/auth/keys", headers: "If-None-Match: \"other\"\r\n").hasPrefix("HTTP/1.1 200 "))
            let head = try address.get("/auth/keys", method: "HEAD")
            #expect(head.hasPrefix("HTTP/1.1 200 ") && head.hasSuffix("\r\n\r\n"))
            _ = try simulator.run("keys", "--rotate")
            let rotated = try address.get("/auth/keys", headers: "If-None-Match: \(tag)\r\n")
            #expect(rotated.hasPrefix("HTTP/1.1 200 ") && !rotated.hasSuffix(printed))
        }
        #expect(served.exitStatus == 0)
        #expect(served.errors.split(separator: "\n").count == 8)
    }

    @Test func whatIsNotThereIsAnsweredSo() throws {
        let simulator = try AppleSimulator()
        let served = try simulator.serving { address in
            #expect(try address.get("/auth/keys/").hasPrefix("HTTP/1.1 404 "))
            let post = try address.get("/auth/keys", method: "POST", headers: "Content-Length: 0\r\n")
            #expect(post.hasPrefix("HTTP/1.1 405 ") && post.contains("\r\nAllow: GET, HEAD\r\n"))
            #expect(try address.exchange("GET /auth/keys HTTP/1.1\r\n\r\n").hasPrefix("HTTP/1.1 400 "))
            // A page elsewhere whose name was made to point here (DNS rebinding).
            #expect(
                try address.exchange("GET /auth/keys HTTP/1.1\r\nHost: example.net\r\n\r\n").hasPrefix("HTTP/1.1 421 "))
            for garbage in [
                "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
                "\u{0}\r\n\r\n",
            ] {
                #expect(try address.exchange(garbage).hasPrefix("HTTP/1.1 400 "), "\(garbage.debugDescription)")
            }
            #expect(try address.get("/", headers: "Content-Length: -1\r\n").hasPrefix("HTTP/1.1 400 "))
            #expect(try address.get("/", headers: "Content-Length: 65537\r\n").hasPrefix("HTTP/1.1 413 "))
            #expect(try address.get("/", headers: "Transfer-Encoding: chunked\r\n").hasPrefix("HTTP/1.1 501 "))
            let long = String(repeating: "x", count: 20_000)
            #expect(try address.get("/", headers: "X: \(long)\r\n").hasPrefix("HTTP/1.1 431 "))
            #expect(try address.exchange(long).hasPrefix("HTTP/1.1 431 "))
            // Nothing in a path makes a line of its own in the log.
            #expect(try address.get("/%0a\u{2028}\u{1b}[31m").hasPrefix("HTTP/1.1 404 "))
        }
        #expect(served.exitStatus == 0)
        for line in served.errors.split(separator: "\n") {
            #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) is [String: Any], "\(line)")
        }
    }

    @Test func aSlowOrVanishingClientHoldsUpNobody() throws {
        let simulator = try AppleSimulator()
        let served = try simulator.serving { address in
            let slow = try (0..<20).map { _ in try #require(address.connect()) }
            for connection in slow { try connection.write(contentsOf: Data("GET /auth/keys HT".utf8)) }
            for _ in 0..<20 {
                // Gone at once, with a reset instead of an end.
                let connection = try #require(address.connect())
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(
                    connection.fileDescriptor, SOL_SOCKET, SO_LINGER, &linger,
                    socklen_t(MemoryLayout.size(ofValue: linger)))
                try connection.write(
                    contentsOf: Data("GET /auth/keys HTTP/1.1\r\nHost: 127.0.0.1:\(address.port)\r\n\r\n".utf8))
                try connection.close()
            }
            let began = ContinuousClock.now
            #expect(try address.get("/auth/keys").hasPrefix("HTTP/1.1 200 "))
            #expect(ContinuousClock.now - began < .seconds(4))
            // The slow ones are told so once their time is over, here after 5 s.
            let told = String(decoding: try slow[0].readToEnd() ?? Data(), as: UTF8.self)
            #expect(told.hasPrefix("HTTP/1.1 408 "))
        }
        #expect(served.exitStatus == 0)
    }

    /// A client's time once began when the server had begun to wait: after five idle seconds the first was sent away.
    @Test func whoComesAfterAnIdleWhileHasTimeLikeAnybody() throws {
        let simulator = try AppleSimulator()
        try simulator.serving { address in
            #expect(try address.get("/auth/keys").hasPrefix("HTTP/1.1 200 "))
            usleep(5_500_000)
            let connection = try #require(address.connect())
            usleep(300_000)
            try connection.write(
                contentsOf: Data("GET /auth/keys HTTP/1.1\r\nHost: 127.0.0.1:\(address.port)\r\n\r\n".utf8))
            let answer = String(decoding: try connection.readToEnd() ?? Data(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test func nobodyButThisMachineReachesIt() throws {
        let simulator = try AppleSimulator()
        try simulator.serving { address in
            #expect(address.connect() != nil)
            // Also an address of this machine, and not the one it listens on.
            #expect(address.connect(to: "127.0.0.2") == nil)
        }
    }

    @Test func aPortThatIsTakenIsSaidSo() throws {
        let simulator = try AppleSimulator()
        try simulator.serving { address in
            let second = try simulator.run("serve", "--port", String(address.port))
            #expect(second.exitStatus == 71 && second.output.isEmpty && second.errors.contains(String(address.port)))
        }
    }
}
