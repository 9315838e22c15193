import CurlHTTP
import Foundation
import JOSE
import TestSupport
import Testing

@testable import Xid

/// Against Debian's glewlwyd, with a real browser for its pages.
@Suite(.serialized, .timeLimit(.minutes(5))) struct GlewlwydTests {
    private static func configuration(_ server: Glewlwyd, dpop: XidConfiguration.DPoP) throws -> XidConfiguration {
        XidConfiguration(
            issuer: try #require(URL(string: server.issuer)), clientId: Glewlwyd.clientID,
            redirectUri: try #require(URL(string: server.callback)),
            scopes: dpop == .off ? ["openid"] : ["openid", "offline_access"], dpop: dpop)
    }

    @Test func aPersonSignsInReadsRenewsAndSignsOut() async throws {
        try await Glewlwyd.run { server in
            try await Chromium.run { chromium in
                let xid = try XidProcess(issuer: server.issuer, clientID: Glewlwyd.clientID)
                let login = try xid.start(
                    "login", "--no-browser", "--dpop", "--scope", "openid", "--scope", "offline_access",
                    "--redirect-uri", server.callback, "--post-logout-redirect-uri", server.bye)
                let signedIn = try RealProvider.walk(login, chromium, to: server.callback, Glewlwyd.signIn)
                try #require(signedIn.status == 0, "\(signedIn.errors)")
                #expect(signedIn.output == "Signed in as Ana Ruiz <ana@example.com>\n")

                let record = try RealProvider.record(xid)
                #expect(try RealProvider.part(0, of: record["id_token"]?.string)["alg"] == "ES256")
                let session = try xid.run("session", "--json").json
                #expect(session["issuer"]?.string == server.issuer && session["token_type"] == "DPoP")
                #expect(session["subject"] == record["sub"] && session["email"] == "ana@example.com")

                let token = try xid.run("token").output
                let renewed = try xid.run("token", "--refresh")
                #expect(renewed.status == 0 && renewed.output != token, "\(renewed.errors)")
                let after = try RealProvider.record(xid)
                #expect(after["refresh_token"] != record["refresh_token"], "rotated")
                let thumbprint = try RealProvider.part(1, of: String(renewed.output.dropLast()))["cnf"]?["jkt"]?.string
                let key = try SigningKey(try #require(after["dpop_key"]), using: OpenIDProvider.cryptography)
                #expect(thumbprint == key.privateKey.publicKey.thumbprint(using: OpenIDProvider.cryptography))

                // An app that shares the storage: the provider's own word, for which a proof with its nonce is needed.
                let storage = try FileTokenStorage(folder: xid.folder.appending(path: ".local/state/xid").path())
                let app = RealProvider.app(
                    try Self.configuration(server, dpop: .required), chromium, [], storage: storage)
                #expect(try await app.getUserInfo().string("sub") == record["sub"]?.string)
                let stolen = try xid.run("token").output.dropLast()
                let request = HTTPRequest(
                    .get, try HTTPURL("\(server.issuer)/userinfo", allowing: .loopback),
                    headers: [.init("authorization", "Bearer \(stolen)")])
                #expect(try HTTPClient(userAgent: "tests").send(request).status == 401, "without proof it is of no use")

                let logout = try xid.start("logout", "--end-session", "--no-browser")
                let signedOut = try RealProvider.walk(logout, chromium, to: server.bye, Glewlwyd.signOut)
                #expect(signedOut.status == 0 && signedOut.output == "Signed out\n", "\(signedOut.errors)")
                #expect(try xid.kept().isEmpty)

                // The person's session at the provider is over as well: it asks for the password again.
                let again = try xid.start("login", "--no-browser")
                try chromium.go(to: try again.address())
                _ = try Chromium.wait { chromium.sees("#loginbut") ? true : nil }
                again.process.kill(SIGINT)
                #expect(try again.end().status == 130)
            }
        }
    }

    @Test func aReplayedCodeAndAWrongVerifierAreRefused() async throws {
        try await Glewlwyd.run { server in
            try await Chromium.run { chromium in
                try await RealProvider.refusesThieves(
                    try Self.configuration(server, dpop: .off), chromium, Glewlwyd.signIn)
            }
        }
    }
}
