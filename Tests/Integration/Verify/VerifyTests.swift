import Accounts
import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

/// The examples of `deploy/verify`, run as a service would run them, through rotations of the keys and against bad tokens.
@Suite(.serialized) struct VerifyTests {
    enum Example: String, CaseIterable, CustomStringConvertible {
        case node = "verify.cjs"
        case python = "verify.py"
        case go = "verify.go"

        var description: String { rawValue }

        var command: [String] {
            let file = Programs.packageRoot.appending(path: "deploy/verify/\(rawValue)").path()
            return switch self {
            case .node: ["/usr/bin/node", file]
            case .python: ["/usr/bin/python3", file]
            case .go: ["/usr/bin/go", "run", file]
            }
        }

        /// RS256 tokens as well; Go's example says that it takes ES256 only.
        var takesRSA: Bool { self != .go }
    }

    /// A program that answers a line with a line.
    final class Conversation {
        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        init(_ command: [String], environment: [String: String]) throws {
            process.executableURL = URL(filePath: command[0])
            process.arguments = Array(command.dropFirst())
            process.environment = environment
            process.standardInput = input
            process.standardOutput = output
            try process.run()
        }

        deinit {
            try? input.fileHandleForWriting.close()
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        func line() -> String {
            var line = Data()
            while let byte = try? output.fileHandleForReading.read(upToCount: 1), let first = byte.first, first != 0x0A
            {
                line.append(first)
            }
            return String(decoding: line, as: UTF8.self)
        }

        func answer(to text: String) throws -> String {
            try input.fileHandleForWriting.write(contentsOf: Data((text + "\n").utf8))
            return line()
        }
    }

    private let site: FunctionSite
    private let server: Conversation
    private let environment: [String: String]

    init() throws {
        site = try FunctionSite()
        let script = Programs.packageRoot.appending(path: "Tests/Tools/serve_keys.py").path()
        server = try Conversation(
            ["/usr/bin/python3", script, Programs.built("auth-apple").path()], environment: site.environment)
        environment = [
            "JWKS_URL": "http://127.0.0.1:\(server.line())/.well-known/jwks.json",
            "TOKEN_ISSUER": "https://auth.example.com", "TOKEN_AUDIENCE": "https://api.example.com",
            "NODE_PATH": "/usr/share/nodejs", "PATH": "/usr/bin:/bin", "GO111MODULE": "off",
            "GOPATH": "/usr/share/gocode", "GOCACHE": Programs.packageRoot.appending(path: ".build/go").path(),
            "HOME": site.folder.path(),
        ]
    }

    private func fetches() throws -> Int? {
        let url = (environment["JWKS_URL"] ?? "").replacing("/.well-known/jwks.json", with: "/fetches")
        return Int(try Ran("/usr/bin/curl", "--silent", "--noproxy", "*", url).text)
    }

    private func accessToken(_ subject: String) throws -> String {
        let answer = try site.send(site.event(token: site.token("--subject", subject)))
        return try #require(answer.body["access_token"] as? String)
    }

    @Test(arguments: Example.allCases)
    func noVerifierMeetsAKeyThatItDoesNotKnow(_ example: Example) throws {
        var earlier = try accessToken("001.verify.0")
        for round in 1...3 {
            // It fetches the set once, and remembers it: the rotation comes behind its back.
            let verifier = try Conversation(example.command, environment: environment)
            #expect(try verifier.answer(to: earlier).hasPrefix("ok "), "\(round)")
            let fetches = try self.fetches()
            try site.letPass(seconds: 3 * 3600)
            #expect(try site.run("keys", "rotate").text.contains("Rotated"))
            let later = try accessToken("001.verify.\(round)")
            #expect(try Self.header(later)["kid"] != Self.header(earlier)["kid"])
            #expect(try verifier.answer(to: later).hasPrefix("ok "), "\(round)")
            // Some fetch again for a key that they do not know: then the rotation would not have been seamless.
            #expect(try self.fetches() == fetches, "\(round)")
            // And one that starts now still knows the key of before.
            let newcomer = try Conversation(example.command, environment: environment)
            #expect(try newcomer.answer(to: earlier).hasPrefix("ok "), "\(round)")
            earlier = later
        }
    }

    @Test(arguments: Example.allCases) func badTokensAreRefused(_ example: Example) throws {
        let file = URL(filePath: try #require(site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"]))
        let json = try JSON(parsing: Array(Data(contentsOf: file)), limits: JSON.Limits(bytes: 65_536))
        let cryptography = OpenSSLCryptography()
        let key = try SigningKey(try #require(json["keys"]?.array?.first), using: cryptography)
        let now = Int64(Date().timeIntervalSince1970)
        func token(_ change: (inout JSON.Object) -> Void = { _ in }, type: String = "at+jwt") throws -> String {
            var claims: JSON.Object = [
                "iss": "https://auth.example.com", "aud": "https://api.example.com", "sub": "person", "sid": "session",
                "iat": .integer(now), "exp": .integer(now + 900),
            ]
            change(&claims)
            return try CompactJWS.signed(
                JSON.object(claims).serialized(), type: type, by: key, using: cryptography)
        }
        let good = try token()
        let parts = good.split(separator: ".")
        let none = Base64URL.encode(Array(#"{"alg":"none","typ":"at+jwt"}"#.utf8)) + ".\(parts[1])."
        let header = Base64URL.encode(Array(#"{"alg":"HS256","typ":"at+jwt","kid":"\#(key.keyID)"}"#.utf8))
        let input = Array("\(header).\(parts[1])".utf8)
        let publicText = Array(key.jwk.json.serialized())
        let mac = cryptography.hmacSHA256(input[...], key: publicText[...])
        let bad: [String: String] = [
            "expired": try token { $0["exp"] = .integer(now - 120) }, "no expiry": try token { $0["exp"] = nil },
            "other audience": try token { $0["aud"] = "https://other.example.com" },
            "other issuer": try token { $0["iss"] = "https://evil.example.com" }, "other type": try token(type: "JWT"),
            "alg none": none,
            "HS256 with the public key": String(decoding: input, as: UTF8.self) + "." + Base64URL.encode(mac),
            "another signature": "\(parts[0]).\(parts[1]).\(Base64URL.encode([UInt8](repeating: 7, count: 64)))",
            "no token": "no-token",
        ]
        let verifier = try Conversation(example.command, environment: environment)
        #expect(try verifier.answer(to: good) == "ok person session")
        for (name, token) in bad { #expect(try verifier.answer(to: token).hasPrefix("refused "), "\(name)") }
        #expect(try verifier.answer(to: good) == "ok person session")
    }

    @Test func tokensSignedWithRS256VerifyWhereItIsWanted() throws {
        let file = try #require(site.environment["AUTH_APPLE_SIGNING_KEYS_FILE"])
        try FileManager.default.removeItem(atPath: file)
        #expect(try site.run("keys", "new", "RS256").status == 0)
        let token = try accessToken("001.rsa.1")
        #expect(try Self.header(token)["alg"]?.string == "RS256")
        for example in Example.allCases where example.takesRSA {
            let verifier = try Conversation(example.command, environment: environment)
            #expect(try verifier.answer(to: token).hasPrefix("ok "), "\(example)")
        }
        // Every key that a rotation makes keeps to the algorithm: the first one made signs from the second step on.
        var keys = [try Self.header(token)["kid"]?.string]
        for step in 1...3 {
            try site.letPass(seconds: 3 * 3600)
            #expect(try site.run("keys", "rotate").text.contains("Rotated"), "\(step)")
            let header = try Self.header(accessToken("001.rsa.1"))
            #expect(header["alg"]?.string == "RS256", "\(step)")
            keys.append(header["kid"]?.string)
        }
        #expect(Set(keys).count == 4 && !keys.contains(nil))
    }

    @Test func theSetMayBeRememberedForLessThanTheAnnouncement() throws {
        let answer = try site.send(FunctionSite.event("GET", "/.well-known/jwks.json", body: [:]))
        #expect(answer.headers["cache-control"] == "public, max-age=900")
        // Whoever fetched just before an announcement fetches again, in time, even where it is late by as much once more.
        #expect(2 * SigningKeySet.publicMaxAgeSeconds <= SigningKeySet.announcementSeconds)
    }

    private static func header(_ token: String) throws -> JSON {
        let header = try #require(Base64URL.decode(String(token.prefix { $0 != "." })))
        return try JSON(parsing: header, limits: JSON.Limits(bytes: 4096))
    }
}
