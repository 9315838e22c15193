import Foundation
import TestSupport

/// The function, each request a process of its own, some of which get into trouble: they are killed, or their machine lacks
/// something.
protocol TroubledFunction {
    var site: FunctionSite { get }
    var program: URL { get }

    /// The answer of a process in trouble; nil when none came out, or it was that a later attempt may do better (5xx).
    func answerInTrouble(_ event: Data) throws -> FunctionSite.Answer?

    /// The answer of a process that has what it needs.
    func answer(_ event: Data) throws -> FunctionSite.Answer
}

extension TroubledFunction {
    func answer(_ event: Data) throws -> FunctionSite.Answer {
        try FunctionSite.Answer(output: run(input: event).output)
    }

    func run(_ arguments: String..., input: Data = Data()) throws -> Ran {
        try Ran([program.path()] + arguments, environment: site.environment, input: input)
    }

    /// Answers to many events by one process that has what it needs.
    func answers(_ events: [Data]) throws -> [FunctionSite.Answer] {
        try run("lines", input: Data(events.joined(separator: Data("\n".utf8)))).output.split(separator: 0x0A).map {
            try FunctionSite.Answer(output: Data($0))
        }
    }
}
