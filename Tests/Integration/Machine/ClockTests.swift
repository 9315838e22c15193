#if SQLite
import Foundation
import TestSupport
import Testing

/// The machine's clock is set back and forward, and right again. By a wrong clock the function judges wrongly, as it must; once
/// it is right nothing that was good is refused, and nothing is good for longer than its rule.
@Suite(.serialized) struct ClockTests {
    static let day = 86_400
    static let settings: [OtherClock.Setting] = [
        .moved(-day), .moved(day), .moved(-3650 * day), .moved(3650 * day), .from(100),
    ]

    /// Fewer where each request costs more.
    private static func settings(of store: KilledStore) -> [OtherClock.Setting] {
        store.isFile ? settings : [.moved(-day), .moved(3650 * day), .from(100)]
    }

    /// A store, and a clock by which it is asked.
    struct Trial: Sendable, CustomTestStringConvertible {
        let store: KilledStore
        let clock: OtherClock.Setting
        var testDescription: String { "\(store.name), \(clock.testDescription)" }

        static let all = KilledStore.all.flatMap { store in
            let clocks = store.clockTolerance.map { [.moved(60 - $0), .moved($0 - 60)] } ?? settings(of: store)
            return clocks.map { Trial(store: store, clock: $0) }
        }
    }

    private let function: ConfinedFunction
    private var site: FunctionSite { function.site }

    init() throws {
        function = try ConfinedFunction()
    }

    private func now() -> Int { Int(Date().timeIntervalSince1970) }

    /// Nil is the right clock.
    private func ask(_ event: Data, _ clock: OtherClock.Setting?) throws -> FunctionSite.Answer {
        let variables = try clock.map { try OtherClock.variables($0) } ?? [:]
        return try #require(try function.answer(event, under: [], adding: variables))
    }

    private func signIn(
        _ subject: String = "001.clock", _ clock: OtherClock.Setting? = nil
    ) throws -> FunctionSite.Answer {
        let time = clock?.time(at: now()) ?? now()
        let token = try site.token("--subject", subject, "--issued-at", "\(time)")
        return try ask(site.event(token: token), clock)
    }

    private func refresh(_ token: String, _ clock: OtherClock.Setting? = nil) throws -> FunctionSite.Answer {
        try ask(FunctionSite.event("POST", "/auth/refresh", body: ["refresh_token": token]), clock)
    }

    private func me(_ token: String, _ clock: OtherClock.Setting? = nil) throws -> Int {
        let headers = ["authorization": "Bearer \(token)"]
        return try ask(FunctionSite.event("GET", "/auth/me", body: [:], headers: headers), clock).status
    }

    // MARK: - Apple's keys

    /// Serves the simulator's present keys. The simulator gets others when its key file goes.
    private func keys() throws -> LoopbackServer.Answer {
        let body = String(decoding: try site.simulator("keys").output, as: UTF8.self)
        return LoopbackServer.Answer(200, body, headers: [["Cache-Control", "max-age=600"]])
    }

    /// A token of the keys that Apple had, good now.
    private func withKeysRotated(
        after clock: OtherClock.Setting, _ body: (LoopbackServer, _ old: Data) throws -> Void
    ) throws {
        try LoopbackServer.run(keys()) { server in
            site.environment["AUTH_APPLE_KEYS_URL"] = server.plainURL()
            #expect(try signIn("001.old", clock).status == 201)
            let old = try site.event(token: site.token("--subject", "001.old"))
            try FileManager.default.removeItem(at: site.folder.appending(path: "simulator/keys.json"))
            let new = try keys()
            // Looked for in vain, which is remembered as well.
            #expect(try signIn("001.new", clock).status == 401)
            try server.answer(new)
            try body(server, old)
        }
    }

    @Test(arguments: settings) func newKeysAreSeenAtOnceWhateverTheCacheIsDated(_ clock: OtherClock.Setting) throws {
        try withKeysRotated(after: clock) { _, old throws in
            #expect(try signIn("001.new").status == 201)
            #expect(try ask(old, nil).status == 401)
        }
    }

    @Test(arguments: settings) func aKeyThatWasWithdrawnIsUsedOnceAtMost(_ clock: OtherClock.Setting) throws {
        try withKeysRotated(after: clock) { _, old throws in
            // Keys of the future are used and renewed after the answer.
            #expect(try [200, 401].contains(ask(old, nil).status))
            #expect(try ask(old, nil).status == 401)
        }
    }

    @Test(arguments: settings) func keysOfTheFutureEndInAnOutageAsOthersDo(_ clock: OtherClock.Setting) throws {
        try LoopbackServer.run(keys()) { server in
            site.environment["AUTH_APPLE_KEYS_URL"] = server.plainURL()
            #expect(try signIn("001.old", clock).status == 201)
            try server.answer(LoopbackServer.Answer(503))
            #expect(try [200, 503].contains(signIn("001.old").status))
            #expect(try signIn("001.old", .moved(73 * 3600)).status == 503)
            try server.answer(keys())
            // The failure was 73 hours from now: nobody waits for that.
            #expect(try signIn("001.old").status == 200)
        }
    }

    // MARK: - Sessions

    @Test(arguments: Trial.all) func sessionsOutliveTheWrongTime(_ trial: Trial) throws {
        try trial.store.serve(site) { try sessionsOutlive(trial.clock) }
    }

    private func sessionsOutlive(_ clock: OtherClock.Setting) throws {
        let ahead = clock.time(at: now()) - now()
        let isFarAhead = ahead > 30 * Self.day
        let opened = try signIn()
        let first = try refresh(opened.refreshToken)
        let wrong = try refresh(first.refreshToken, clock)
        #expect(wrong.status == (isFarAhead ? 401 : 200))
        // By that clock it is over, or its time is still to come; nothing of this is remembered.
        #expect(try me(first.accessToken, clock) == (ahead > 900 ? 401 : 200))
        #expect(try me(first.accessToken) == 200)
        let right = try refresh(isFarAhead ? first.refreshToken : wrong.refreshToken)
        #expect(right.status == 200 && right.sessionID == opened.sessionID)

        // What is opened by a wrong clock lives as long as that clock said.
        let other = try signIn("001.other", clock)
        #expect(other.status == 201)
        #expect(try refresh(other.refreshToken).status == (ahead < -30 * Self.day ? 401 : 200))
        #expect(try signIn("001.other").accountID == other.accountID)

        // A purge by a clock that is a day ahead, or behind, removes none that lives.
        if !isFarAhead {
            let variables = try OtherClock.variables(clock)
            let purged = try Ran(
                [function.program.path(), "store", "purge"],
                environment: site.environment.merging(variables) { $1 })
            #expect(purged.status == 0)
        }
        #expect(try refresh(right.refreshToken).status == 200)
        #expect(try function.run("check").status == 0)
    }

    /// Once the clock was set back, a token that was used up was good again until the grace came by a second time.
    @Test(arguments: Trial.all) func noClockStretchesTheGrace(_ trial: Trial) throws {
        try trial.store.serve(site) {
            // Used by the right clock, and presented again by the wrong one.
            let opened = try signIn()
            #expect(try refresh(opened.refreshToken).status == 200)
            #expect(try refresh(opened.refreshToken, trial.clock).status == 401)
            // Used by the wrong clock, if it was good by it, and presented again by the right one.
            let other = try signIn()
            let used = try refresh(other.refreshToken, trial.clock)
            #expect(try refresh(other.refreshToken).status == (used.status == 200 ? 401 : 200))
        }
    }

    /// A clock that a store does not believe.
    private static let unbelieved = KilledStore.all.filter { $0.clockTolerance != nil }.flatMap { store in
        settings(of: store).map { Trial(store: store, clock: $0) }
    }

    /// By a clock that is further off than AWS allows nothing is done there. That is our outage, and nobody's token is to blame.
    @Test(arguments: unbelieved) func aClockThatTheStoreDoesNotBelieveIsAnOutage(_ trial: Trial) throws {
        try trial.store.serve(site) {
            let opened = try signIn()
            for answer in [
                try signIn("001.clock", trial.clock), try signIn("001.new", trial.clock),
                try refresh(opened.refreshToken, trial.clock),
            ] {
                #expect(answer.status == 503 && answer.headers["retry-after"] != nil)
                #expect(answer.body["code"] as? String == "store_unavailable")
                // The operator is told what to look at.
                #expect(answer.log.contains { "\($0)".contains("the clock") })
            }
            let right = try refresh(opened.refreshToken)
            #expect(right.status == 200 && right.sessionID == opened.sessionID)
            #expect(try signIn("001.new").status == 201)
            #expect(try signIn("001.clock").accountID == opened.accountID)
        }
    }

    // MARK: - What is good once, and what is counted

    /// Almost a day ahead, where Apple's token is good by both clocks; or as far as the store allows.
    private func ahead(_ store: KilledStore) -> OtherClock.Setting {
        .moved(store.clockTolerance.map { $0 - 60 } ?? 23 * 3600)
    }

    @Test(arguments: KilledStore.all) func anAnswerOfTheFutureIsNotGivenAgain(_ store: KilledStore) throws {
        try store.serve(site) {
            let event = try site.event(token: site.token("--subject", "001.once"), headers: ["idempotency-key": "one"])
            let first = try ask(event, ahead(store))
            #expect(first.status == 201)
            #expect(try ask(event, ahead(store)).text == first.text)
            let second = try ask(event, nil)
            #expect(second.status == 200 && second.sessionID != first.sessionID)
            #expect(try ask(event, nil).text == second.text)
        }
    }

    @Test(arguments: KilledStore.all) func aTokenThatWasGoodOnceStaysUsedUp(_ store: KilledStore) throws {
        site.environment["AUTH_APPLE_ONE_TIME_TOKENS"] = "true"
        try store.serve(site) {
            let event = try site.event(token: site.token("--subject", "001.once"))
            #expect(try ask(event, ahead(store)).status == 201)
            #expect(try ask(event, nil).status == 401)
            #expect(try signIn("001.once").status == 200)
        }
    }

    /// Once whoever had used up his attempts an hour ahead was shut out for that hour.
    @Test(arguments: KilledStore.all) func attemptsOfTheFutureShutNobodyOut(_ store: KilledStore) throws {
        site.environment["AUTH_APPLE_RATE_LIMITS"] = "refresh=2/60"
        try store.serve(site) {
            let seconds = store.clockTolerance.map { $0 - 60 } ?? 3600
            var token = try signIn().refreshToken
            for attempt in 0..<4 {
                let answer = try refresh(token, .moved(seconds))
                #expect(answer.status == (attempt < 2 ? 200 : 429))
                if answer.status == 200 { token = answer.refreshToken }
            }
            let right = try refresh(token)
            #expect(right.status == 200)
            #expect(try refresh(right.refreshToken, .moved(-seconds)).status == 200)
        }
    }
}
#endif
