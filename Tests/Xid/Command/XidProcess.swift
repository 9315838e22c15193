import Foundation
import JOSE
import TestSupport
import Testing

/// The command `xid` as a process, with a home of its own that goes when this goes.
final class XidProcess: @unchecked Sendable {
    let folder: URL
    var environment: [String: String]

    /// - Parameter browser: what stands in for xdg-open, as a shell script that gets the address as `$1`; nil for none.
    init(issuer: String? = nil, clientID: String? = nil, browser: String? = nil) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "xid-\(UUID().uuidString)")
        let programs = folder.appending(path: "bin")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        environment = ["HOME": folder.path(), "PATH": programs.path()]
        environment["XID_ISSUER"] = issuer
        environment["XID_CLIENT_ID"] = clientID
        if let browser {
            let script = programs.appending(path: "xdg-open").path()
            try Data("#!/bin/sh\nPATH=/usr/bin:/bin\n\(browser)\n".utf8).write(to: URL(filePath: script))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    struct Ended {
        let status: Int32
        let output: String
        let errors: String

        /// The output, which is one JSON object and the end of its line.
        var json: JSON {
            get throws { try JSON(parsing: Array(output.utf8), limits: .init(bytes: 65_536)) }
        }
    }

    /// One that runs.
    final class Running {
        let process: ChildProcess
        let output: URL
        let errors: URL

        init(_ xid: XidProcess, _ arguments: [String], terminal: String? = nil) throws {
            let name = UUID().uuidString
            output = xid.folder.appending(path: "\(name).out")
            errors = terminal.map { URL(filePath: $0) } ?? xid.folder.appending(path: "\(name).err")
            process = try ChildProcess(
                Programs.built("xid"), arguments, environment: xid.environment, output: output, errors: errors)
        }

        /// The address that the person is to open, once it has been said.
        func address() throws -> URL {
            for _ in 0..<600 {
                let text = try String(contentsOf: errors, encoding: .utf8)
                if let match = text.firstMatch(of: /(?m)^  (http:\/\/127\.0\.0\.1:\d+\/\S+)\n/) {
                    return try #require(URL(string: String(match.1)))
                }
                if process.hasEnded { break }
                usleep(50_000)
            }
            throw CocoaError(.fileReadUnknown, userInfo: ["said": try String(contentsOf: errors, encoding: .utf8)])
        }

        /// Waits for its end, and makes one after a minute: nothing here takes as long.
        func end() throws -> Ended {
            let deadline = Date(timeIntervalSinceNow: 60)
            while !process.hasEnded, Date() < deadline { usleep(10_000) }
            process.kill(SIGKILL)
            let status = process.wait()
            return try Ended(
                status: status, output: String(contentsOf: output, encoding: .utf8),
                errors: String(contentsOf: errors, encoding: .utf8))
        }
    }

    func start(_ arguments: String..., terminal: String? = nil) throws -> Running {
        try Running(self, arguments, terminal: terminal)
    }

    func run(_ arguments: String...) throws -> Ended {
        try Running(self, arguments).end()
    }

    var rememberedFile: URL { folder.appending(path: ".config/xid/client.json") }

    /// What is kept, by the names of the files.
    func kept() throws -> [String: String] {
        let state = folder.appending(path: ".local/state/xid")
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: state.path())) ?? []).filter {
            !$0.hasPrefix(".")
        }
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try String(contentsOf: state.appending(path: $0), encoding: .utf8)) }
        )
    }
}
