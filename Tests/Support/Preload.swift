import Foundation

/// A library made of one C file that stands in for functions of the system's, in the programs that are started with it
/// (ld.so(8), LD_PRELOAD). It goes with its value.
package final class Preload: Sendable {
    package let path: String

    package init(_ source: String) throws {
        path = FileManager.default.temporaryDirectory.path + "/preload-\(UUID().uuidString).so"
        let file = path + ".c"
        try source.write(toFile: file, atomically: true, encoding: .utf8)
        defer { unlink(file) }
        let compiled = try Ran(
            "/usr/bin/env", "clang", "-shared", "-fPIC", "-O1", "-o", path, file,
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"])
        guard compiled.status == 0 else { throw CocoaError(.executableLoad, userInfo: ["clang": compiled.text]) }
    }

    deinit {
        unlink(path)
    }
}
