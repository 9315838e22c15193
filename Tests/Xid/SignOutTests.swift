import Foundation
import JOSE
import Testing

@testable import Xid

@Suite struct SignOutTests {
    static func fields(_ url: URL?) -> [String: String] {
        let items = url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: false)?.queryItems } ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
    }

    /// AppAuth-iOS#655, AppAuth-Android#947: another token was passed as the hint. Contradiction B of the specification.
    @Test func theProviderIsToldWhoSignsOut() async throws {
        let trial = try Trial(dpop: .required, isLocal: true, scopes: ["openid", "offline_access"]) {
            $0.postLogoutRedirectUri = URL(string: "com.example.app://auth/out")
        }
        let session = try await trial.xid.signIn()
        try await trial.xid.signOut(callEndSession: true)
        let fields = Self.fields(trial.browser.urls.last)
        #expect(fields["id_token_hint"] == session.idToken)
        #expect(fields["client_id"] == "client")
        #expect(fields["post_logout_redirect_uri"] == "com.example.app://auth/out")
        #expect(fields["state"].map { $0.count >= 43 } == true)
        #expect(fields.count == 4)
    }

    /// AppAuth-iOS#665
    @Test func withoutASessionOnlyTheClientIsNamed() async throws {
        let trial = try Trial(isLocal: true)
        try await trial.xid.signOut(callEndSession: true)
        #expect(Self.fields(trial.browser.urls.last) == ["client_id": "client"])
    }

    @Test func closingTheWindowIsSuccess() async throws {
        let trial = try Trial(isLocal: true)
        try await trial.xid.signIn()
        trial.browser.play(.close)
        try await trial.xid.signOut(callEndSession: true)
        #expect(trial.storage.values.isEmpty)
    }

    @Test func aBrowserThatDoesNotOpenIsAnErrorAfterTheSessionIsErased() async throws {
        let trial = try Trial(isLocal: true)
        try await trial.xid.signIn()
        trial.browser.play(.cannotStart)
        #expect(await Trial.code { try await trial.xid.signOut(callEndSession: true) } == .cannotStartBrowser)
        #expect(trial.storage.values.isEmpty)
    }

    @Test func aProviderWithoutEndSessionIsNamedAfterTheSessionIsErased() async throws {
        let trial = try Trial(isLocal: true, mutations: [.discovery("end_session_endpoint", nil)])
        try await trial.xid.signIn()
        #expect(await Trial.code { try await trial.xid.signOut(callEndSession: true) } == .endSessionUnsupported)
        #expect(trial.storage.values.isEmpty)
    }

    @Test func theTokensAreRevoked() async throws {
        let trial = try Trial(dpop: .required, isLocal: true, scopes: ["openid", "offline_access"])
        let session = try await trial.xid.signIn()
        let refreshToken = try RefreshTests.stored(trial)["refresh_token"]?.string
        try await trial.xid.signOut()
        let forms = trial.provider.requests("/revoke").map(\.form)
        #expect(forms.map { $0["token_type_hint"] } == ["refresh_token", "access_token"])
        #expect(forms.map { $0["token"] } == [refreshToken, session.accessToken])
        #expect(forms.allSatisfy { $0["client_id"] == "client" })
        #expect(trial.browser.urls.count == 1)
    }

    @Test func aProviderThatIsAwayKeepsNobodySignedIn() async throws {
        let trial = try Trial()
        try await trial.xid.signIn()
        trial.site?.stop()
        try await trial.xid.signOut()
        #expect(trial.storage.values.isEmpty)
        #expect(try await trial.xid.getSession() == nil)
    }
}
