#if SQLite
import Foundation
import TestSupport
import Testing

/// Processes that are killed at any moment: what was answered stands, and what was not answered can be asked again.
@Suite(.serialized) struct KilledTests {
    private let site: FunctionSite
    private let program: URL

    init() throws {
        site = try FunctionSite()
        program = try Programs.built("auth-apple")
        // A phone whose answer was lost asks again at once; here the machine may be busy.
        site.environment["AUTH_APPLE_REFRESH_GRACE_SECONDS"] = "60"
    }

    /// Sends an event and kills the process after so many microseconds. Nil when no whole answer came out.
    private func send(_ event: Data, killedAfter microseconds: UInt32) throws -> FunctionSite.Answer? {
        let (input, output) = (site.folder.appending(path: "in"), site.folder.appending(path: "out"))
        try event.write(to: input)
        try Data().write(to: output)
        let process = try ChildProcess(program, environment: site.environment, input: input, output: output)
        usleep(microseconds)
        process.kill(SIGKILL)
        process.wait()
        let answer = try Data(contentsOf: output)
        return answer.last == 0x0A ? try FunctionSite.Answer(output: answer) : nil
    }

    private func refreshEvent(_ token: String, _ path: String = "/auth/refresh") throws -> Data {
        try FunctionSite.event("POST", path, body: ["refresh_token": token])
    }

    @Test func nothingThatWasAnsweredIsUndone() throws {
        var live: [String] = []
        var ended: [String] = []
        var (answered, lost) = (0, 0)
        let tokens = try (0..<10).map { try site.token("--subject", "001.killed.\($0)") }
        var random = SystemRandomNumberGenerator()
        // As long as one takes here, and half as long again: some are killed early, some late, some not.
        let began = Date()
        for token in tokens { #expect(try site.send(site.event(token: token)).status == 201) }
        var window = UInt32(Date().timeIntervalSince(began) * 1_500_000) / UInt32(tokens.count)
        for round in 0..<240 {
            // The machine may be slower now, or faster, than it was at the beginning.
            if answered > 3 * lost + 10 { window = max(1000, window / 20 * 19) }
            if lost > 3 * answered + 10 { window = window / 19 * 20 }
            let moment = UInt32.random(in: 0...window, using: &random)
            switch live.isEmpty ? 0 : Int.random(in: 0..<5, using: &random) {
            case 0:
                let answer = try send(site.event(token: tokens[round % tokens.count]), killedAfter: moment)
                if let answer {
                    answered += 1
                    #expect(answer.status < 300)
                    live.append(try #require(answer.body["refresh_token"] as? String))
                } else {
                    lost += 1
                }
            case 1:
                let token = live.remove(at: Int.random(in: live.indices, using: &random))
                if try send(refreshEvent(token, "/auth/logout"), killedAfter: moment) == nil {
                    lost += 1
                    #expect(try site.send(refreshEvent(token, "/auth/logout")).status == 204)
                } else {
                    answered += 1
                }
                ended.append(token)
            default:
                let index = Int.random(in: live.indices, using: &random)
                var answer = try send(refreshEvent(live[index]), killedAfter: moment)
                answered += answer == nil ? 0 : 1
                lost += answer == nil ? 1 : 0
                // The answer was lost with its process: the same token is good for the same successor.
                if answer == nil { answer = try site.send(refreshEvent(live[index])) }
                #expect(answer?.status == 200)
                live[index] = try #require(answer?.body["refresh_token"] as? String)
            }
        }
        #expect(answered > 20 && lost > 20, "\(answered) answered, \(lost) lost")
        for token in live { #expect(try site.send(refreshEvent(token)).status == 200) }
        for token in ended { #expect(try site.send(refreshEvent(token)).status == 401) }
        #expect(try site.run("check").status == 0)
    }
}
#endif
