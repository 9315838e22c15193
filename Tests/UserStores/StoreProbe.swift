import Foundation
import Testing

/// A process of `store-probe`, killed at the end of its scope if it still runs.
final class StoreProbe {
    struct SignIn: Hashable {
        let account: String
        let isNew: Bool
        let session: String
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    /// What it gets on standard input once it may go on.
    private let text: String

    /// A process that signs in.
    convenience init(_ url: String, _ subject: String, _ options: [String] = []) throws {
        try self.init(url, command: ["sign-in", subject] + options)
    }

    init(_ url: String, command: [String], input text: String = "") throws {
        self.text = text
        process.executableURL = try Self.executable
        process.arguments = [url] + command
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        kill()
    }

    /// Beside the bundle of the tests, where `swift build` puts every product.
    private static var executable: URL {
        get throws {
            let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            let own = try URL(fileURLWithPath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            let places = [bundle, own.deletingLastPathComponent()].map { $0.appendingPathComponent("store-probe") }
            return try #require(places.first { FileManager.default.isExecutableFile(atPath: $0.path) })
        }
    }

    /// Waits for a line that says how far the process is.
    func wait(for line: String) throws {
        #expect(try #require(String(data: output.fileHandleForReading.availableData, encoding: .utf8)) == line + "\n")
    }

    /// Lets a process go on that waits for the end of its input.
    func proceed() {
        try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try? input.fileHandleForWriting.close()
    }

    /// Many that begin at once, as nearly as can be.
    static func atOnce(_ count: Int, _ make: (Int) throws -> StoreProbe) throws -> [StoreProbe] {
        let probes = try (0..<count).map(make)
        for probe in probes { try probe.wait(for: "ready") }
        for probe in probes { probe.proceed() }
        return probes
    }

    func kill() {
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// All that the process prints until it ends.
    func end() -> (status: Int32, output: String) {
        proceed()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// The lines that it prints until it is killed after `microseconds`; the last one may be torn.
    func lines(killedAfter microseconds: UInt32) -> [String] {
        usleep(microseconds)
        kill()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        return String(decoding: data, as: UTF8.self).components(separatedBy: "\n").dropLast()
    }

    /// The next thing that it prints.
    func nextLine() throws -> String {
        let text = try #require(String(data: output.fileHandleForReading.availableData, encoding: .utf8))
        return text.trimmingCharacters(in: .newlines)
    }

    /// The words that it prints last, having done what it should.
    func result() throws -> [String] {
        let (status, output) = end()
        try #require(status == 0, "\(output)")
        return try #require(output.split(separator: "\n").last).split(separator: " ").map(String.init)
    }

    func signedIn() throws -> SignIn {
        let words = try result()
        return SignIn(account: words[0], isNew: words[1] == "true", session: words[2])
    }

    func refusal() throws -> String {
        let (status, output) = end()
        try #require(status == 1, "\(output)")
        #expect(!output.contains("canary"), "an error repeats what was bound")
        return output
    }
}
