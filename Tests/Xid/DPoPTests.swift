import Foundation
import JOSE
import OpenSSLCrypto
import Testing

@testable import Xid

/// RFC 9449. That proofs are right is the provider's to say: it verifies each of them.
@Suite struct DPoPTests {
    @Test func aBoundSessionWorksFromTheSignInToTheUserInfo() async throws {
        let (trial, session) = try await RefreshTests.signedIn(isLocal: false)
        defer { trial.site?.stop() }
        #expect(session.tokenType == "DPoP")
        _ = try await trial.xid.getUserInfo()
        _ = try await trial.xid.getAccessToken(forceRefresh: true)
        _ = try await trial.restarted().xid.getUserInfo()
        let proofs = trial.provider.locked { trial.provider.log }.compactMap { $0.headers["dpop"] }
        #expect(proofs.count == 4)
        #expect(Set(proofs.map { $0.prefix { $0 != "." } }).count == 1, "one key for the whole session")
        #expect(trial.browser.urls.first?.absoluteString.contains("dpop_jkt=") == true)
    }

    @Test func theProofShowsThePublicKeyOnly() async throws {
        let (trial, _) = try await RefreshTests.signedIn()
        let proof = try #require(trial.provider.requests("/token").first?.headers["dpop"])
        let header = try #require(Base64URL.decode(String(proof.prefix { $0 != "." })))
        let jwk = try #require(try JSON(parsing: header, limits: .init(bytes: 4096))["jwk"]?.object)
        #expect(jwk.members.map(\.name).sorted() == ["crv", "kty", "x", "y"])
    }

    /// -happy-path (a nonce is required), and that one nonce serves all requests to an origin.
    @Test func aDemandedNonceIsUsedInOneRetryAndFromThenOn() async throws {
        let (trial, _) = try await RefreshTests.signedIn([.dpopNonce("nonce-1")])
        #expect(trial.provider.count("/token") == 2)
        _ = try await trial.xid.getUserInfo()
        #expect(trial.provider.count("/userinfo") == 1)
        _ = try await trial.xid.getAccessToken(forceRefresh: true)
        #expect(trial.provider.count("/token") == 3)
        trial.provider.set([.dpopNonce("nonce-2")])
        _ = try await trial.xid.getUserInfo()
        #expect(trial.provider.count("/userinfo") == 3)
    }

    @Test func aNonceThatIsNotAnotherIsNoReasonToRetry() async throws {
        let trial = try Trial(dpop: .required, isLocal: true, mutations: [.dpopNonceForEver])
        #expect(await Trial.code { try await trial.xid.signIn() } == .dpopRefused)
        // Once without nonce, once with the one that was offered.
        #expect(trial.provider.count("/token") == 2)
        #expect(await Trial.code { try await trial.xid.signIn() } == .dpopRefused)
        #expect(trial.provider.count("/token") == 3)
    }

    @Test func noncesBelongToTheirOrigin() {
        let one = Endpoint("https://a.example/token", allowingPlain: false)
        #expect(one?.origin == Endpoint("https://A.example:443/other?x", allowingPlain: false)?.origin)
        #expect(one?.origin != Endpoint("https://a.example:444/token", allowingPlain: false)?.origin)
        #expect(one?.origin != Endpoint("https://b.example/token", allowingPlain: false)?.origin)
    }

    @Test func aBearerTokenIsNotTakenForABoundOne() async throws {
        let trial = try Trial(dpop: .required, isLocal: true)
        trial.provider.locked { trial.provider.supportsDPoP = false }
        #expect(await Trial.code { try await trial.xid.signIn() } == .tokenTypeMismatch)
        #expect(trial.storage.values.isEmpty)
        let other = try Trial(isLocal: true, mutations: [.tokenResponse("token_type", "DPoP")])
        #expect(await Trial.code { try await other.xid.signIn() } == .tokenTypeMismatch)
    }

    @Test func theHeadersOfAServiceRequestCarryAProofForIt() async throws {
        let (trial, session) = try await RefreshTests.signedIn()
        let url = try #require(URL(string: "\(trial.provider.issuer)/userinfo?a=b#c"))
        let headers = try await trial.xid.authorizationHeaders(method: "GET", url: url, nonce: "n")
        #expect(headers["Authorization"] == "DPoP \(session.accessToken)")
        let request = OpenIDProvider.Request(
            method: "GET", target: "/userinfo", headers: ["dpop": try #require(headers["DPoP"])])
        trial.provider.set([.dpopNonce("n")])
        guard case .good = trial.provider.proof(request, accessToken: session.accessToken) else {
            Issue.record("the proof does not verify")
            return
        }
        let bearer = try Trial(isLocal: true)
        try await bearer.xid.signIn()
        #expect(try await bearer.xid.authorizationHeaders(method: "GET", url: url).keys.sorted() == ["Authorization"])
    }

    /// Whoever copies the address of a service without a slash behind the host sends one all the same.
    @Test(arguments: [
        ("https://api.example.com", "https://api.example.com/"),
        ("https://api.example.com?a=/b/c", "https://api.example.com/"),
        ("https://api.example.com/", "https://api.example.com/"),
        ("https://api.example.com/me", "https://api.example.com/me"),
    ])
    func theProofNamesThePathThatTheRequestHas(address: String, target: String) async throws {
        let (trial, _) = try await RefreshTests.signedIn()
        let url = try #require(URL(string: address))
        let headers = try await trial.xid.authorizationHeaders(method: "GET", url: url)
        let part = try #require(headers["DPoP"]?.split(separator: ".")[1])
        let payload = try #require(Base64URL.decode(String(part)))
        #expect(JSON(object: payload)?["htu"]?.string == target)
    }

    /// RFC 9449 §7.1: `ath` of the example token. RFC 9449 §6.1: `jkt` of the example key.
    @Test func theExamplesOfTheRFCHold() throws {
        let cryptography = OpenSSLCryptography()
        let token = SecretText("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")
        #expect(DPoPProof.hash(of: token, using: cryptography) == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
        let jwk: JSON = [
            "kty": "EC", "crv": "P-256", "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
            "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
        ]
        #expect(try JWK(jwk).key.thumbprint(using: cryptography) == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }
}
