import Foundation
import Testing

@testable import Xid

/// Whatever happens in whatever order: nothing hangs, nothing is resumed twice (Swift would end the process), no code is spent twice, and
/// no verifier stays behind.
@Suite struct ModelTests {
    enum Step: CaseIterable {
        case signIn, handleRedirect, deliver, foreignState, noState, denial, repeatRedirect, closeWindow, cancel,
            cancelTask
        case signOut, read, token, time, restart, failStorage
    }

    /// Reproducible, by its seed (Steele, Lea and Flood's SplitMix).
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    struct World {
        var trial: Trial
        var former: [Trial] = []
        var redirects: [URL] = []
        var seen = 0
        var tasks: [Task<Void, any Error>] = []

        /// Pages that were opened since: the provider's answers to them, for later.
        mutating func look() {
            let urls = trial.browser.urls
            for url in urls[min(seen, urls.count)...] {
                if let redirect = try? trial.browser.redirect(from: url), url.path() == "/authorize" {
                    redirects.append(redirect)
                }
            }
            seen = urls.count
        }

        mutating func start(_ work: @escaping @Sendable (Xid) async throws -> Void) {
            let xid = trial.xid
            tasks.append(Task { try await work(xid) })
        }
    }

    @Test(arguments: 0..<150 as Range<UInt64>)
    func noOrderOfEventsBreaksTheRules(seed: UInt64) async throws {
        var random = Generator(state: seed)
        let isBound = Bool.random(using: &random)
        var world = World(
            trial: try Trial(
                dpop: isBound ? .required : .off, isLocal: true, scopes: isBound ? ["offline_access"] : ["openid"]))
        world.trial.browser.play(.wait)
        // Time leaps here, also between a proof and its being looked at.
        world.trial.provider.proofAge = 1_000_000
        for _ in 0..<25 {
            try await take(Step.allCases.randomElement(using: &random) ?? .signIn, &world, &random)
            for _ in 0..<Int.random(in: 0...12, using: &random) { await Task.yield() }
            world.look()
        }
        world.trial.storage.failAll([])

        // The end: what is open is cancelled, and all of it must come to an end.
        for trial in world.former + [world.trial] { try await trial.xid.cancelSignIn() }
        let tasks = world.tasks
        let isDone = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for task in tasks { _ = await task.result }
                return true
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(20))
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        #expect(isDone, "a call hangs")
        guard isDone else { return }
        for task in tasks {
            if case .failure(let error) = await task.result { #expect(error is XidError, "\(type(of: error))") }
        }
        let exchanges = world.trial.provider.requests("/token").filter { $0.form["code"] != nil }
        #expect(Set(exchanges.compactMap { $0.form["code"] }).count == exchanges.count, "a code was spent twice")
        let spent = world.trial.provider.locked { world.trial.provider.grants.values.filter(\.isSpent).count }
        #expect(spent == exchanges.count, "a code went with another flow's verifier")
        try await world.trial.xid.cancelSignIn()
        #expect(world.trial.storage.flows.isEmpty, "a verifier stays behind")
        #expect(!world.trial.xid.isFlowPending)
        try await world.trial.xid.signOut()
        #expect(world.trial.storage.sessions.isEmpty)
        // And all works as on the first day.
        world.trial.browser.play(.follow)
        try await world.trial.xid.signIn()
        #expect(try await world.trial.xid.getSession() != nil)
    }

    private func take(_ step: Step, _ world: inout World, _ random: inout Generator) async throws {
        let redirect = world.redirects.randomElement(using: &random)
        let last = world.redirects.last
        switch step {
        case .signIn: world.start { try await $0.signIn() }
        case .handleRedirect:
            if let last { world.start { try await $0.handleRedirect(url: last) } }
        case .repeatRedirect:
            if let redirect { world.start { try await $0.handleRedirect(url: redirect) } }
        case .deliver:
            if let last { world.trial.browser.visits.last?.deliver(last) }
        case .foreignState, .noState, .denial:
            let query = [
                Step.foreignState: "code=x&state=y", .noState: "code=x", .denial: "error=access_denied&state=y",
            ]
            let url = URL(string: "com.example.app://auth/callback?" + (query[step] ?? ""))
            if let url { world.start { try await $0.handleRedirect(url: url) } }
        case .closeWindow: world.trial.browser.visits.last?.close()
        case .cancel: world.start { try await $0.cancelSignIn() }
        case .cancelTask: world.tasks.randomElement(using: &random)?.cancel()
        case .signOut: world.start { try await $0.signOut() }
        case .read: world.start { _ = try await $0.getSession() }
        case .token: world.start { _ = try await $0.getAccessToken(forceRefresh: true) }
        case .time: world.trial.clock.advance(Int64.random(in: 1...400, using: &random))
        case .restart:
            // Rarely, or there would be nothing but beginnings.
            guard Int.random(in: 0..<4, using: &random) == 0 else { return }
            world.former.append(world.trial)
            world.trial = world.trial.restarted()
            world.trial.browser.play(.wait)
            world.seen = 0
        case .failStorage:
            let sets: [Set<MemoryStorage.Operation>] = [[], [], [.save], [.load], [.delete], [.delete, .save]]
            world.trial.storage.failAll(sets.randomElement(using: &random) ?? [])
        }
    }
}
