import Foundation
import TestSupport

/// The release program that `Tests/run.sh` made (`deploy/build.sh`) and names in the environment.
struct ReleaseBinary {
    static let path = ProcessInfo.processInfo.environment["AUTH_APPLE_RELEASE_BINARY"]

    static var isThere: Bool { path != nil }

    static var hasChecksec: Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/checksec") }

    let url: URL

    init() throws {
        url = URL(filePath: Self.path ?? "")
        guard FileManager.default.isExecutableFile(atPath: url.path()) else { throw CocoaError(.fileNoSuchFile) }
    }

    /// The simulator that was built beside it.
    var simulator: URL { url.deletingLastPathComponent().appending(path: "apple-simulator") }

    /// The shared libraries that it asks for itself.
    func neededLibraries() throws -> Set<String> {
        let output = try run("readelf", "-dW", url.path())
        return Set(output.matches(of: /\(NEEDED\).*\[(.+)\]/).map { String($0.1) })
    }

    /// Those, and what they ask for in turn, as the dynamic linker finds them.
    func loadedLibraries() throws -> Set<String> {
        let output = try run(url.path(), environment: ["LD_TRACE_LOADED_OBJECTS": "1"])
        return Set(
            output.split(separator: "\n").compactMap { $0.split(separator: " ").first?.trimmingPrefix("\t") }.map(
                String.init))
    }

    /// The versions of glibc whose symbols it uses, as in "2.34".
    func glibcVersions() throws -> Set<String> {
        Set(try run("objdump", "-T", url.path()).matches(of: /\(GLIBC_([0-9.]+)\)/).map { String($0.1) })
    }

    private static func executable(_ program: String) -> URL {
        URL(filePath: program.contains("/") ? program : "/usr/bin/\(program)")
    }

    /// Runs a program to its end; its standard output, or its standard error if asked.
    func run(
        _ program: String, _ arguments: String..., environment: [String: String] = [:], input: String = "",
        standardError: Bool = false
    ) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linkage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (standardInput, output, errors) = (
            folder.appending(path: "in"), folder.appending(path: "out"), folder.appending(path: "err")
        )
        try Data(input.utf8).write(to: standardInput)
        let process = try ChildProcess(
            Self.executable(program), Array(arguments), environment: environment, input: standardInput, output: output,
            errors: errors)
        process.wait()
        return String(decoding: try Data(contentsOf: standardError ? errors : output), as: UTF8.self)
    }
}
