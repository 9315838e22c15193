import Foundation
import TestSupport
import Testing

/// The function on a machine that lacks something, or has another time.
final class ConfinedFunction: TroubledFunction {
    /// How requests ended under a fault.
    enum Outcome: Hashable {
        case answered
        /// 5xx: try again.
        case unavailable
        /// No whole answer came out.
        case silent
    }

    let site: FunctionSite
    let program: URL
    /// The fault: a command that starts the function, and variables that it has beside its own.
    var wrapper: [String] = []
    var variables: [String: String] = [:]
    /// What takes the fault away before a request is asked again, where it is not only the wrapper's or a variable's.
    var mend: (() throws -> Void)?
    private(set) var outcomes: [Outcome: Int] = [:]
    /// The statuses of what was unavailable.
    private(set) var refusals: Set<Int> = []

    init() throws {
        site = try FunctionSite()
        program = try KilledStore.program()
        site.environment["SWIFT_BACKTRACE"] = "enable=no"
    }

    func answerInTrouble(_ event: Data) throws -> FunctionSite.Answer? {
        let answer = try answer(event, under: wrapper, adding: variables)
        outcomes[answer.map { $0.status < 500 ? .answered : .unavailable } ?? .silent, default: 0] += 1
        try mend?()
        guard let answer, answer.status >= 500 else { return answer }
        refusals.insert(answer.status)
        #expect(answer.status != 503 || answer.headers["retry-after"] != nil)
        return nil
    }

    /// A fetch that failed for want of anything is remembered as one that failed. Where there are no keys, the next is tried
    /// ten seconds later, and that is said.
    func answer(_ event: Data) throws -> FunctionSite.Answer {
        let answer = try #require(try answer(event, under: [], adding: [:]))
        guard answer.status == 503, answer.body["code"] as? String == "keys_unavailable" else { return answer }
        let pause = try #require(answer.headers["retry-after"].flatMap { Int($0) })
        #expect((1...10).contains(pause))
        return try #require(try self.answer(event, under: [], adding: OtherClock.variables(.moved(pause))))
    }

    /// What the function answers under a fault; nil when no whole answer comes out. It writes to pipes, which no limit holds.
    func answer(
        _ event: Data, under wrapper: [String], adding extra: [String: String]
    ) throws -> FunctionSite.Answer? {
        let input = site.folder.appending(path: "in")
        try event.write(to: input)
        let script = #"in=$1; shift; { "$@" <"$in" 2>&3 3>&- | cat >"$in.out"; } 3>&1 | cat >"$in.log""#
        // By env(1), so that neither the shell nor the wrapper gets what is meant for the function.
        let variables = extra.map { "\($0.key)=\($0.value)" }.sorted()
        let command = wrapper + ["/usr/bin/env"] + variables + [program.path()]
        _ = try Ran(["/bin/sh", "-c", script, "sh", input.path()] + command, environment: site.environment)
        let output = try Data(contentsOf: site.folder.appending(path: "in.out"))
        guard output.last == 0x0A else { return nil }
        let log = try Data(contentsOf: site.folder.appending(path: "in.log")).split(separator: 0x0A)
        // A fault may put the system's words among its lines.
        return try FunctionSite.Answer(
            output: output, errors: Data(log.filter { $0.first == UInt8(ascii: "{") }.joined(separator: [0x0A])))
    }
}
