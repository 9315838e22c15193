import Foundation
import Testing

@testable import Xid

/// What can happen to a browser, and that nothing is left of the sign-in then.
@Suite struct BrowserTests {
    /// OAuthSwift#600: a cancel looked like a failure. Auth0.swift#879 #891, AppAuth-iOS#925: the next attempt failed until a restart.
    @Test(arguments: [
        (ScriptedBrowser.Script.close, XidError.Code.userCancelled), (.cannotStart, .cannotStartBrowser),
        (.noWindow, .presentationContext),
    ])
    func aVisitThatEndsLeavesNothingAndTheNextOneWorks(
        script: ScriptedBrowser.Script, expected: XidError.Code
    ) async throws {
        let trial = try Trial(isLocal: true)
        trial.browser.play(script)
        #expect(await Trial.code { try await trial.xid.signIn() } == expected)
        #expect(trial.storage.values.isEmpty)
        #expect(trial.provider.count("/token") == 0)
        trial.browser.play(.follow)
        try await trial.xid.signIn()
    }

    /// Auth0.swift#729 #827 #950: a double tap crashed.
    @Test func aSecondSignInIsRefusedAndTheFirstGoesOn() async throws {
        let (trial, task, redirect) = try await RedirectTests.waiting()
        #expect(await Trial.code { try await trial.xid.signIn() } == .flowInProgress)
        #expect(throws: XidError.self) { try trial.xid.setTokenStorage(MemoryStorage()) }
        trial.browser.visits.first?.deliver(redirect)
        _ = try await task.value
        #expect(trial.browser.urls.count == 1)
        try trial.xid.setTokenStorage(MemoryStorage())
        #expect(try await trial.xid.getSession() == nil)
    }

    @Test func manySignInsAtOnceOpenOneBrowser() async throws {
        let trial = try Trial(isLocal: true)
        let codes = await withTaskGroup(of: XidError.Code?.self) { group in
            for _ in 0..<20 { group.addTask { await Trial.code { try await trial.xid.signIn() } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.contains(nil))
        #expect(codes.allSatisfy { $0 == nil || $0 == .flowInProgress })
        #expect(trial.provider.count("/token") == codes.filter { $0 == nil }.count)
    }

    @Test func theAppCanCancel() async throws {
        let (trial, task, redirect) = try await RedirectTests.waiting()
        try await trial.xid.cancelSignIn()
        #expect(await Trial.code { _ = try await task.value } == .cancelled)
        #expect(trial.storage.values.isEmpty)
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: redirect) } == .noPendingFlow)
        trial.browser.play(.follow)
        try await trial.xid.signIn()
    }

    /// Auth0.swift#879 #891, AppAuth-iOS#925. The first may take its time to end: here its exchange, which nothing can call back.
    @Test func afterACancelAnotherSignInBeginsAtOnce() async throws {
        let (trial, first, redirect) = try await RedirectTests.waiting(isLocal: false)
        defer { trial.site?.stop() }
        let gate = Gate()
        trial.provider.locked { trial.provider.beforeTokenAnswer = { gate.pass() } }
        trial.browser.visits.last?.deliver(redirect)
        await gate.reached()
        trial.provider.locked { trial.provider.beforeTokenAnswer = nil }
        try await trial.xid.cancelSignIn()
        trial.browser.play(.wait)
        let second = Task { try await trial.xid.signIn() }
        let other = try trial.browser.redirect(from: try await trial.browser.opened(2))
        gate.open()
        #expect(await Trial.code { _ = try await first.value } == .cancelled)
        // The end of the first is not that of the second.
        #expect(trial.xid.isFlowPending)
        #expect(await Trial.code { try await trial.xid.signIn() } == .flowInProgress)
        trial.browser.visits.last?.deliver(other)
        let session = try await second.value
        #expect(try await trial.xid.getSession() == session)
        #expect(!trial.xid.isFlowPending)
        #expect(trial.storage.flows.isEmpty)
    }

    @Test func aCancelledTaskEndsItsSignIn() async throws {
        let (trial, task, _) = try await RedirectTests.waiting()
        task.cancel()
        #expect(await Trial.code { _ = try await task.value } == .cancelled)
        #expect(trial.storage.values.isEmpty)
    }

    @Test func aTaskThatWasCancelledBeforeEndsToo() async throws {
        let trial = try Trial(isLocal: true)
        trial.browser.play(.wait)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await trial.xid.signIn()
        }
        #expect(await Trial.code { _ = try await task.value } == .cancelled)
        #expect(trial.storage.values.isEmpty)
    }

    @Test func configuringAnewEndsASignIn() async throws {
        let (trial, task, _) = try await RedirectTests.waiting()
        trial.xid.configure(options: trial.configuration)
        #expect(await Trial.code { _ = try await task.value } == .cancelled)
        #expect(trial.storage.values.isEmpty)
    }

    @Test func signingOutEndsASignIn() async throws {
        let (trial, task, _) = try await RedirectTests.waiting()
        try await trial.xid.signOut()
        #expect(await Trial.code { _ = try await task.value } == .cancelled)
        #expect(trial.storage.values.isEmpty)
    }

    /// What an exchange brings after the app has signed out is revoked, not kept.
    @Test func signingOutDuringTheExchangeKeepsNothing() async throws {
        let (trial, task, redirect) = try await RedirectTests.waiting(isLocal: false)
        defer { trial.site?.stop() }
        let gate = Gate()
        trial.provider.locked { trial.provider.beforeTokenAnswer = { gate.pass() } }
        let exchange = Task { try await trial.xid.handleRedirect(url: redirect) }
        await gate.reached()
        try await trial.xid.signOut()
        gate.open()
        #expect(await Trial.code { _ = try await exchange.value } == .cancelled)
        #expect(await Trial.code { _ = try await task.value } == .cancelled)
        #expect(trial.storage.values.isEmpty)
        #expect(trial.provider.count("/revoke") == 1)
        #expect(try await trial.xid.getSession() == nil)
    }

    @Test(arguments: [true, false])
    func theBrowserForgetsUnlessToldOtherwise(isEphemeral: Bool) async throws {
        let trial = try Trial(isLocal: true) { $0.prefersEphemeralWebBrowserSession = isEphemeral }
        try await trial.xid.signIn()
        try await trial.xid.signIn(options: XidSignInOptions(prefersEphemeralWebBrowserSession: !isEphemeral))
        #expect(trial.browser.ephemeral == [isEphemeral, !isEphemeral])
        #expect(
            XidConfiguration(
                issuer: trial.configuration.issuer, clientId: "x", redirectUri: trial.configuration.redirectUri,
                scopes: []
            ).prefersEphemeralWebBrowserSession)
    }
}

/// Where a request waits until the test lets it go.
final class Gate: @unchecked Sendable {
    private let entered = DispatchSemaphore(value: 0)
    private let left = DispatchSemaphore(value: 0)

    /// Called where it is to wait.
    func pass() {
        entered.signal()
        _ = left.wait(timeout: .now() + .seconds(Trial.patience))
    }

    func reached() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                _ = self.entered.wait(timeout: .now() + .seconds(Trial.patience))
                continuation.resume()
            }
        }
    }

    func open(_ count: Int = 1) {
        for _ in 0..<count { left.signal() }
    }
}
