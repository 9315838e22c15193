import Foundation
import JOSE
import Testing

@testable import Xid

/// Against nanoidp, with a real browser for its page.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NanoIDP.isInstalled, "nanoidp is not there; Tests/tools.sh installs it"))
struct NanoIDPTests {
    @Test func aPersonSignsInAndOutAndThievesAreRefused() async throws {
        try await NanoIDP.run { issuer in
            try await Chromium.run { chromium in
                let xid = try XidProcess(issuer: issuer, clientID: NanoIDP.clientID)
                let login = try xid.start(
                    "login", "--no-browser", "--scope", "openid", "--scope", "email", "--post-logout-redirect-uri",
                    "http://127.0.0.1/bye")
                let address = try login.address()
                let callback = "http://127.0.0.1:\(address.port ?? 0)/callback"
                let signedIn = try RealProvider.walk(login, chromium, to: callback, NanoIDP.signIn)
                try #require(signedIn.status == 0, "\(signedIn.errors)")
                #expect(signedIn.output == "Signed in as ana\n")
                let record = try RealProvider.record(xid)
                #expect(try RealProvider.part(0, of: record["id_token"]?.string)["alg"] == "RS256")
                #expect(record["claims"]?["at_hash"] != nil, "its hash of the access token has been compared")
                let session = try xid.run("session", "--json").json
                #expect(session["token_type"] == "Bearer" && session["subject"] == "ana")
                #expect(try xid.run("token", "--refresh").status == 4, "no DPoP, no renewal")

                let configuration = XidConfiguration(
                    issuer: try #require(URL(string: issuer)), clientId: NanoIDP.clientID,
                    redirectUri: try #require(URL(string: "http://127.0.0.1/callback")), scopes: ["openid", "email"])
                let storage = try FileTokenStorage(folder: xid.folder.appending(path: ".local/state/xid").path())
                let app = RealProvider.app(configuration, chromium, [], storage: storage)
                #expect(try await app.getUserInfo().string("email") == "ana@example.com")

                let logout = try xid.start("logout", "--end-session", "--no-browser")
                let bye = "http://127.0.0.1:\(try logout.address().port ?? 0)/bye"
                let signedOut = try RealProvider.walk(logout, chromium, to: bye, [])
                #expect(signedOut.status == 0 && signedOut.output == "Signed out\n", "\(signedOut.errors)")
                #expect(try xid.kept().isEmpty)

                try await RealProvider.refusesThieves(configuration, chromium, NanoIDP.signIn)
            }
        }
    }
}
