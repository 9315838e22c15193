internal import AuthFunction
internal import JOSE

/// What the operator is told outside a request.
enum Report {
    /// Every problem, a line each, on standard error.
    static func configuration(_ problems: [ConfigurationProblem]) -> Int32 {
        Descriptor.printError("auth-apple cannot serve: its configuration has \(problems.count) problem(s).")
        for problem in problems { Descriptor.printError("  \(problem.line)") }
        return ExitStatus.configuration
    }

    /// The same as one line of the log, where a program reads it.
    static func logConfiguration(_ problems: [ConfigurationProblem]) {
        let json: JSON = [
            "time": .string(System.now().rfc3339), "outcome": "not_configured",
            "problems": .array(problems.map { .string($0.line) }),
        ]
        Descriptor.printError(json.text)
    }

    /// What was done was done, and whoever asked does not know.
    static func logLostAnswer(to requestID: String) {
        let json: JSON = [
            "time": .string(System.now().rfc3339), "request_id": .string(requestID), "outcome": "answer_not_written",
        ]
        Descriptor.printError(json.text)
    }

    /// What happened to Apple's keys after an answer, if anything did.
    static func logKeyCache(_ notes: [String]) {
        guard !notes.isEmpty else { return }
        let json: JSON = [
            "time": .string(System.now().rfc3339), "outcome": "key_cache",
            "key_cache_notes": .array(notes.map(JSON.string)),
        ]
        Descriptor.printError(json.text)
    }

    /// What went wrong between this program and the runtime that drives it.
    static func logRuntime(_ reason: String) {
        let json: JSON = [
            "time": .string(System.now().rfc3339), "outcome": "runtime", "reason": .string(reason),
        ]
        Descriptor.printError(json.text)
    }
}
