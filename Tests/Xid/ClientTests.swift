import Foundation
import Testing

@testable import Xid

@Suite struct ClientTests {
    static func configuration(_ change: (inout XidConfiguration) -> Void = { _ in }) throws -> XidConfiguration {
        var configuration = XidConfiguration(
            issuer: try #require(URL(string: "https://xid.dev")), clientId: "client",
            redirectUri: try #require(URL(string: "com.example.app://auth/callback")), scopes: ["openid", "email"])
        change(&configuration)
        return configuration
    }

    /// auth0-oidc-client-net#330
    @Test(arguments: ["https://xid.dev", "https://xid.dev/", "https://xid.dev/tenant", "http://127.0.0.1:8080"])
    func anIssuerStaysAsItWasWritten(issuer: String) throws {
        let url = try #require(URL(string: issuer))
        #expect(try Client(Self.configuration { $0.issuer = url }).issuer == issuer)
    }
}
