import Foundation
import JOSE
import TestSupport
import Testing

/// `deploy/simulator`: the guide and its script.
@Suite struct AppleSimulatorGuideTests {
    let simulator: AppleSimulator
    let server: AppsServer

    init() throws {
        simulator = try AppleSimulatorTokenTests.shared.get()
        server = try AppsServer(team: "TEAM000001", keyID: "KEY0000001")
    }

    /// Every command of it, as one session, on a port that is free.
    @Test func theGuidesSessionWorksAsWritten() throws {
        let guide = try String(
            contentsOf: Programs.packageRoot.appending(path: "deploy/simulator/README.md"), encoding: .utf8)
        let blocks = guide.matches(of: /\n```sh\n(?<commands>[^`]*)```\n/).map { String($0.commands) }
        #expect(blocks.count >= 9 && blocks[0].contains("swift build"))
        let session = blocks.dropFirst().joined()
        #expect(session.contains("--port 8410 "))

        let folder = simulator.folder.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let programs = try Programs.built("apple-simulator").deletingLastPathComponent()
        // Where a command fails, the server that an earlier one started must end all the same.
        let trap = "trap 'jobs=$(jobs -p); [ -z \"$jobs\" ] || kill $jobs 2>/dev/null || true' EXIT\n"
        let commands = trap + "cd \(folder.path())\n" + session.replacing("--port 8410 ", with: "--port 0 ")
        let ran = try Ran(
            ["/bin/bash", "-eu"],
            environment: [
                "PATH": "\(programs.path()):/usr/bin:/bin", "repository": Programs.packageRoot.path(),
                "APPLE_SIMULATOR_KEYS": simulator.keyFile.path(),
            ], input: Data(commands.utf8))
        #expect(ran.status == 0, "\(ran.text)")
        for text in [
            #""identity_token":"ey"#, #""refresh_token":"r"#, "code has been used before",
            #"name="user" value="{&quot;name"#,
            #"{"payload":"ey"#, "HTTP/1.1 200 OK", #"{"faults":[]}"#, #""outcome":"revoked""#,
        ] { #expect(ran.text.contains(text), "\(text)") }
    }

    /// The script that the guide uses, against a server that knows the key.
    @Test func theScriptForClientSecretsMakesGoodOnes() throws {
        let script = Programs.packageRoot.appending(path: "deploy/simulator/client-secret.sh").path()
        let file = simulator.folder.appending(path: "\(UUID().uuidString).pem")
        try Data(server.privatePEM.utf8).write(to: file)
        try simulator.serving([server]) { address in
            // Often enough for an r or an s with a zero in front.
            for _ in 0..<20 {
                let made = try Ran(
                    [script, server.team, server.key.keyID, AppsServer.clientID, file.path()],
                    environment: ["PATH": "/usr/bin:/bin"])
                let secret = String(decoding: made.output, as: UTF8.self).trimmingCharacters(in: .newlines)
                #expect(made.status == 0 && made.errors.isEmpty)
                let revoked = try address.form(
                    "/auth/revoke", ["token": "r", "client_id": AppsServer.clientID, "client_secret": secret])
                #expect(revoked.status == 200, "\(revoked.text)")
            }
        }
        #expect(try Ran([script], environment: ["PATH": "/usr/bin:/bin"]).status == 64)
    }
}
