import Foundation
import JOSE
import TestSupport
import Testing

/// What `deploy/` makes for the function runtimes, run as they would.
@Suite(.serialized) struct DeploymentTests {
    private static let release = ProcessInfo.processInfo.environment["AUTH_APPLE_RELEASE_BINARY"]

    /// Unpacks as the platforms do, with the modes of the archive.
    private func unpack(_ archive: String, in trial: TrialFunction) throws -> [String: String] {
        let script = """
            import json, os, sys, zipfile
            archive = zipfile.ZipFile(sys.argv[1])
            for entry in archive.infolist():
                path = archive.extract(entry, sys.argv[2])
                os.chmod(path, entry.external_attr >> 16 & 0o777)
            print(json.dumps({e.filename: oct(e.external_attr >> 16 & 0o7777) for e in archive.infolist()}))
            """
        let list = try trial.run(
            ["-c", script, archive, trial.folder.appending(path: "unpacked").path],
            program: ["/usr/bin/env", "python3"])
        try #require(list.status == 0, "\(list.log)")
        return try JSONDecoder().decode([String: String].self, from: Data(list.output.utf8))
    }

    private func make(_ script: String, _ arguments: [String] = [], program: String, in trial: TrialFunction) throws {
        let path = Programs.packageRoot.appending(path: script).path()
        let made = try trial.run(arguments, program: [path], adding: ["AUTH_APPLE_RELEASE_BINARY": program])
        try #require(made.status == 0, "\(made.log)")
    }

    @Test(.enabled(if: release != nil && LambdaEmulator.isInstalled, "needs the release program and Tests/tools.sh"))
    func theZipForLambdaServes() throws {
        let trial = try TrialFunction()
        let program = try #require(Self.release)
        let archive = Programs.packageRoot.appending(path: "dist/lambda.zip")
        try make("deploy/lambda/build.sh", program: program, in: trial)
        let first = try Data(contentsOf: archive)
        try make("deploy/lambda/build.sh", program: program, in: trial)
        let second = try Data(contentsOf: archive)
        #expect(second == first, "the same program makes another zip")

        let modes = try unpack(archive.path(), in: trial)
        #expect(modes == ["bootstrap": "0o755"])
        let unpacked = trial.folder.appending(path: "unpacked")
        let bootstrap = try Data(contentsOf: unpacked.appending(path: "bootstrap"))
        let built = try Data(contentsOf: URL(filePath: program))
        #expect(bootstrap == built)
        try LambdaEmulator.run(trial, bootstrap: unpacked.appending(path: "bootstrap")) { emulator in
            let body = TrialFunction.signInBody("001.zip")
            let answer = try emulator.invoke(gatewayEvent("POST", "/auth/apple", body: body))
            #expect(answer["statusCode"] == .integer(201))
        }
    }

    @Test func theZipForOpenWhiskServes() throws {
        let trial = try TrialFunction()
        let file = trial.folder.appending(path: "environment")
        let keys = try String(contentsOf: trial.folder.appending(path: "signing-keys.json"), encoding: .utf8)
        var variables = trial.environment.filter { $0.key.hasPrefix("AUTH_APPLE_") }
        variables["AUTH_APPLE_SIGNING_KEYS_FILE"] = nil
        variables["AUTH_APPLE_SIGNING_KEYS"] = keys.trimmingCharacters(in: .newlines)
        try Data(variables.map { "\($0.key)='\($0.value)'\n" }.joined().utf8).write(to: file)
        try make(
            "deploy/openwhisk/action.sh", [file.path], program: try Programs.built("auth-apple").path(), in: trial)
        let archive = Programs.packageRoot.appending(path: "dist/openwhisk.zip")
        defer { try? FileManager.default.removeItem(at: archive) }
        let access = try FileManager.default.attributesOfItem(atPath: archive.path())[.posixPermissions] as? Int
        #expect(access == 0o600)

        let modes = try unpack(archive.path(), in: trial)
        #expect(modes == ["auth-apple": "0o755", "environment": "0o600", "exec": "0o755"])
        let action = trial.folder.appending(path: "unpacked/exec").path
        trial.environment = ["PATH": "/usr/bin:/bin", "__OW_EXECUTION_ENV": "openwhisk/actionloop"]
        let proxy = try trial.run(
            [action], program: ["/usr/bin/env", "python3", RuntimeAPIServer.script("ActionLoopProxy.py")],
            input: #"{"value":{"__ow_method":"get","__ow_path":"/health","__ow_query":""}}"# + "\n")
        #expect(try JSON(text: proxy.output.trimmingCharacters(in: .newlines))["statusCode"] == .integer(200))
    }
}
