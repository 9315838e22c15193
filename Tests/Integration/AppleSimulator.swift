import Foundation
import TestSupport

/// The `apple-simulator` that was built with the tests, with a key file of its own that goes when this goes.
final class AppleSimulator: Sendable {
    struct Result {
        let exitStatus: Int32
        let output: String
        let errors: String
    }

    let folder: URL
    var keyFile: URL { folder.appending(path: "state/keys.json") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "apple-simulator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Beside the test bundle, where the package manager puts what a test target depends on.
    static func program(_ name: String) throws -> URL {
        let places = [Bundle.main.bundleURL, URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()]
        let programs = places.map { $0.appending(path: name) }
        guard let program = programs.first(where: { FileManager.default.isExecutableFile(atPath: $0.path()) }) else {
            throw CocoaError(.fileNoSuchFile)
        }
        return program
    }

    /// Starts it; what it says comes into the two files.
    func start(_ arguments: [String]) throws -> (process: ChildProcess, output: URL, errors: URL) {
        let name = UUID().uuidString
        let (output, errors) = (folder.appending(path: "\(name).out"), folder.appending(path: "\(name).err"))
        let process = try ChildProcess(
            Self.program("apple-simulator"), arguments, environment: ["APPLE_SIMULATOR_KEYS": keyFile.path()],
            output: output, errors: errors)
        return (process, output, errors)
    }

    func run(_ arguments: String...) throws -> Result { try run(arguments) }

    func run(_ arguments: [String]) throws -> Result {
        let (process, output, errors) = try start(arguments)
        return try Result(exitStatus: process.wait(), output: Self.text(output), errors: Self.text(errors))
    }

    private static func text(_ file: URL) throws -> String {
        String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    /// What it prints, without the end of the line.
    func line(_ arguments: String...) throws -> String {
        String(try run(arguments).output.dropLast())
    }

    /// The kinds of `token --bad list`: name and reason.
    func badKinds() throws -> [(name: String, reason: String)] {
        try line("token", "--bad", "list").split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            return (String(words[0]), String(words[1]))
        }
    }

    /// Serves while `body` runs, and stops by SIGTERM.
    @discardableResult
    func serving(port: Int = 0, arguments: [String] = [], body: (SimulatorAddress) throws -> Void) throws -> Result {
        let (process, output, errors) = try start(["serve", "--port", "\(port)"] + arguments)
        guard let announced = process.firstLine(in: output),
            let match = announced.wholeMatch(of: /http:\/\/127\.0\.0\.1:(\d+)/), let port = UInt16(match.1)
        else { throw CocoaError(.fileReadCorruptFile) }
        try body(SimulatorAddress(port: port))
        process.kill(SIGTERM)
        return try Result(exitStatus: process.wait(), output: announced, errors: Self.text(errors))
    }
}

/// Where a simulator serves, and the bytes that go to it and come back.
struct SimulatorAddress {
    let port: UInt16

    var url: String { "http://127.0.0.1:\(port)" }

    /// A connected socket; nil when nobody listens there.
    func connect(to host: String = "127.0.0.1") -> FileHandle? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(host)
        address.sin_port = port.bigEndian
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            return nil
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Sends bytes as they are; the whole answer, up to the end of the connection.
    func exchange(_ request: String) throws -> String {
        guard let connection = connect() else { throw CocoaError(.fileReadUnknown) }
        try connection.write(contentsOf: Data(request.utf8))
        return String(decoding: try connection.readToEnd() ?? Data(), as: UTF8.self)
    }

    func get(_ path: String, method: String = "GET", headers: String = "") throws -> String {
        try exchange("\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(headers)\r\n")
    }
}
