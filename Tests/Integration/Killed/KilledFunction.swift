import Foundation
import TestSupport

/// The function as many processes, each of which is killed at any moment of its life: some early, some late, some when all
/// is said.
final class KilledFunction: TroubledFunction {
    let site: FunctionSite
    let program: URL
    private(set) var answered = 0
    private(set) var lost = 0
    /// Somewhat longer than a process takes here, in microseconds. It follows the machine.
    private var window = 30_000.0

    init(_ site: FunctionSite) throws {
        self.site = site
        program = try KilledStore.program()
        // A phone whose answer was lost asks again at once; here the machine may be busy.
        site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "60"
    }

    func answerInTrouble(_ event: Data) throws -> FunctionSite.Answer? {
        guard let line = try linesUnlessKilled(event, within: window).first else {
            lost += 1
            if lost > 2 * answered + 4 { window = min(5_000_000, window * 1.1) }
            return nil
        }
        answered += 1
        if answered > 2 * lost + 4 { window = max(1000, window / 1.1) }
        return try FunctionSite.Answer(output: line)
    }

    /// The whole lines that a process writes until it is killed at a random moment, within some microseconds of its beginning.
    func linesUnlessKilled(_ input: Data, _ arguments: [String] = [], within window: Double) throws -> [Data] {
        let (events, output) = (site.folder.appending(path: "in"), site.folder.appending(path: "out"))
        try input.write(to: events)
        let process = try ChildProcess(
            program, arguments, environment: site.environment, input: events, output: output)
        usleep(UInt32.random(in: 0...UInt32(window)))
        process.kill(SIGKILL)
        process.wait()
        // The last line has no end, or is nothing.
        return try Data(contentsOf: output).split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map {
            Data($0)
        }
    }
}
