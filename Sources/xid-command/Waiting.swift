internal import Glibc

/// Waits for something that a person does elsewhere: with a spinner where somebody watches, and until Ctrl-C.
enum Waiting {
    /// How long the cancelled work may tidy up, in ticks.
    private static let patience = 20
    private static let tick = Duration.milliseconds(100)

    static func wait<Value: Sendable>(
        _ line: String, for work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        Interrupt.watch()
        let task = Task { try await work() }
        let spinner = Task { await spin(line) { task.cancel() } }
        let result = await task.result
        spinner.cancel()
        await spinner.value
        if let signal = Interrupt.signal { throw Interrupted(signal: signal) }
        return try result.get()
    }

    private static func spin(_ line: String, cancel: () -> Void) async {
        let frames = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
        let isWatched = Terminal.isWatched
        var (count, rest) = (0, patience)
        defer { if isWatched { Terminal.write(Terminal.beginning, to: STDERR_FILENO) } }
        while !Task.isCancelled {
            if isWatched { Terminal.write("\r\(frames[count % frames.count]) \(line)", to: STDERR_FILENO) }
            if let signal = Interrupt.signal {
                if rest == patience { cancel() }
                rest -= 1
                // Stuck in a request to a provider that does not answer: nothing is open that would stay behind.
                if rest == 0 { exit(128 + signal) }
            }
            count += 1
            try? await Task.sleep(for: tick)
        }
    }
}

/// A signal ended the waiting.
struct Interrupted: Error {
    var signal: Int32
}
