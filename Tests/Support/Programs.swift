import Foundation

/// The programs of this package as they were built with the tests.
package enum Programs {
    package static let packageRoot = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

    /// Beside the test bundle, where the package manager puts what a test target depends on.
    package static func built(_ name: String) throws -> URL {
        let own = try URL(filePath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let places = [Bundle.main.bundleURL, own.deletingLastPathComponent()]
        let programs = places.map { $0.appending(path: name) }
        guard let program = programs.first(where: { FileManager.default.isExecutableFile(atPath: $0.path()) }) else {
            throw CocoaError(.fileNoSuchFile)
        }
        return program
    }
}

/// A program that was run to its end.
package struct Ran {
    package let status: Int32
    package let output: Data
    package let errors: Data

    package var text: String { String(decoding: output, as: UTF8.self) + String(decoding: errors, as: UTF8.self) }

    package init(_ command: String..., environment: [String: String] = [:], input: Data = Data()) throws {
        try self.init(command, environment: environment, input: input)
    }

    package init(_ command: [String], environment: [String: String] = [:], input: Data = Data()) throws {
        // Files, not pipes: neither side can block the other.
        let folder = FileManager.default.temporaryDirectory.appending(path: "ran-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = { (name: String) in folder.appending(path: name) }
        try input.write(to: file("in"))
        for name in ["out", "err"] { try Data().write(to: file(name)) }
        let process = Process()
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = environment
        process.standardInput = try FileHandle(forReadingFrom: file("in"))
        process.standardOutput = try FileHandle(forWritingTo: file("out"))
        process.standardError = try FileHandle(forWritingTo: file("err"))
        try process.runUnblocked()
        process.waitUntilExit()
        status = process.terminationStatus
        output = try Data(contentsOf: file("out"))
        errors = try Data(contentsOf: file("err"))
    }
}
