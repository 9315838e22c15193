import Foundation
import Testing

@testable import Xid

@Suite struct HappyPathTests {
    @Test func aPersonSignsInAndTheSessionIsKept() async throws {
        let trial = try Trial()
        let session = try await trial.xid.signIn()
        #expect(session.subject == OpenIDProvider.subject)
        #expect(session.email == "ana@canary.example")
        let again = try #require(try await trial.restarted().xid.getSession())
        #expect(again == session)
        #expect(try await trial.xid.getAccessToken() == session.accessToken)
        #expect(try await trial.xid.getUserInfo().string("email") == "ana@canary.example")
        try await trial.xid.signOut()
        #expect(trial.storage.values.isEmpty)
        #expect(try await trial.xid.getSession() == nil)
    }
}
