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

    /// A browser leaves the scheme's own port out, and what came back was never the configured address.
    @Test(arguments: [
        ("https://app.example.com:443/cb", false), ("HTTPS://app.example.com:443", false),
        ("http://127.0.0.1:80/cb", false), ("http://[::1]:80/cb", false), ("https://app.example.com:8443/cb", true),
        ("https://app.example.com/cb:443", true), ("https://app.example.com:80/cb", true),
        ("http://127.0.0.1:443/cb", true), ("http://[::80]/cb", false), ("http://[::1]/cb", true),
        ("com.example.app://auth:443", true),
    ])
    func aRedirectURIDoesNotNameThePortThatBrowsersLeaveOut(uri: String, isGood: Bool) throws {
        let url = try #require(URL(string: uri))
        for member in [\XidConfiguration.redirectUri, \.postLogoutRedirectUri!] {
            let configuration = try Self.configuration {
                $0.postLogoutRedirectUri = $0.redirectUri
                $0[keyPath: member] = url
            }
            do throws(XidError) {
                _ = try Client(configuration)
                #expect(isGood)
            } catch {
                #expect(!isGood && error.code == .configurationInvalid)
            }
        }
    }
}
