import Foundation
import TestSupport

/// `Tests/Runtimes/RuntimeAPIServer.py`, which plays AWS Lambda after a script. Ends with its scope.
final class RuntimeAPIServer {
    struct Step: Encodable {
        var event: String?
        var size: Int?
        var id: String?
        var deadline_ms: Int64?
        var status: Int?
        var body: String?
        var delay: Double?
        var drop: Bool?
        var garbage: Bool?
        var no_id: Bool?

        static func event(_ text: String, _ change: (inout Step) -> Void = { _ in }) -> Step {
            var step = Step(event: text)
            change(&step)
            return step
        }
    }

    struct Call: Decodable {
        let method: String
        let path: String
        let headers: [String: String]
        let body: String
        let connection: Int
        let time: Double
    }

    let port: Int
    var authority: String { "127.0.0.1:\(port)" }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    static func run<Result>(_ body: (RuntimeAPIServer) throws -> Result) throws -> Result {
        let server = try RuntimeAPIServer()
        defer { server.stop() }
        return try body(server)
    }

    private init() throws {
        struct Ports: Decodable { let port: Int }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", Self.script("RuntimeAPIServer.py")]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        port = try JSONDecoder().decode(Ports.self, from: Self.line(of: output)).port
    }

    static func script(_ name: String) -> String {
        Programs.packageRoot.appending(path: "Tests/Runtimes/\(name)").path()
    }

    private func stop() {
        // Said, and not only shown by the end of input: a child of another test may still hold the other end.
        try? input.fileHandleForWriting.write(contentsOf: Data("{\"end\":true}\n".utf8))
        process.waitUntilExit()
    }

    func next(_ steps: Step...) throws {
        try tell(["next": steps])
    }

    func post(_ steps: Step...) throws {
        try tell(["post": steps])
    }

    func refuseConnections() throws {
        try tell(["listen": false])
    }

    /// All calls so far, once so many have come or the time is over.
    func calls(posts: Int = 0, nexts: Int = 0, within seconds: Double = 10) throws -> [Call] {
        struct Condition: Encodable {
            let posts: Int
            let nexts: Int
            let seconds: Double
        }
        struct Reply: Decodable { let calls: [Call] }
        let reply = try tell(["await": Condition(posts: posts, nexts: nexts, seconds: seconds)])
        return try JSONDecoder().decode(Reply.self, from: reply).calls
    }

    func posts(_ count: Int, within seconds: Double = 10) throws -> [Call] {
        try calls(posts: count, within: seconds).filter { $0.method == "POST" }
    }

    @discardableResult
    private func tell(_ command: some Encodable) throws -> Data {
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(command) + Data("\n".utf8))
        return try Self.line(of: output)
    }

    static func line(of pipe: Pipe) throws -> Data {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = pipe.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CocoaError(.fileReadUnknown) }
            line.append(more)
        }
        return line
    }
}
