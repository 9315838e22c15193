import Foundation
import JOSE
import Testing

@testable import Xid

/// Renewal with rotation, and that nothing is lost by it or asked twice.
@Suite struct RefreshTests {
    static func signedIn(_ mutations: [Mutation] = [], isLocal: Bool = true) async throws -> (Trial, XidSession) {
        let trial = try Trial(
            dpop: .required, isLocal: isLocal, scopes: ["openid", "offline_access"], mutations: mutations)
        return (trial, try await trial.xid.signIn())
    }

    /// A renewal whose answer the provider holds back until the gate opens.
    private static func heldRenewal(_ trial: Trial) async -> (Gate, Task<String, any Error>) {
        let gate = Gate()
        trial.provider.locked { trial.provider.beforeTokenAnswer = { gate.pass() } }
        let renewal = Task { try await trial.xid.getAccessToken(forceRefresh: true) }
        await gate.reached()
        return (gate, renewal)
    }

    static func stored(_ trial: Trial) throws -> JSON {
        let text = try #require(trial.storage.sessions.first)
        return try #require(JSON(stored: text))
    }

    @Test func anExpiredTokenIsRenewedAndTheRefreshTokenRotates() async throws {
        let (trial, former) = try await Self.signedIn()
        let refreshToken = try Self.stored(trial)["refresh_token"]?.string
        #expect(try await trial.xid.getAccessToken() == former.accessToken)
        trial.clock.advance(300)
        let token = try await trial.xid.getAccessToken()
        #expect(token != former.accessToken)
        let stored = try Self.stored(trial)
        #expect(stored["access_token"]?.string == token)
        #expect(stored["refresh_token"]?.string != refreshToken)
        trial.clock.advance(300)
        #expect(try await trial.restarted().xid.getSession()?.accessToken != token)
    }

    @Test func whatTheProviderLeavesOutStays() async throws {
        let (trial, former) = try await Self.signedIn([
            .onRenewal(.tokenResponse("refresh_token", nil)), .onRenewal(.tokenResponse("id_token", nil)),
            .onRenewal(.tokenResponse("scope", nil)),
        ])
        let before = try Self.stored(trial)
        _ = try await trial.xid.getAccessToken(forceRefresh: true)
        let after = try Self.stored(trial)
        for name in ["refresh_token", "id_token", "scope", "claims", "dpop_key", "nonce"] {
            #expect(before[name] == after[name] && after[name] != nil, "\(name)")
        }
        #expect(after["access_token"]?.string != former.accessToken)
    }

    /// Auth0.swift#429 #763/PR#548 PR#1048, supabase-swift#486: two at once burn a rotating token.
    @Test func manyCallersCauseOneRequest() async throws {
        let (trial, _) = try await Self.signedIn(isLocal: false)
        defer { trial.site?.stop() }
        let gate = Gate()
        trial.provider.locked { trial.provider.beforeTokenAnswer = { gate.pass() } }
        let before = trial.provider.count("/token")
        let tasks = (0..<20).map { number in
            Task { try await trial.xid.getAccessToken(forceRefresh: number.isMultiple(of: 2)) }
        }
        trial.clock.advance(300)
        await gate.reached()
        try await Task.sleep(for: .milliseconds(50))
        gate.open(20)
        var tokens: Set<String> = []
        for task in tasks { tokens.insert(try await task.value) }
        // Those that came before the clock moved had the old one; all others share the new one.
        #expect(trial.provider.count("/token") == before + 1)
        #expect(tokens.count <= 2)
        #expect(!trial.provider.locked { trial.provider.isFamilyRevoked })
    }

    @Test func aFailureIsSharedOnceAndTheNextCallTriesAgain() async throws {
        let (trial, former) = try await Self.signedIn(isLocal: false)
        defer { trial.site?.stop() }
        trial.clock.advance(300)
        trial.provider.set([.answer("/token", status: 503, body: "")])
        let gate = Gate()
        trial.provider.locked { trial.provider.beforeTokenAnswer = { gate.pass() } }
        let tasks = (0..<10).map { _ in Task { try await trial.xid.getAccessToken() } }
        await gate.reached()
        try await Task.sleep(for: .milliseconds(50))
        gate.open(10)
        for task in tasks { #expect(await Trial.code { _ = try await task.value } == .httpStatus) }
        #expect(trial.provider.count("/token") == 2)
        trial.provider.locked { trial.provider.beforeTokenAnswer = nil }
        trial.provider.set([])
        #expect(try await trial.xid.getAccessToken() != former.accessToken)
    }

    /// forgerock-ios-sdk PR#362, OAuthenticator#58, amplify-authenticator#103: being offline ended the login.
    @Test(arguments: [
        (503, "", XidError.Code.httpStatus), (500, #"{"error":"server_error"}"#, .tokenRefused),
        (200, "", .tokenResponseInvalid),
        (429, #"{"error":"slow_down"}"#, .tokenRefused), (400, #"{"error":"invalid_request"}"#, .tokenRefused),
        (401, #"{"error":"invalid_client"}"#, .tokenRefused), (302, "", .httpStatus),
        (400, #"{"error":"use_dpop_nonce"}"#, .dpopRefused),
    ])
    func onlyInvalidGrantEndsTheSession(status: Int, body: String, expected: XidError.Code) async throws {
        let (trial, _) = try await Self.signedIn()
        trial.clock.advance(300)
        trial.provider.set([.answer("/token", status: status, body: body)])
        #expect(await Trial.code { _ = try await trial.xid.getAccessToken() } == expected)
        #expect(await Trial.code { _ = try await trial.xid.getSession() } == expected)
        #expect(trial.storage.sessions.count == 1)
        trial.provider.set([])
        #expect(try await trial.xid.getSession() != nil)
        #expect(trial.browser.urls.count == 1)
    }

    @Test func beingOfflineKeepsTheSession() async throws {
        let (trial, _) = try await Self.signedIn(isLocal: false)
        trial.site?.stop()
        trial.clock.advance(300)
        #expect(await Trial.code { _ = try await trial.xid.getAccessToken() } == .network)
        #expect(trial.storage.sessions.count == 1)
    }

    /// Auth0.swift#490: killed in the middle of a renewal, the app has a token that is spent.
    @Test func aSpentRefreshTokenMeansToSignInAgain() async throws {
        let (trial, _) = try await Self.signedIn()
        let killed = trial.storage.values
        _ = try await trial.xid.getAccessToken(forceRefresh: true)
        trial.storage.put(killed)
        let later = trial.restarted()
        trial.clock.advance(300)
        #expect(await Trial.code { _ = try await later.xid.getAccessToken() } == .reauthorizationRequired)
        #expect(try await later.xid.getSession() == nil)
        #expect(trial.storage.sessions.isEmpty)
        try await later.xid.signIn()
    }

    /// supabase-swift#703: the loser of two processes deleted the winner's session.
    @Test func theLoserOfTwoProcessesTakesTheWinnersSession() async throws {
        let (winner, _) = try await Self.signedIn(isLocal: false)
        defer { winner.site?.stop() }
        let loser = winner.restarted()
        let gate = Gate()
        winner.provider.locked { winner.provider.beforeTokenAnswer = { gate.pass() } }
        let late = Task { try await loser.xid.getAccessToken(forceRefresh: true) }
        await gate.reached()
        winner.provider.locked { winner.provider.beforeTokenAnswer = nil }
        let token = try await winner.xid.getAccessToken(forceRefresh: true)
        gate.open()
        #expect(try await late.value == token)
        #expect(try await winner.xid.getAccessToken() == token)
    }

    /// An ID token takes time to verify, so with one there are two moments to look.
    @Test(arguments: [true, false]) func signingOutDuringARenewalKeepsNothing(hasIDToken: Bool) async throws {
        let (trial, _) = try await Self.signedIn(
            hasIDToken ? [] : [.onRenewal(.tokenResponse("id_token", nil))], isLocal: false)
        defer { trial.site?.stop() }
        let (gate, renewal) = await Self.heldRenewal(trial)
        try await trial.xid.signOut()
        gate.open()
        #expect(await Trial.code { _ = try await renewal.value } == .noSession)
        #expect(trial.storage.values.isEmpty)
        // The old tokens, and those that came late.
        #expect(trial.provider.count("/revoke") == 4)
    }

    /// The renewal of the former session came late and took the place of the new one, or, refused, erased it.
    @Test(arguments: [false, true], [false, true])
    func aSignInDuringARenewalStays(isRefused: Bool, isTaken: Bool) async throws {
        let (trial, _) = try await Self.signedIn(isLocal: false)
        defer { trial.site?.stop() }
        let (gate, renewal) = await Self.heldRenewal(trial)
        trial.provider.locked { trial.provider.beforeTokenAnswer = nil }
        trial.provider.set([.setClaim("sub", "person-2")])
        trial.browser.play(.wait)
        let signIn = Task { try await trial.xid.signIn() }
        let redirect = try trial.browser.redirect(from: try await trial.browser.opened(2))
        // A session that the storage does not take is one all the same.
        if !isTaken { trial.storage.failAll([.save]) }
        let refusal = await Trial.code { _ = try await trial.xid.handleRedirect(url: redirect) }
        #expect(refusal == (isTaken ? nil : .storageFailed))
        _ = await signIn.result
        trial.storage.failAll([])
        let session = try #require(try await trial.xid.getSession())
        #expect(session.subject == "person-2")
        // Who asks now asks for the new session, and does not wait for the other's.
        trial.provider.set([.setClaim("sub", "person-2")])
        let before = trial.provider.count("/token")
        let other = Task { try await trial.xid.getAccessToken(forceRefresh: true) }
        for _ in 0..<4000 where trial.provider.count("/token") == before { try await Task.sleep(for: .milliseconds(5)) }
        try #require(trial.provider.count("/token") == before + 1, "it waits for the other's renewal")
        let token = try await other.value
        #expect(token != session.accessToken)

        trial.provider.set(isRefused ? [.answer("/token", status: 400, body: #"{"error":"invalid_grant"}"#)] : [])
        gate.open()
        #expect(try await renewal.value == token)
        #expect(try await trial.xid.getSession()?.subject == "person-2")
        #expect(try Self.stored(trial)["access_token"]?.string == token)
        // Nothing was revoked: a provider may count both sessions as one grant.
        #expect(trial.provider.count("/revoke") == 0)
    }

    /// The session came back, with tokens that work.
    @Test(arguments: [false, true])
    func signingOutInAnotherProcessDuringARenewalKeepsNothing(isRefused: Bool) async throws {
        let (trial, _) = try await Self.signedIn(isLocal: false)
        defer { trial.site?.stop() }
        let (gate, renewal) = await Self.heldRenewal(trial)
        try await trial.restarted().xid.signOut()
        if isRefused { trial.provider.set([.answer("/token", status: 400, body: #"{"error":"invalid_grant"}"#)]) }
        gate.open()
        #expect(await Trial.code { _ = try await renewal.value } == .noSession)
        #expect(trial.storage.values.isEmpty)
        #expect(try await trial.xid.getSession() == nil)
        // The old tokens, and those that came late.
        #expect(trial.provider.count("/revoke") == (isRefused ? 2 : 4))
    }

    /// The answer spends the former refresh token. When the keys could not be fetched then, the new one was lost with the session.
    @Test(arguments: [503, 200])
    func aRenewalWhoseIDTokenCannotBeVerifiedNowLosesNothing(status: Int) async throws {
        let (trial, former) = try await Self.signedIn()
        trial.clock.advance(1000)
        trial.provider.set([.answer("/keys", status: status, body: #"{"keys":{}}"#)])
        let expected: XidError.Code = status == 200 ? .keysInvalid : .httpStatus
        #expect(await Trial.code { _ = try await trial.xid.getAccessToken() } == expected)
        // Nothing of that answer is believed.
        #expect(try Self.stored(trial)["access_token"]?.string == former.accessToken)
        trial.provider.set([])
        let later = trial.restarted()
        #expect(try await later.xid.getAccessToken() != former.accessToken)
        #expect(!trial.provider.locked { trial.provider.isFamilyRevoked })
    }

    /// The clock is put right, as the error says to; the session was lost with the new refresh token all the same.
    @Test(arguments: [(Int64(-300), XidError.Code.idTokenNotYetValid), (900, .idTokenExpired)])
    func aRenewalByAWrongClockLosesNothing(seconds: Int64, expected: XidError.Code) async throws {
        let (trial, former) = try await Self.signedIn([
            .onRenewal(.setTime("iat", -seconds)), .onRenewal(.setTime("exp", 300 - seconds)),
        ])
        trial.clock.advance(1000)
        #expect(await Trial.code { _ = try await trial.xid.getAccessToken() } == expected)
        #expect(try Self.stored(trial)["access_token"]?.string == former.accessToken)
        trial.provider.set([])
        #expect(try await trial.restarted().xid.getAccessToken() != former.accessToken)
        #expect(!trial.provider.locked { trial.provider.isFamilyRevoked })
    }

    /// The refresh token of an answer about somebody else is not kept: a later answer might name nobody.
    @Test func aRenewalForSomebodyElseLeavesNoToken() async throws {
        let (trial, _) = try await Self.signedIn([.onRenewal(.appendOne("sub"))])
        let before = try Self.stored(trial)
        trial.clock.advance(1000)
        #expect(await Trial.code { _ = try await trial.xid.getAccessToken() } == .idTokenSubject)
        #expect(try Self.stored(trial) == before)
    }

    /// An app that is ended while it waits for the keys must not have spent its refresh token.
    @Test func theKeysAreAskedForBeforeTheRefreshTokenIsSpent() async throws {
        let (trial, _) = try await Self.signedIn()
        trial.clock.advance(1000)
        let later = trial.restarted()
        let before = trial.provider.paths.count
        _ = try await later.xid.getAccessToken()
        let asked = trial.provider.paths.dropFirst(before)
        #expect(Array(asked) == ["/.well-known/openid-configuration", "/keys", "/token"])
    }

    /// There were two clients of one session then, and each spent its refresh token, which the provider takes for a theft.
    @Test func configuringTheSameAgainLeavesARenewalAlone() async throws {
        let (trial, _) = try await Self.signedIn(isLocal: false)
        defer { trial.site?.stop() }
        let (gate, first) = await Self.heldRenewal(trial)
        trial.xid.configure(options: trial.configuration)
        let second = Task { try await trial.xid.getAccessToken(forceRefresh: true) }
        // Time enough to join the first, or to ask the provider a second time.
        try await Task.sleep(for: .milliseconds(500))
        gate.open(2)
        let token = try await first.value
        #expect(try await second.value == token)
        #expect(!trial.provider.locked { trial.provider.isFamilyRevoked })
        #expect(try await trial.xid.getAccessToken() == token)
    }

    @Test func cancellingASignInDoesNotVoidARenewal() async throws {
        let (trial, _) = try await Self.signedIn(isLocal: false)
        defer { trial.site?.stop() }
        trial.browser.play(.wait)
        let task = Task { try await trial.xid.signIn() }
        let redirect = try trial.browser.redirect(from: try await trial.browser.opened(2))
        let gate = Gate()
        trial.provider.locked { trial.provider.beforeTokenAnswer = { gate.pass() } }
        let exchange = Task { try await trial.xid.handleRedirect(url: redirect) }
        await gate.reached()
        let renewal = Task { try await trial.xid.getAccessToken(forceRefresh: true) }
        await gate.reached()
        try await trial.xid.cancelSignIn()
        gate.open(2)
        #expect(await Trial.code { _ = try await exchange.value } == .cancelled)
        #expect(await Trial.code { _ = try await task.value } == .cancelled)
        let token = try await renewal.value
        #expect(try await trial.xid.getAccessToken() == token)
        #expect(try Self.stored(trial)["access_token"]?.string == token)
    }

    /// okta-mobile-kotlin#252, angular-auth-oidc-client#1642, AppAuth-iOS#333 #733
    @Test(arguments: [
        (Mutation.onRenewal(.removeClaim("nonce")), XidError.Code?.none),
        (.onRenewal(.setClaim("nonce", "ANOTHER")), .idTokenNonce),
        (.onRenewal(.setClaim("nonce", .null)), .idTokenNonce),
        (.onRenewal(.setClaim("auth_time", .integer(2))), .idTokenAuthTime),
        (.onRenewal(.setClaim("auth_time", .integer(1))), nil),
    ])
    func aRenewedIDTokenMayLackTheNonceButNotChangeIt(mutation: Mutation, expected: XidError.Code?) async throws {
        let (trial, _) = try await Self.signedIn([.setClaim("auth_time", .integer(1))])
        trial.provider.set([mutation])
        #expect(await Trial.code { _ = try await trial.xid.getAccessToken(forceRefresh: true) } == expected)
    }

    @Test func theNonceOfTheSignInIsFineInARenewal() async throws {
        let (trial, _) = try await Self.signedIn()
        let nonce = try #require(try Self.stored(trial)["nonce"])
        trial.provider.set([.onRenewal(.setClaim("nonce", nonce))])
        _ = try await trial.xid.getAccessToken(forceRefresh: true)
    }

    @Test func withoutRenewalExpiryMeansToSignInAgain() async throws {
        let trial = try Trial(isLocal: true)
        let session = try await trial.xid.signIn()
        #expect(
            await Trial.code { _ = try await trial.xid.getAccessToken(forceRefresh: true) } == .reauthorizationRequired)
        trial.clock.advance(299)
        #expect(try await trial.xid.getAccessToken() == session.accessToken)
        trial.clock.advance(1)
        #expect(try await trial.xid.getSession() == nil)
        #expect(trial.storage.values.isEmpty)
        #expect(await Trial.code { _ = try await trial.xid.getAccessToken() } == .noSession)
        #expect(trial.provider.count("/token") == 1)
    }

    /// Auth0.swift#94 #462
    @Test func withoutExpiresInNothingExpires() async throws {
        let trial = try Trial(isLocal: true, mutations: [.tokenResponse("expires_in", nil)])
        let session = try await trial.xid.signIn()
        #expect(session.expiresAt == nil)
        trial.clock.advance(100_000)
        #expect(try await trial.xid.getSession() == session)
        #expect(try await trial.xid.getAccessToken() == session.accessToken)
    }

    @Test(arguments: [
        ["openid", "offline_access"], ["OFFLINE_ACCESS"], ["openid offline_access"], ["a\toffline_Access"],
    ])
    func offlineAccessNeedsDPoP(scopes: [String]) async throws {
        let trial = try Trial(isLocal: true, scopes: scopes)
        #expect(await Trial.code { try await trial.xid.signIn() } == .offlineAccessNeedsDPoP)
        #expect(trial.provider.paths.isEmpty && trial.storage.values.isEmpty)
        #expect(try Client(Trial(dpop: .required, isLocal: true, scopes: scopes).configuration).isBound)
    }

    @Test(arguments: [
        "scope", "SCOPE", "state", "code_challenge_method", "request", "redirect_uri", "client_secret", "",
    ])
    func noExtraParameterUndoesTheProtocol(name: String) async throws {
        let trial = try Trial(isLocal: true)
        let options = XidSignInOptions(additionalParameters: [name: "openid offline_access"])
        #expect(await Trial.code { try await trial.xid.signIn(options: options) } == .configurationInvalid)
        #expect(trial.provider.paths.isEmpty && trial.storage.values.isEmpty)
    }

    @Test func aRefreshTokenThatComesUnaskedIsDropped() async throws {
        let trial = try Trial(isLocal: true, mutations: [.tokenResponse("refresh_token", "any")])
        try await trial.xid.signIn()
        #expect(!trial.provider.locked { trial.provider.refreshTokens.isEmpty })
        #expect(trial.storage.everSaved.allSatisfy { !$0.contains("refresh") })
    }
}
