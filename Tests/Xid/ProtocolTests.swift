import Foundation
import JOSE
import OpenSSLCrypto
import Testing

@testable import Xid

/// Discovery, the token response, the ID token: what is taken and what is not, one by one.
@Suite struct ProtocolTests {
    static let cryptography = OpenSSLCryptography()

    /// RFC 7636 appendix B
    @Test func theChallengeIsThatOfTheRFC() {
        let verifier = SecretText("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        let challenge = AuthorizationRequest.challenge(for: verifier, using: Self.cryptography)
        #expect(challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    /// RFC 6749 appendix B; that `+` reaches a provider as `%2B`, and a space as `%20`: AppAuth-iOS#48, golang/oauth2#449.
    @Test func aQueryIsWrittenAndReadAsTheRFCHasIt() throws {
        let endpoint = try #require(Endpoint("https://xid.dev/authorize?tenant=1", allowingPlain: false))
        #expect(
            endpoint.adding([(" %&+£€", "a=b==")])
                == "https://xid.dev/authorize?tenant=1&%20%25%26%2B%C2%A3%E2%82%AC=a%3Db%3D%3D")
        let url = try #require(URL(string: "a:/cb?error_description=+%25%26%2B%C2%A3%E2%82%AC&code=b=c"))
        let redirect = try Redirect(url, callback: "a:/cb")
        #expect(redirect.errorDescription == " %&+£€")
        #expect(redirect.code?.text == "b=c", "the first = separates")
    }

    @Test func everySignInIsUnguessableAndItsOwn() async throws {
        let trial = try Trial(isLocal: true)
        for _ in 0..<3 { try await trial.xid.signIn() }
        for name in ["state", "nonce", "code_challenge"] {
            let values = trial.browser.urls.compactMap { url in
                URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.first { $0.name == name }?.value
            }
            #expect(Set(values).count == 3)
            #expect(values.allSatisfy { Base64URL.decode($0)?.count == 32 })
        }
        #expect(trial.browser.urls.allSatisfy { $0.absoluteString.contains("code_challenge_method=S256") })
        let verifiers = trial.provider.requests("/token").compactMap { $0.form["code_verifier"] }
        #expect(trial.browser.urls.allSatisfy { url in verifiers.allSatisfy { !url.absoluteString.contains($0) } })
    }

    @Test func aProviderWithoutS256IsRefused() async throws {
        let trial = try Trial(
            isLocal: true, mutations: [.discovery("code_challenge_methods_supported", .array(["plain"]))])
        #expect(await Trial.code { try await trial.xid.signIn() } == .pkceUnsupported)
        #expect(trial.browser.urls.isEmpty)
    }

    /// AppAuth-Android#919 #891, AppAuth-iOS#355
    @Test(arguments: [
        "userinfo_endpoint", "revocation_endpoint", "end_session_endpoint", "code_challenge_methods_supported",
        "id_token_signing_alg_values_supported",
    ])
    func whatIsOptionalMayBeMissing(name: String) async throws {
        let trial = try Trial(isLocal: true, mutations: [.discovery(name, nil)])
        try await trial.xid.signIn()
        try await trial.xid.signOut()
    }

    @Test(arguments: ["issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"])
    func whatIsNeededMustBeThereAndUsable(name: String) async throws {
        for value in [nil, JSON.null, "", "http://provider.example/x", "file:///etc/passwd", "https://a@b/", "/x"] {
            let trial = try Trial(isLocal: true, mutations: [.discovery(name, value)])
            let code = await Trial.code { try await trial.xid.signIn() }
            #expect(code == (name == "issuer" && value?.string != nil ? .metadataIssuerMismatch : .metadataInvalid))
            #expect(trial.browser.urls.isEmpty && trial.storage.values.isEmpty)
        }
    }

    /// alarik#14, dawarich#2925, go-oidc#203, mas#2352
    @Test func aSlashMoreIsAnotherIssuerAndTheMessageSaysSo() async throws {
        let trial = try Trial(isLocal: true, mutations: [.discoveryIssuer("/")])
        let error = await #expect(throws: XidError.self) { try await trial.xid.signIn() }
        #expect(error?.code == .metadataIssuerMismatch)
        #expect(error?.message.contains("slash") == true)
    }

    @Test(arguments: [
        ("https://xid.dev", "https://xid.dev/.well-known/openid-configuration"),
        ("https://xid.dev/", "https://xid.dev/.well-known/openid-configuration"),
        ("https://xid.dev/a/", "https://xid.dev/a/.well-known/openid-configuration"),
        ("https://xid.dev/a", "https://xid.dev/a/.well-known/openid-configuration"),
    ])
    func theDocumentLiesBehindTheIssuer(issuer: String, address: String) throws {
        let url = try #require(URL(string: issuer))
        let client = try Client(ClientTests.configuration { $0.issuer = url })
        #expect(Metadata.address(of: client)?.text == address)
    }

    @Test func metadataAndKeysAreFetchedOnceAndAgainWhenOld() async throws {
        let trial = try Trial(isLocal: true)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try? await trial.xid.signIn() } }
        }
        try await trial.xid.signIn()
        #expect(trial.provider.count("/.well-known/openid-configuration") == 1)
        #expect(trial.provider.count("/keys") == 1)
        trial.clock.advance(3601)
        try await trial.xid.signIn()
        #expect(trial.provider.count("/.well-known/openid-configuration") == 2)
        #expect(trial.provider.count("/keys") == 2)
    }

    @Test func aFailedDiscoveryIsTriedAgain() async throws {
        let trial = try Trial(
            isLocal: true, mutations: [.answer("/.well-known/openid-configuration", status: 503, body: "")])
        #expect(await Trial.code { try await trial.xid.signIn() } == .httpStatus)
        trial.provider.set([])
        try await trial.xid.signIn()
    }

    /// okta-mobile-swift#226: after a rotation nobody could log in until a reinstall.
    @Test func anUnknownKeyCausesOneFetchAMinute() async throws {
        let trial = try Trial(isLocal: true)
        try await trial.xid.signIn()
        let provider = trial.provider
        // A key that the set never shows.
        provider.set([.answer("/keys", status: 200, body: #"{"keys":[]}"#)])
        provider.locked { provider.generation = 1 }
        #expect(await Trial.code { try await trial.xid.signIn() } == .idTokenKeyUnknown)
        #expect(provider.count("/keys") == 2)
        trial.clock.advance(59)
        #expect(await Trial.code { try await trial.xid.signIn() } == .idTokenKeyUnknown)
        #expect(provider.count("/keys") == 2)
        trial.clock.advance(1)
        provider.set([])
        try await trial.xid.signIn()
        #expect(provider.count("/keys") == 3)
    }

    /// jwt-kit#246, JOSESwift#494, fastmcp#4515 are in the conformance table; what is no set at all is refused.
    @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[],"keys":[]}"#])
    func aKeySetThatIsNoneIsRefused(body: String) async throws {
        let trial = try Trial(isLocal: true, mutations: [.answer("/keys", status: 200, body: body)])
        #expect(await Trial.code { try await trial.xid.signIn() } == .keysInvalid)
    }

    @Test func twoKeysOfOneNameAreRefused() async throws {
        let keys = JSON.array(
            [OpenIDProvider.rsaKeys[0], OpenIDProvider.rsaKeys[1]].map { key in
                JWK(keyID: "rsa1", key: key.privateKey.publicKey).json
            })
        let body = JSON.object(["keys": keys]).text
        let trial = try Trial(isLocal: true, mutations: [.answer("/keys", status: 200, body: body)])
        #expect(await Trial.code { try await trial.xid.signIn() } == .ambiguousKey)
    }

    /// kanidm#1966 #4470, oidc-client-js#488
    @Test(arguments: [
        ("/token", String?.none), ("/token", "text/plain"), ("/token", "application/json; charset=UTF-8"),
        ("/keys", nil),
        ("/keys", "application/jwk-set+json"), ("/.well-known/openid-configuration", "text/html"), ("/userinfo", nil),
    ])
    func theContentTypeOfJSONDoesNotMatter(path: String, type: String?) async throws {
        let trial = try Trial(mutations: [.contentType(path, type)])
        defer { trial.site?.stop() }
        try await trial.xid.signIn()
        _ = try await trial.xid.getUserInfo()
    }

    @Test(arguments: [
        ("access_token", JSON?.none), ("access_token", ""), ("access_token", .integer(1)), ("access_token", "a b"),
        ("access_token", "a\r\nX: y"), ("token_type", nil), ("expires_in", .integer(0)), ("expires_in", .integer(-1)),
        ("expires_in", "soon"), ("expires_in", .decimal("1.5")), ("refresh_token", .integer(1)), ("scope", .array([])),
    ])
    func aMalformedTokenResponseIsRefused(name: String, value: JSON?) async throws {
        let trial = try Trial(isLocal: true, mutations: [.tokenResponse(name, value)])
        #expect(await Trial.code { try await trial.xid.signIn() } == .tokenResponseInvalid)
        #expect(trial.storage.values.isEmpty)
    }

    @Test(arguments: [
        (
            400, #"{"error":"invalid_grant","error_description":"x"}"#, XidError.Code.tokenRefused,
            "invalid_grant" as String?
        ),
        (400, "<html>", .httpStatus, nil), (500, "", .httpStatus, nil),
        (400, #"{"error":"Bearer eyJ secret"}"#, .httpStatus, nil),
        (200, "access_token=x", .tokenResponseInvalid, nil),
    ])
    func aRefusalByTheTokenEndpointSaysWhy(
        status: Int, body: String, expected: XidError.Code, reason: String?
    ) async throws {
        let trial = try Trial(isLocal: true, mutations: [.answer("/token", status: status, body: body)])
        let error = await #expect(throws: XidError.self) { try await trial.xid.signIn() }
        #expect(error?.code == expected)
        #expect(error?.providerError == reason)
        #expect(trial.storage.values.isEmpty)
    }

    @Test(arguments: ["/token", "/keys", "/.well-known/openid-configuration", "/userinfo"])
    func noRedirectIsFollowed(path: String) async throws {
        let trial = try Trial(mutations: [.redirects(path)])
        defer { trial.site?.stop() }
        var code = await Trial.code { try await trial.xid.signIn() }
        if path == "/userinfo" { code = await Trial.code { _ = try await trial.xid.getUserInfo() } }
        #expect(code == .httpStatus)
        #expect(trial.provider.count("/elsewhere") == 0)
    }

    @Test func aBodyWithoutEndIsCutOff() async throws {
        let body = "{\"x\":\"" + String(repeating: "x", count: 70_000) + "\"}"
        let trial = try Trial(mutations: [.answer("/token", status: 200, body: body)])
        defer { trial.site?.stop() }
        #expect(await Trial.code { try await trial.xid.signIn() } == .responseTooLarge)
    }

    @Test func aRequestThatIsCancelledGivesUpAtOnce() async throws {
        let trial = try Trial()
        defer { trial.site?.stop() }
        let gate = Gate()
        trial.provider.locked { trial.provider.beforeTokenAnswer = { gate.pass() } }
        let transport = CurlTransport(seconds: 600)
        let issuer = trial.provider.issuer
        let task = Task { try await transport.send(TransportRequest(url: "\(issuer)/token", body: [])) }
        await gate.reached()
        let start = ContinuousClock.now
        task.cancel()
        let result = await task.result
        #expect(throws: TransportError.cancelled) { try result.get() }
        // The exchange itself would take until its time limit.
        #expect(ContinuousClock.now - start < .seconds(300))
        gate.open()
    }

    @Test(arguments: [
        "ftp://x/", "http://provider.example/", "http://127.1/", "https://", "x", "", "file:///x", "https://x:+443/",
        "https://x:0/", "https://x:65536/", "https://x:/",
    ])
    func anIssuerThatIsNoneIsRefusedBeforeAnythingIsAsked(issuer: String) async throws {
        guard let url = URL(string: issuer) else { return }
        let trial = try Trial(isLocal: true) { $0.issuer = url }
        #expect(await Trial.code { try await trial.xid.signIn() } == .configurationInvalid)
        #expect(trial.provider.paths.isEmpty)
    }

    @Test func withoutAConfigurationTheErrorSaysWhatToDo() async throws {
        let error = await #expect(throws: XidError.self) { try await Xid().signIn() }
        #expect(error?.code == .notConfigured)
        #expect(error?.message.contains("configure(options:)") == true)
    }

    @Test func everyCodeHasAMessageOfItsOwn() {
        let messages = XidError.Code.allCases.map(\.message)
        #expect(Set(messages).count == messages.count)
        #expect(messages.allSatisfy { $0.hasSuffix(".") && $0.count > 20 })
        #expect(
            XidError.Code.allCases.allSatisfy { $0.rawValue == $0.rawValue.lowercased() && !$0.rawValue.contains(" ") })
    }
}
