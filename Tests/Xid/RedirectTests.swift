import Foundation
import Testing

@testable import Xid

/// How a redirect is taken. Numbers in comments are faults that were reported of other libraries.
@Suite struct RedirectTests {
    /// An app whose browser is open, and the URL that the provider sends it to.
    static func waiting(
        _ mutations: [Mutation] = [], isLocal: Bool = true
    ) async throws -> (Trial, Task<XidSession, any Error>, URL) {
        let trial = try Trial(isLocal: isLocal, mutations: mutations)
        trial.browser.play(.wait)
        let task = Task { try await trial.xid.signIn() }
        let page = try await trial.browser.opened(1)
        return (trial, task, try trial.browser.redirect(from: page))
    }

    static func changed(_ url: URL, _ old: String, _ new: String) throws -> URL {
        let text = url.absoluteString.replacingOccurrences(of: old, with: new)
        #expect(text != url.absoluteString)
        return try #require(URL(string: text))
    }

    /// AppAuth-iOS#56: surfaced as a generic error.
    @Test func aDenialIsADenial() async throws {
        let trial = try Trial(isLocal: true, mutations: [.redirectError("access_denied")])
        let error = await #expect(throws: XidError.self) { try await trial.xid.signIn() }
        #expect(error?.code == .authorizationDenied)
        #expect(error?.providerError == "access_denied")
        #expect(error?.providerDescription == "No + 100%")
        #expect(error.map { !String(reflecting: $0).contains("100%") } == true)
        #expect(trial.storage.flows.isEmpty)
    }

    @Test func anotherErrorOfTheProviderIsNamed() async throws {
        let trial = try Trial(isLocal: true, mutations: [.redirectError("temporarily_unavailable")])
        let error = await #expect(throws: XidError.self) { try await trial.xid.signIn() }
        #expect(error?.code == .authorizationFailed)
        #expect(error?.providerError == "temporarily_unavailable")
    }

    /// AppAuth checks `error` first, so any page can end a login.
    @Test func anErrorWithoutTheStateEndsNothing() async throws {
        let (trial, task, redirect) = try await Self.waiting()
        let forged = try #require(URL(string: "com.example.app://auth/callback?error=access_denied&state=guess"))
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: forged) } == .stateMismatch)
        let session = try await trial.xid.handleRedirect(url: redirect)
        #expect(try await task.value == session)
    }

    /// The order is iss, state, error, code.
    @Test(arguments: [
        ("?iss=https://other&state=guess&error=access_denied", XidError.Code.issuerMismatch),
        ("?state=guess&error=access_denied", .stateMismatch), ("?error=access_denied", .stateMismatch),
        ("?code=x", .stateMismatch), ("?state=", .stateMismatch),
    ])
    func whatIsWrongFirstIsSaid(query: String, expected: XidError.Code) async throws {
        let (trial, task, redirect) = try await Self.waiting()
        let url = try #require(URL(string: "com.example.app://auth/callback" + query))
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: url) } == expected)
        #expect(trial.provider.count("/token") == 0)
        #expect(trial.storage.flows.count == 1)
        try await trial.xid.handleRedirect(url: redirect)
        _ = try await task.value
    }

    /// AppAuth-iOS#88 #292 #366: an answer in the fragment looked like a wrong state.
    @Test func anAnswerInTheFragmentIsNotRead() async throws {
        let (trial, task, redirect) = try await Self.waiting([.redirectInFragment])
        #expect(redirect.absoluteString.contains("#code="))
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: redirect) } == .malformedRedirect)
        #expect(trial.provider.count("/token") == 0)
        try await trial.xid.cancelSignIn()
        #expect(await Trial.code { _ = try await task.value } == .cancelled)
    }

    /// AppAuth-iOS#495: silently false. logto: a prefix was enough.
    @Test(arguments: [
        "com.example.app://auth/callbackevil", "com.example.app://auth/callback/", "com.example.app://auth/Callback",
        "com.example.app://evil/callback", "com.example.appx://auth/callback", "https://auth/callback",
        "com.example.app://user@auth/callback", "com.example.app://auth/callback/../callback",
    ])
    func anotherAddressIsNotOurs(address: String) async throws {
        let (trial, task, redirect) = try await Self.waiting()
        let other = try Self.changed(redirect, "com.example.app://auth/callback", address)
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: other) } == .redirectMismatch)
        #expect(trial.provider.count("/token") == 0)
        try await trial.xid.handleRedirect(url: redirect)
        _ = try await task.value
    }

    @Test func theSchemesCaseIsTheSystemsAffair() async throws {
        let (trial, task, redirect) = try await Self.waiting()
        try await trial.xid.handleRedirect(url: Self.changed(redirect, "com.example", "COM.Example"))
        _ = try await task.value
    }

    @Test(arguments: [
        ("https://A.example/cb", "https://a.example/cb", true), ("http://127.0.0.1:9", "http://127.0.0.1:9/", true),
        ("https://a.example/cb", "https://a.example/cb/", false),
        ("https://a.example/CB", "https://a.example/cb", false),
        ("a:/cb", "a:/cb", true), ("A:/cb", "a:/cb", true), ("a:/CB", "a:/cb", false), ("", "", true),
        ("http://127.0.0.1:9/cb", "http://127.0.0.1:8/cb", false),
    ])
    func addressesAreComparedWhole(one: String, other: String, isSame: Bool) {
        #expect(Redirect.isSame(one, other) == isSame)
    }

    /// RFC 6749 §3.1, and JARM.
    @Test(arguments: [("code", "x"), ("state", "x"), ("iss", "x"), ("iss", "y"), ("response", "eyJ")])
    func aParameterTwiceOrASignedAnswerIsRefused(name: String, value: String) async throws {
        let mutations: [Mutation] = [.advertisesIssuer, .redirectExtra(name, value)]
        let trial = try Trial(isLocal: true, mutations: mutations)
        #expect(await Trial.code { try await trial.xid.signIn() } == .malformedRedirect)
        #expect(trial.provider.count("/token") == 0)
        #expect(trial.storage.flows.isEmpty)
    }

    /// Of the broken escapes only these pass through Foundation as they are. (The others are in JOSE's tests of forms.)
    @Test(arguments: ["%ff", "%C3", "%ED%A0%80"])
    func anEscapeThatIsNoTextIsRefused(escape: String) throws {
        let url = try #require(URL(string: "a:/cb?code=\(escape)"))
        #expect(throws: XidError(.malformedRedirect)) { try Redirect(url, callback: "a:/cb") }
    }

    /// The provider's no was taken for an answer that nobody understands, and `xid login` went on waiting.
    @Test func aSentenceInAnotherEncodingLeavesTheRefusalReadable() throws {
        let refusal = "a:/cb?error=access_denied&error_description=Acc%E8s%20refus%E9&state=s"
        let redirect = try Redirect(try #require(URL(string: refusal)), callback: "a:/cb")
        #expect(redirect.error == "access_denied" && redirect.state == "s" && redirect.errorDescription == nil)
        let twice = try #require(URL(string: refusal + "&error_description=x"))
        #expect(throws: XidError(.malformedRedirect)) { try Redirect(twice, callback: "a:/cb") }
        let spanish = try #require(URL(string: "a:/cb?error=x&error_description=Denegado%3A%20%C3%B1"))
        #expect(try Redirect(spanish, callback: "a:/cb").errorDescription == "Denegado: ñ")
    }

    @Test func aRedirectOfVeryManyParametersIsRefused() throws {
        let callback = "com.example.app://auth/callback"
        for (count, isRefused) in [(63, false), (64, true)] {
            let extra = (0..<count).map { "&p\($0)=" }.joined()
            let url = try #require(URL(string: "\(callback)?code=x\(extra)"))
            #expect((try? Redirect(url, callback: callback)) == nil ? isRefused : !isRefused)
        }
    }

    @Test func aRedirectWithoutCodeEndsTheFlow() async throws {
        let (trial, task, redirect) = try await Self.waiting()
        let text = redirect.absoluteString
        let state = try #require(text.range(of: "state="))
        let url = try #require(URL(string: "com.example.app://auth/callback?\(text[state.lowerBound...])"))
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: url) } == .malformedRedirect)
        #expect(trial.storage.flows.isEmpty)
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: redirect) } == .noPendingFlow)
        try await trial.xid.cancelSignIn()
        _ = try? await task.value
    }

    /// AppAuth-iOS PR#955, flutter_appauth#161: a redirect after the end killed the app.
    @Test func aRedirectWithoutASignInIsNoCrash() async throws {
        let trial = try Trial(isLocal: true)
        let url = try #require(URL(string: "com.example.app://auth/callback?code=x&state=y"))
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: url) } == .noPendingFlow)
        trial.browser.play(.close)
        #expect(await Trial.code { try await trial.xid.signIn() } == .userCancelled)
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: url) } == .noPendingFlow)
    }

    /// Contradiction A of the specification.
    @Test func theSameURLAgainGivesTheSameSessionAndSpendsNothing() async throws {
        let (trial, task, redirect) = try await Self.waiting()
        async let first = trial.xid.handleRedirect(url: redirect)
        async let second = trial.xid.handleRedirect(url: redirect)
        let sessions = try await [first, second, task.value, trial.xid.handleRedirect(url: redirect)]
        #expect(Set(sessions).count == 1)
        #expect(trial.provider.count("/token") == 1)
        try await trial.xid.signOut()
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: redirect) } == .noPendingFlow)
    }

    /// AppAuth-iOS#819, flutter_appauth#635: nothing to resume.
    @Test func aSignInGoesOnAfterTheAppWasStartedAnew() async throws {
        let (trial, task, redirect) = try await Self.waiting()
        let later = trial.restarted()
        let session = try await later.xid.handleRedirect(url: redirect)
        #expect(try await later.xid.getSession() == session)
        #expect(trial.storage.flows.isEmpty)
        try await trial.xid.cancelSignIn()
        _ = try? await task.value
        #expect(try await later.xid.getSession() == session)
    }

    /// Its exchange could not be cancelled, and a storage that was set meanwhile did not get the session.
    @Test func aSignInThatGoesOnAfterTheAppWasStartedAnewIsOpenUntilItsEnd() async throws {
        let (trial, task, redirect) = try await Self.waiting(isLocal: false)
        defer { trial.site?.stop() }
        let later = trial.restarted()
        let gate = Gate()
        trial.provider.locked { trial.provider.beforeTokenAnswer = { gate.pass() } }
        let exchange = Task { try await later.xid.handleRedirect(url: redirect) }
        await gate.reached()
        trial.provider.locked { trial.provider.beforeTokenAnswer = nil }
        #expect(await Trial.code { try later.xid.setTokenStorage(MemoryStorage()) } == .flowInProgress)
        #expect(await Trial.code { try await later.xid.signIn() } == .flowInProgress)
        try await later.xid.cancelSignIn()
        gate.open()
        #expect(await Trial.code { _ = try await exchange.value } == .cancelled)
        #expect(trial.storage.sessions.isEmpty)
        #expect(trial.provider.count("/revoke") == 1)
        #expect(!later.xid.isFlowPending)
        try await later.xid.signIn()
        task.cancel()
        _ = try? await task.value
    }

    @Test(arguments: [(Int64(599), XidError.Code?.none), (600, .flowExpired), (-601, .flowExpired)])
    func aRedirectComesInTimeOrNot(seconds: Int64, expected: XidError.Code?) async throws {
        let (trial, task, redirect) = try await Self.waiting()
        task.cancel()
        trial.clock.advance(seconds)
        // A cold start, so that the browser's own end does not matter. The cancelled sign-in may not erase what it reads.
        let values = trial.storage.values
        _ = try? await task.value
        trial.storage.put(values)
        let later = trial.restarted()
        #expect(await Trial.code { _ = try await later.xid.handleRedirect(url: redirect) } == expected)
        #expect(trial.storage.flows.isEmpty)
    }

    /// supabase-swift#1168/PR#1245, supabase-js#2557: the first callback got the second flow's verifier, and burnt the code.
    @Test func aRedirectNeverMeetsTheVerifierOfALaterFlow() async throws {
        let (trial, task, first) = try await Self.waiting()
        let second = trial.restarted()
        second.browser.play(.wait)
        let other = Task { try await second.xid.signIn() }
        let redirect = try second.browser.redirect(from: try await second.browser.opened(1))
        #expect(await Trial.code { _ = try await second.xid.handleRedirect(url: first) } == .stateMismatch)
        #expect(trial.provider.count("/token") == 0)
        try await second.xid.handleRedirect(url: redirect)
        _ = try await other.value
        task.cancel()
        _ = try? await task.value
    }

    /// ory/polis#2074, openiddict#2428, django-oauth-toolkit#1846, JavaScriptSolidServer#524
    @Test(arguments: [
        ([Mutation.advertisesIssuer], XidError.Code?.none),
        ([.advertisesIssuer, .redirectIssuer(nil)], .issuerMismatch),
        ([.advertisesIssuer, .redirectIssuer("ISSUER/")], .issuerMismatch),
        ([.advertisesIssuer, .redirectIssuer(nil), .redirectError("access_denied")], .issuerMismatch),
        ([.advertisesIssuer, .redirectError("access_denied")], .authorizationDenied),
        ([.redirectIssuer("ISSUER")], nil), ([.redirectIssuer("https://other.example")], .issuerMismatch),
        ([.redirectIssuer("")], .issuerMismatch),
    ])
    func theRedirectNamesTheIssuerOrNobody(mutations: [Mutation], expected: XidError.Code?) async throws {
        let trial = try Trial(isLocal: true, mutations: mutations)
        #expect(await Trial.code { try await trial.xid.signIn() } == expected)
        #expect(trial.provider.count("/token") == (expected == nil ? 1 : 0))
        #expect(trial.storage.flows.isEmpty)
    }

    /// A mix-up of providers: the state is ours and the issuer is not. The code is not spent, now or later.
    @Test func anotherIssuerWithOurStateEndsTheFlow() async throws {
        let (trial, task, redirect) = try await Self.waiting([.advertisesIssuer])
        let other = try Self.changed(redirect, "127.0.0.1", "127.0.0.2")
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: other) } == .issuerMismatch)
        #expect(trial.storage.flows.isEmpty)
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: redirect) } == .noPendingFlow)
        #expect(trial.provider.count("/token") == 0)
        task.cancel()
        _ = try? await task.value
    }

    /// AppAuth-iOS#48/PR#54, Auth0.swift PR#259, golang/oauth2#449
    @Test func plusAndSpaceAreToldApart() async throws {
        let trial = try Trial(isLocal: true)
        let options = XidSignInOptions(loginHint: "a+b c@example.com", additionalParameters: ["x+y": "1 + 1 = 2&3"])
        try await trial.xid.signIn(options: options)
        let url = try #require(trial.browser.urls.first).absoluteString
        #expect(url.contains("login_hint=a%2Bb%20c%40example.com"))
        #expect(url.contains("x%2By=1%20%2B%201%20%3D%202%263"))
        #expect(url.contains("scope=openid%20email"))
        #expect(!url.contains("+"))
    }
}
