// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import TestSupport
import Testing

/// The program by itself, with the environment that a server would give it.
@Suite struct CGIProcessTests {
    private func environment(_ site: CGISite, _ variables: [String: String]) -> [String: String] {
        site.environment.merging(["GATEWAY_INTERFACE": "CGI/1.1"]) { $1 }.merging(variables) { $1 }
    }

    @Test func theAnswerIsTheseBytesAndNoOthers() throws {
        let site = try CGISite()
        let ran = try Ran(
            Installed.shared.program.path(), "--help",
            environment: environment(site, ["REQUEST_METHOD": "GET", "PATH_INFO": "/health"]))
        #expect(
            String(decoding: ran.output, as: UTF8.self)
                == "Status: 200 OK\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"
                + "Cache-Control: no-store\r\n\r\n{\"status\":\"ok\"}")
        #expect(ran.status == 0)
    }

    @Test func nothingIsReadPastTheLength() throws {
        let site = try CGISite()
        let body = try Installed.shared.signInBody()
        let ran = try Ran(
            Installed.shared.program.path(),
            environment: environment(
                site,
                [
                    "REQUEST_METHOD": "POST", "PATH_INFO": "/auth/apple", "CONTENT_TYPE": "application/json",
                    "CONTENT_LENGTH": String(body.count),
                ]), input: body + Data("GET / HTTP/1.1".utf8))
        #expect(String(decoding: ran.output, as: UTF8.self).hasPrefix("Status: 201 Created\r\n"))
    }

    /// Input that never ends must not be waited for.
    @Test func withoutALengthNothingIsRead() throws {
        let site = try CGISite()
        let process = Process()
        process.executableURL = Installed.shared.program
        process.environment = environment(
            site, ["REQUEST_METHOD": "POST", "PATH_INFO": "/auth/apple", "CONTENT_LENGTH": ""])
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.runUnblocked()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text.hasPrefix("Status: 415 "))
        try input.fileHandleForWriting.close()
    }

    /// A crash while the body is being read: standard output stays empty, so that the server makes its own error of it.
    @Test(arguments: [SIGSEGV, SIGILL, SIGABRT, SIGTERM])
    func aCrashPrintsNothing(signal: Int32) throws {
        let site = try CGISite()
        let process = Process()
        process.executableURL = Installed.shared.program
        process.environment = environment(
            site,
            [
                "REQUEST_METHOD": "POST", "PATH_INFO": "/auth/apple", "CONTENT_LENGTH": "10",
                "SWIFT_BACKTRACE": "enable=yes,output-to=stdout",
            ])
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.runUnblocked()
        try input.fileHandleForWriting.write(contentsOf: Data("{".utf8))
        // The runtime's own crash report comes first, and asks for the signal once more.
        for _ in 1...50 where !process.ends(within: 0.1) { kill(process.processIdentifier, signal) }
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(text.isEmpty)
        #expect(process.terminationReason == .uncaughtSignal || process.terminationStatus != 0)
    }

    /// A server that is gone: the log line is written all the same.
    @Test func aClosedOutputIsNoReasonToBeSilent() throws {
        let site = try CGISite()
        let ran = try Ran(
            "/bin/sh", "-c", "\"$0\" | true", Installed.shared.program.path(),
            environment: environment(
                site, ["REQUEST_METHOD": "GET", "PATH_INFO": "/health", "PATH": "/bin:/usr/bin"]))
        #expect(String(decoding: ran.errors, as: UTF8.self).contains(#""route":"GET /health""#))
    }

    /// An answer that nobody got: the log says which, and the status says that something failed.
    @Test func anAnswerThatCannotBeWrittenIsAFailure() throws {
        let site = try CGISite()
        let ran = try Ran(
            "/bin/sh", "-c", "exec \"$0\" >/dev/full", Installed.shared.program.path(),
            environment: environment(
                site, ["REQUEST_METHOD": "GET", "PATH_INFO": "/health", "PATH": "/bin:/usr/bin"]))
        #expect(ran.status == 74)
        let lines = String(decoding: ran.errors, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 2)
        let ids = try lines.map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["request_id"] as? String
        }
        #expect(lines.last?.contains("answer_not_written") == true && ids[0] != nil && ids[0] == ids[1])
    }
}
#endif
