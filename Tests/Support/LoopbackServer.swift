import Foundation

/// A real HTTPS server on this machine, with a certificate authority of its own, that misbehaves on demand and counts.
///
/// Runs in a scope, and ends with it: `try LoopbackServer.run { server in … }`.
package final class LoopbackServer {
    /// How a request is answered.
    package struct Answer: Codable, Sendable {
        /// What the connection shows: `good`, or one fault.
        package enum TLS: String, Codable, Sendable, CaseIterable {
            case good
            case only12 = "tls1.2"
            case only11 = "tls1.1"
            case wrongHost = "wrong-host"
            case untrusted
            case expired
        }

        package var status = 200
        /// Name and value, in this order.
        package var headers: [[String]] = []
        package var body = Data()
        /// Answers 304 to a request that names it.
        package var etag: String?
        package var tls = TLS.good
        /// Seconds before the answer begins.
        package var delay = 0.0
        /// Begins only after `release`.
        package var held = false
        /// Seconds between two bytes of the body.
        package var trickle = 0.0
        /// Takes the request and says nothing.
        package var silent = false
        /// Breaks off in the middle of the body.
        package var truncated = false

        package init(_ status: Int = 200, _ body: String = "", headers: [[String]] = []) {
            self.status = status
            self.body = Data(body.utf8)
            self.headers = headers
        }

        package func with(_ change: (inout Answer) -> Void) -> Answer {
            var changed = self
            change(&changed)
            return changed
        }
    }

    package struct Request: Decodable, Sendable {
        package let method: String
        package let path: String
        /// Names in lower case.
        package let headers: [String: String]
        package let body: Data
        /// Which connection it came on, counted from one.
        package let connection: Int
    }

    package let port: Int
    package let plainPort: Int
    /// The PEM file of the authority that signed the server's good certificate.
    package var authority: String { Certificates.shared.folder + "/authority.pem" }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    package static func run<Result>(
        _ answer: Answer = Answer(), _ body: (LoopbackServer) throws -> Result
    ) throws -> Result {
        let server = try LoopbackServer(answer)
        defer { server.stop() }
        return try body(server)
    }

    /// `https` by name, which the certificate is for.
    package func url(_ path: String = "/auth/keys") -> String { "https://localhost:\(port)\(path)" }

    package func plainURL(_ path: String = "/auth/keys") -> String { "http://127.0.0.1:\(plainPort)\(path)" }

    /// From now on, requests are answered so.
    package func answer(_ answer: Answer) throws {
        struct Command: Encodable { let answer: Answer }
        _ = try tell(Command(answer: answer))
    }

    /// Lets go of the answers that are held.
    package func release() throws {
        _ = try tell(["release": true])
    }

    /// Whether connections to the TLS port are taken, or refused.
    package func listen(_ listens: Bool) throws {
        _ = try tell(["listen": listens])
    }

    /// All that came so far.
    package func requests() throws -> [Request] {
        struct Log: Decodable { let requests: [Request] }
        return try JSONDecoder().decode(Log.self, from: tell(["requests": true])).requests
    }

    private init(_ answer: Answer) throws {
        struct Ports: Decodable {
            let port: Int
            let plain_port: Int
        }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/LoopbackServer.py"
        process.arguments = ["python3", script, Certificates.shared.folder]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(answer) + Data("\n".utf8))
        let ports = try JSONDecoder().decode(Ports.self, from: Self.line(of: output))
        port = ports.port
        plainPort = ports.plain_port
    }

    private func stop() {
        try? input.fileHandleForWriting.close()
        process.terminate()
        process.waitUntilExit()
    }

    private func tell(_ command: some Encodable) throws -> Data {
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(command) + Data("\n".utf8))
        return try Self.line(of: output)
    }

    private static func line(of pipe: Pipe) throws -> Data {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = pipe.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CocoaError(.fileReadUnknown) }
            line.append(more)
        }
        return line
    }
}

/// Made once a process with the `openssl` command, in a temporary folder that goes with the process.
private final class Certificates: Sendable {
    static let shared = {
        do { return try Certificates() } catch { fatalError("no certificates for the loopback server: \(error)") }
    }()

    let folder: String

    private init() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/loopback-\(UUID().uuidString)"
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        atexit { try? FileManager.default.removeItem(atPath: Certificates.shared.folder) }
        for authority in ["authority", "stranger"] {
            try openssl(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=\(authority) "
                    + "-addext basicConstraints=critical,CA:TRUE -keyout \(authority).key -out \(authority).pem")
        }
        try issue("server", by: "authority", names: "DNS:localhost,IP:127.0.0.1")
        try issue("other-host", by: "authority", names: "DNS:other.example")
        try issue("untrusted", by: "stranger", names: "DNS:localhost,IP:127.0.0.1")
        try issue("expired", by: "authority", names: "DNS:localhost,IP:127.0.0.1", days: -1)
    }

    private func issue(_ name: String, by authority: String, names: String, days: Int = 2) throws {
        try Data("subjectAltName=\(names)\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).ext"))
        try openssl(
            "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=\(name) -keyout \(name).key -out \(name).csr"
        )
        try openssl(
            "x509 -req -in \(name).csr -CA \(authority).pem -CAkey \(authority).key -CAcreateserial -days \(days) "
                + "-extfile \(name).ext -out \(name).pem")
    }

    private func openssl(_ arguments: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
}
