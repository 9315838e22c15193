import Foundation
import JOSE
import TestSupport
import Testing

/// AWS's own emulator of Lambda, alone and behind SAM's API Gateway.
@Suite(.enabled(if: LambdaEmulator.isInstalled, "needs Tests/tools.sh"), .serialized)
struct LambdaEmulatorTests {
    @Test func theEmulatorsEventsAreAnswered() throws {
        let trial = try TrialFunction()
        try LambdaEmulator.run(trial) { emulator in
            let subject = "001.rie.\(UUID().uuidString)"
            let first = try emulator.invoke(
                gatewayEvent("POST", "/auth/apple", body: TrialFunction.signInBody(subject)))
            #expect(first["statusCode"] == .integer(201))
            let second = try emulator.invoke(
                gatewayEvent("POST", "/auth/apple", body: TrialFunction.signInBody(subject)))
            #expect(second["statusCode"] == .integer(200))
            // What is no event is an answer of ours, and no function error of Lambda's.
            #expect(try emulator.invoke("[1]")["statusCode"] == .integer(400))
            #expect(
                try emulator.invoke(#"{"a":"\#(String(repeating: "x", count: 3_000_000))"}"#)["statusCode"]
                    == .integer(413))
            #expect(try emulator.invoke(gatewayEvent("GET", "/health"))["statusCode"] == .integer(200))
            // One process served them all.
            #expect(emulator.log.components(separatedBy: "INIT START").count <= 2)
            #expect(!emulator.log.contains("eyJ"))
        }
    }

    @Test(arguments: ["rest", "http1", "http2"])
    func aClientBehindTheGatewaySignsIn(kind: String) throws {
        let trial = try TrialFunction()
        try LambdaEmulator.run(trial) { emulator in
            let subject = "001.\(kind).\(UUID().uuidString)"
            let json = ["Content-Type": "application/json"]

            let first = try emulator.request(kind, "POST", "/auth/apple", json, TrialFunction.signInBody(subject))
            #expect(first.status == 201)
            #expect(first.headers["content-type"] == "application/json")
            #expect(first.headers["cache-control"] == "no-store")
            #expect(first.headers["x-content-type-options"] == "nosniff")
            #expect(try first.json["user"]?["full_name"] == "Ana Ruiz")

            let second = try emulator.request(
                kind, "POST", "/auth/apple", ["content-type": "application/json; charset=utf-8"],
                TrialFunction.signInBody(subject))
            #expect(second.status == 200)
            #expect(try second.json["user"]?["id"] == first.json["user"]?["id"])

            let forged = TrialFunction.signInBody(subject) { forge in
                var forge = forge
                forge.key = TokenForge.foreignKey
                return forge
            }
            let refused = try emulator.request(kind, "POST", "/auth/apple", json, forged)
            #expect(refused.status == 401)
            #expect(refused.headers["content-type"] == "application/problem+json")
            #expect(refused.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
            #expect(try refused.json["detail"] == "No se pudo iniciar sesión con Apple. Intenta de nuevo.")

            #expect(try emulator.request(kind, "POST", "/auth/apple", json, "{").status == 400)
            #expect(
                try emulator.request(kind, "POST", "/auth/apple", ["Content-Type": "text/plain"], "x").status == 415)
            #expect(try emulator.request(kind, "GET", "/auth/apple", [:], nil).status == 405)
            #expect(try emulator.request(kind, "GET", "/health", [:], nil).status == 200)
            #expect(try emulator.request(kind, "GET", "/.well-known/jwks.json", [:], nil).status == 200)
            #expect(
                try emulator.request(kind, "GET", "/nowhere", ["Accept-Language": "en"], nil).headers[
                    "content-language"] == "en")
            let head = try emulator.request(kind, "HEAD", "/health", [:], nil)
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(
                try emulator.request(kind, "POST", "/auth/apple", json, String(repeating: " ", count: 70_000)).status
                    == 413)
        }
    }

    /// The gateway answers 502 to what it cannot read as a response; nothing of ours may be that, not even without configuration.
    @Test func withoutConfigurationEveryGatewayGets500() throws {
        let trial = try TrialFunction()
        trial.environment["AUTH_APPLE_AUDIENCES"] = nil
        try LambdaEmulator.run(trial) { emulator in
            for kind in ["rest", "http1", "http2"] {
                let answer = try emulator.request(kind, "GET", "/health", [:], nil)
                #expect(answer.status == 500)
                #expect(try answer.json["code"] == "internal")
            }
        }
    }

    /// Nothing of the emulator stays behind.
    @Test func theFunctionEndsWithTheEmulator() throws {
        let trial = try TrialFunction()
        let bootstrap = trial.folder.appending(path: "bootstrap")
        try LambdaEmulator.run(trial) { emulator in
            _ = try emulator.invoke(gatewayEvent("GET", "/health"))
            #expect(LambdaEmulator.runs(bootstrap.path))
        }
        var left = true
        for _ in 0..<100 where left {
            usleep(50_000)
            left = LambdaEmulator.runs(bootstrap.path)
        }
        #expect(!left)
    }
}

/// `Tests/Runtimes/LambdaEmulator.py`, in a scope.
final class LambdaEmulator {
    struct Answer {
        var status: Int
        /// Names in lower case.
        var headers: [String: String]
        var body: String

        var json: JSON { get throws { try JSON(text: body) } }
    }

    /// Where Tests/tools.sh puts them.
    private static let tools = Programs.packageRoot.appending(path: ".build/tools").path()

    static var isInstalled: Bool { FileManager.default.fileExists(atPath: tools + "/pins") }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let logFile: URL
    private var ports: [String: Int] = [:]

    var log: String { (try? String(contentsOf: logFile, encoding: .utf8)) ?? "" }

    /// With the function's own program where no other is named.
    static func run<Result>(
        _ trial: TrialFunction, bootstrap: URL? = nil, _ body: (LambdaEmulator) throws -> Result
    ) throws -> Result {
        let emulator = try LambdaEmulator(trial, bootstrap)
        defer { emulator.stop() }
        return try body(emulator)
    }

    private init(_ trial: TrialFunction, _ program: URL?) throws {
        logFile = trial.folder.appending(path: "emulator.log")
        let bootstrap = program ?? trial.folder.appending(path: "bootstrap")
        if program == nil {
            try FileManager.default.createSymbolicLink(
                at: bootstrap, withDestinationURL: Programs.built("auth-apple"))
        }
        process.executableURL = URL(fileURLWithPath: Self.tools + "/bin/python")
        process.arguments = [RuntimeAPIServer.script("LambdaEmulator.py"), bootstrap.path, logFile.path]
        process.environment = trial.environment
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        ports = try JSONDecoder().decode([String: Int].self, from: RuntimeAPIServer.line(of: output))
    }

    private func stop() {
        try? input.fileHandleForWriting.write(contentsOf: Data("end\n".utf8))
        process.waitUntilExit()
    }

    /// Invokes the function directly.
    func invoke(_ event: String) throws -> JSON {
        let answer = try request("invoke", "POST", "/2015-03-31/functions/function/invocations", [:], event)
        try #require(answer.status == 200, "\(answer.body)")
        return try answer.json
    }

    /// A request as a client sends it, by curl.
    func request(
        _ gateway: String, _ method: String, _ path: String, _ headers: [String: String], _ body: String?
    ) throws -> Answer {
        let port = try #require(ports[gateway])
        var arguments = ["curl", "--silent", "--noproxy", "*", "--max-time", "20", "--include", "--request", method]
        if method == "HEAD" { arguments.append("--head") }
        if body != nil { arguments += ["--data-binary", "@-"] }
        for (name, value) in headers { arguments += ["--header", "\(name): \(value)"] }
        arguments += ["--header", "Expect:", "http://127.0.0.1:\(port)\(path)"]
        let curl = try Ran(
            ["/usr/bin/env"] + arguments, environment: ["PATH": "/usr/bin:/bin"], input: Data((body ?? "").utf8))
        try #require(curl.status == 0, "curl: exit \(curl.status)")
        let text = String(decoding: curl.output, as: UTF8.self)
        let end = try #require(text.range(of: "\r\n\r\n"))
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            fields[parts[0].lowercased()] = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        return Answer(
            status: Int(lines[0].split(separator: " ")[1]) ?? 0, headers: fields, body: String(text[end.upperBound...]))
    }

    /// Whether a process with that program name as its first argument is there.
    static func runs(_ path: String) -> Bool {
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).filter { Int($0) != nil }
        return numbers.contains { number in
            let line = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
            return line.split(separator: 0).first.map { String(decoding: $0, as: UTF8.self) } == path
        }
    }
}
