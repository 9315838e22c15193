import Foundation
import Testing
import Xid

/// What an app's own tests make of a session: only the public interface is imported here.
@Suite struct SessionTests {
    private func session(_ claims: String) throws -> XidSession {
        try XidSession(
            subject: "ana", issuer: #require(URL(string: "https://xid.dev")), accessToken: "token-of-a-test",
            claimsJSON: claims)
    }

    @Test func anAppCanMakeASessionForItsTests() throws {
        let session = try session(#"{"name":"Ana Ruiz","email":"ana@example.com","email_verified":true}"#)
        #expect(session.name == "Ana Ruiz" && session.email == "ana@example.com" && session.emailVerified)
        #expect(session.tokenType == "Bearer" && session.expiresAt == nil && session.scopes == ["openid"])
        #expect(!"\(session)\(String(reflecting: session))".contains("token-of-a-test"))
    }

    @Test(arguments: ["", "[]", "{", #"{"name":"a","name":"b"}"#])
    func claimsThatAreNoneAreRefused(claims: String) {
        #expect(throws: XidError(.idTokenMalformed)) { try session(claims) }
    }
}
