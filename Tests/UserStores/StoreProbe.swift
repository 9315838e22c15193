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

    init(_ url: String, _ subject: String, _ options: [String] = []) throws {
        process.executableURL = try Self.executable
        process.arguments = [url, "sign-in", subject] + options
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
        try? input.fileHandleForWriting.close()
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

    func signedIn() throws -> SignIn {
        let (status, output) = end()
        try #require(status == 0, "\(output)")
        let words = try #require(output.split(separator: "\n").last).split(separator: " ")
        return SignIn(account: String(words[0]), isNew: words[1] == "true", session: String(words[2]))
    }

    func refusal() throws -> String {
        let (status, output) = end()
        try #require(status == 1, "\(output)")
        #expect(!output.contains("canary"), "an error repeats what was bound")
        return output
    }
}
