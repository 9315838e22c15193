import Foundation
import JOSE
import TestSupport
import Testing

/// The plain event through OpenFaaS: what each watchdog carries of the response, and what it does not.
@Suite struct OpenFaaSTests {
    static let modes = ["classic", "serializing"]

    private func call(
        _ trial: TrialFunction, _ mode: String, _ event: String, _ options: [String] = []
    ) throws -> (status: Int64?, type: String?, body: String, log: String) {
        let watchdog = try trial.run(
            [mode] + options + [Programs.built("auth-apple").path()],
            program: ["/usr/bin/env", "python3", RuntimeAPIServer.script("Watchdog.py")], input: event)
        let answer = try JSON(text: watchdog.output.trimmingCharacters(in: .newlines))
        return (answer["status"]?.integer, answer["type"]?.string, answer["body"]?.string ?? "", watchdog.log)
    }

    private func plainEvent(_ body: String) -> String {
        let event: JSON = [
            "method": "POST", "path": "/auth/apple", "headers": ["content-type": "application/json"],
            "body": .string(body),
        ]
        return event.text
    }

    @Test(arguments: modes)
    func theStatusIsInTheBody(mode: String) throws {
        let trial = try TrialFunction()
        let good = try call(trial, mode, plainEvent(TrialFunction.signInBody("001.faas")))
        #expect(good.status == 200)
        #expect(try JSON(text: good.body)["statusCode"] == .integer(201))
        let bad = try call(trial, mode, plainEvent("{}"))
        #expect(bad.status == 200)
        let envelope = try JSON(text: bad.body)
        #expect(envelope["statusCode"] == .integer(400))
        #expect(try JSON(text: envelope["body"]?.string ?? "")["status"] == .integer(400))
        let none = try call(trial, mode, "not an event")
        #expect(try JSON(text: none.body)["statusCode"] == .integer(400))
    }

    @Test(arguments: modes)
    func theLogStaysOutOfTheResponse(mode: String) throws {
        let answer = try call(try TrialFunction(), mode, plainEvent("{}"))
        #expect(answer.body.split(separator: "\n").count == 1)
        #expect(answer.log.contains(#""outcome":"invalid_request""#))
    }

    /// Why `combine_output` has to be false: the classic watchdog's default puts the log into the response.
    @Test func theClassicDefaultMixesTheLogIn() throws {
        let answer = try call(try TrialFunction(), "classic", plainEvent("{}"), ["--combine-output"])
        #expect(answer.body.split(separator: "\n").count == 2)
        #expect(!answer.body.contains("eyJ"))
    }

    /// A client can set these variables by its headers. Nothing is read from them.
    @Test(arguments: modes)
    func theWatchdogsVariablesAreNotBelieved(mode: String) throws {
        let event = plainEvent(TrialFunction.signInBody("001.forged"))
        let trial = try TrialFunction()
        let answer = try call(
            trial, mode, event,
            [
                "--header", "Query:a=1", "--header", "Gateway-Interface:CGI/1.1", "--header",
                "Aws-Lambda-Runtime-Api:127.0.0.1:1",
            ])
        #expect(try JSON(text: answer.body)["statusCode"] == .integer(201))
    }

    /// Whoever writes the event writes its headers: no proxy of ours has written an address there, however many are said to be.
    @Test(arguments: modes)
    func noAddressInAnEventIsBelieved(mode: String) throws {
        let trial = try TrialFunction()
        trial.environment["AUTH_APPLE_TRUSTED_PROXIES"] = "1"
        trial.environment["AUTH_APPLE_RATE_LIMITS"] = "sign-in=1/86400"
        for (number, status) in [400, 429, 429].enumerated() {
            let event: JSON = [
                "method": "POST", "path": "/auth/apple", "body": "{}",
                "headers": ["content-type": "application/json", "X-Forwarded-For": .string("192.0.2.\(number)")],
            ]
            let answer = try call(trial, mode, event.text)
            #expect(try JSON(text: answer.body)["statusCode"] == .integer(Int64(status)), "\(number)")
        }
    }

    @Test(arguments: modes)
    func withoutConfigurationTheFunctionFails(mode: String) throws {
        let trial = try TrialFunction()
        trial.environment["AUTH_APPLE_AUDIENCES"] = nil
        let answer = try call(trial, mode, plainEvent("{}"))
        #expect(answer.status == 500)
        #expect(!answer.body.contains("AUTH_APPLE"))
    }

    /// OpenFaaS mounts secrets readable to all: as a file they are refused, by the function's script they are taken.
    @Test func theSecretIsTakenAsItIsMounted() throws {
        let trial = try TrialFunction()
        let secret = trial.folder.appending(path: "mounted")
        try FileManager.default.copyItem(at: trial.folder.appending(path: "signing-keys.json"), to: secret)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: secret.path)
        let event = #"{"method":"GET","path":"/health"}"#

        trial.environment["AUTH_APPLE_SIGNING_KEYS_FILE"] = secret.path
        #expect(try trial.run(input: event).status == 78)

        trial.environment["AUTH_APPLE_SIGNING_KEYS_FILE"] = nil
        trial.environment["SIGNING_KEYS_SECRET"] = secret.path
        let programs = try Programs.built("auth-apple").deletingLastPathComponent().path()
        trial.environment["PATH"] = "\(programs):/usr/bin:/bin"
        let script = Programs.packageRoot.appending(path: "deploy/openfaas/function.sh").path()
        let answer = try trial.run(program: [script], input: event)
        #expect(answer.status == 0)
        #expect(try JSON(text: String(answer.output.dropLast()))["statusCode"] == .integer(200))
    }
}
