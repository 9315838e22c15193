import Foundation
import JOSE
import Testing

@testable import Xid

/// The cases of the OpenID conformance suite for a client, and those of its FAPI 2 modules that concern one like this: as data, run
/// against a provider on a real socket, judged by what it was asked.
@Suite struct ConformanceTests {
    struct Case: Sendable, CustomStringConvertible {
        enum Expectation: Hashable, Sendable {
            case complete
            case reject(XidError.Code)
            /// The sign-in completes and the UserInfo answer is refused.
            case rejectUserInfo(XidError.Code)
        }

        var module: String
        var mutations: [Mutation] = []
        var expect: Expectation
        var mustNotCall: [String] = []

        var description: String { module }

        init(_ module: String, _ mutations: [Mutation], _ expect: Expectation) {
            self.module = module
            self.mutations = mutations
            self.expect = expect
            guard case .reject = expect else { return }
            // After a bad answer nothing more is asked; after a bad discovery document or redirect less still.
            let isDiscovery = mutations.contains { mutation in
                switch mutation {
                case .discoveryIssuer, .discovery: true
                default: false
                }
            }
            let isRedirect = mutations.contains { mutation in
                switch mutation {
                case .redirectIssuer, .redirectState, .redirectError, .redirectExtra, .redirectInFragment: true
                default: false
                }
            }
            mustNotCall = ["/userinfo"] + (isDiscovery || isRedirect ? ["/token"] : [])
            if isDiscovery { mustNotCall.append("/authorize") }
        }
    }

    static let table: [Case] =
        [
            // oidcc-client-test…
            Case("oidcc-client-test", [], .complete),
            Case("-idtoken-sig-rs256", [.signedBy(.rs256)], .complete),
            Case("-idtoken-sig-es256", [.signedBy(.es256)], .complete),
            Case("-invalid-iss", [.appendOne("iss")], .reject(.idTokenIssuer)),
            Case("-missing-iss", [.removeClaim("iss")], .reject(.idTokenIssuer)),
            Case("-invalid-aud", [.appendOne("aud")], .reject(.idTokenAudience)),
            Case("-missing-aud", [.removeClaim("aud")], .reject(.idTokenAudience)),
            Case("-missing-iat", [.removeClaim("iat")], .reject(.idTokenMalformed)),
            Case("-missing-sub", [.removeClaim("sub")], .reject(.idTokenSubject)),
            Case("-nonce-invalid", [.appendOne("nonce")], .reject(.idTokenNonce)),
            Case("-missing-nonce", [.removeClaim("nonce")], .reject(.idTokenNonce)),
            Case("-invalid-sig-rs256", [.signatureXOR], .reject(.idTokenSignature)),
            Case("-invalid-sig-es256", [.signedBy(.es256), .signatureXOR], .reject(.idTokenSignature)),
            Case("-invalid-sig-hs256", [.hmac], .reject(.idTokenAlgorithm)),
            Case("-idtoken-sig-none", [.unsigned], .reject(.idTokenAlgorithm)),
            Case("-kid-absent-single-jwks", [.unnamedKeys(each: 1)], .complete),
            Case("-kid-absent-single-jwks es256", [.unnamedKeys(each: 1), .signedBy(.es256)], .complete),
            Case("-kid-absent-multiple-jwks", [.unnamedKeys(each: 3)], .reject(.ambiguousKey)),
            Case("-userinfo-invalid-sub", [.userInfo("sub", "person-1invalid")], .rejectUserInfo(.userInfoSubject)),
            Case("-userinfo-missing-sub", [.userInfo("sub", nil)], .rejectUserInfo(.userInfoSubject)),
            Case("-discovery-issuer-mismatch", [.discoveryIssuer("INVALID")], .reject(.metadataIssuerMismatch)),
            Case("-signing-key-rotation-just-before-signing", [.rotatesBeforeSigning], .complete),
            Case("-invalid-athash", [.atHash(isRight: false)], .reject(.idTokenHash)),
            Case("-valid-athash", [.atHash(isRight: true)], .complete),
            Case("-invalid-chash", [.codeHash(isRight: false)], .reject(.idTokenHash)),
            Case("-valid-chash", [.codeHash(isRight: true)], .complete),
            // fapi2-security-profile-final-client-test…
            Case("-invalid-authorization-response-iss", [.redirectIssuer("ISSUER1")], .reject(.issuerMismatch)),
            Case(
                "-remove-authorization-response-iss", [.advertisesIssuer, .redirectIssuer(nil)],
                .reject(.issuerMismatch)),
            Case("-valid-authorization-response-iss", [.advertisesIssuer], .complete),
            Case("-authorization-response-with-invalid-state", [.redirectState("1")], .reject(.stateMismatch)),
            Case("-authorization-response-with-missing-state", [.redirectState(nil)], .reject(.stateMismatch)),
            Case("-invalid-alternate-alg", [.algorithm("PS256")], .reject(.idTokenAlgorithm)),
            Case("-invalid-null-alg", [.algorithm("none")], .reject(.idTokenAlgorithm)),
            Case("-alg-of-another-key", [.algorithm("ES256")], .reject(.idTokenKeyUnknown)),
            Case("-invalid-expired-exp", [.setTime("exp", -360)], .reject(.idTokenExpired)),
            Case("-invalid-missing-exp", [.removeClaim("exp")], .reject(.idTokenMalformed)),
            Case("-invalid-secondary-aud", [.secondAudience(azp: nil)], .reject(.idTokenAuthorizedParty)),
            Case("-secondary-aud-azp", [.secondAudience(azp: "client")], .complete),
            Case("-secondary-aud-other-azp", [.secondAudience(azp: "client1")], .reject(.idTokenAuthorizedParty)),
            Case("-valid-aud-as-array", [.audienceAsArray], .complete),
            Case("-token-type-case-insensitivity", [.tokenResponse("token_type", "bEARER")], .complete),
            Case("-token-endpoint-response-without-expires_in", [.tokenResponse("expires_in", nil)], .complete),
            // fapi1
            Case("-iat-is-week-in-past", [.setTime("iat", -604_800)], .complete),
            Case("-unknown-key-types", [.unknownKeyTypes], .complete),
            Case("-missing-id_token", [.tokenResponse("id_token", nil)], .reject(.idTokenMissing)),
        ]

    @Test(arguments: table)
    func theClientDoesWhatTheSuiteAsks(item: Case) async throws {
        let trial = try Trial(mutations: item.mutations)
        defer { trial.site?.stop() }
        if item.mutations.contains(.rotatesBeforeSigning) {
            trial.provider.set([])
            try await trial.xid.signIn()
            trial.provider.set(item.mutations)
        }
        let refusal = await Trial.code { try await trial.xid.signIn() }
        // Asked in any case: that nothing reaches the provider then is the client's doing.
        let userInfoRefusal = await Trial.code { _ = try await trial.xid.getUserInfo() }
        switch item.expect {
        case .complete:
            #expect(refusal == nil)
            #expect(userInfoRefusal == nil)
            #expect(trial.provider.count("/userinfo") == 1)
        case .reject(let code):
            #expect(refusal == code)
            #expect(userInfoRefusal == .noSession)
            #expect(trial.storage.sessions.isEmpty)
        case .rejectUserInfo(let code):
            #expect(refusal == nil)
            #expect(userInfoRefusal == code)
        }
        for path in item.mustNotCall { #expect(trial.provider.count(path) == 0, "\(path)") }
        #expect(trial.storage.flows.isEmpty)
    }

    @Test func theTokenTravelsInTheHeaderOnly() async throws {
        let trial = try Trial()
        defer { trial.site?.stop() }
        let session = try await trial.xid.signIn()
        _ = try await trial.xid.getUserInfo()
        let request = try #require(trial.provider.requests("/userinfo").first)
        #expect(request.headers["authorization"] == "Bearer \(session.accessToken)")
        #expect(request.query.isEmpty && request.body.isEmpty && request.method == "GET")
    }

    /// -discovery-openid-config, -discovery-jwks-uri-keys
    @Test func theAddressesOfTheDiscoveryDocumentAreUsed() async throws {
        let trial = try Trial(mutations: [.discovery("jwks_uri", "http://127.0.0.1:1/other-keys")])
        defer { trial.site?.stop() }
        #expect(await Trial.code { try await trial.xid.signIn() } == .network)
        #expect(trial.provider.count("/keys") == 0)
    }

    /// -signing-key-rotation
    @Test func aSecondLoginFindsTheNewKeys() async throws {
        let trial = try Trial()
        defer { trial.site?.stop() }
        try await trial.xid.signIn()
        trial.provider.locked { trial.provider.generation += 1 }
        try await trial.xid.signIn()
        #expect(trial.provider.count("/keys") == 2)
    }

    /// -signing-key-rotation, with keys that have no names
    @Test func aSecondLoginFindsTheNewKeysWithoutNamesToo() async throws {
        let trial = try Trial(mutations: [.unnamedKeys(each: 1)])
        defer { trial.site?.stop() }
        trial.provider.locked { trial.provider.generation = 0 }
        try await trial.xid.signIn()
        // The one key is now another, under no name again.
        trial.provider.set([.answer("/keys", status: 200, body: Self.keys(OpenIDProvider.rsaKeys[1]))])
        trial.provider.locked {
            trial.provider.mutations.append(.unnamedKeys(each: 1))
            trial.provider.generation = 1
        }
        try await trial.xid.signIn()
        #expect(trial.provider.count("/keys") == 2)
    }

    static func keys(_ key: SigningKey) -> String {
        JSON.object(["keys": .array([.object(key.privateKey.publicKey.members)])]).text
    }

    /// oidcc-client-refreshtoken-test-plan
    @Test(arguments: [
        ("-refresh-token", Mutation.onRenewal(.setClaim("extra", "x")), XidError.Code?.none),
        ("-refresh-token-invalid-issuer", .onRenewal(.appendOne("iss")), .idTokenIssuer),
        ("-refresh-token-invalid-sub", .onRenewal(.appendOne("sub")), .idTokenSubject),
        ("-refresh-token-invalid-aud", .onRenewal(.appendOne("aud")), .idTokenAudience),
        ("-refresh-token-bad-signature", .onRenewal(.signatureXOR), .idTokenSignature),
    ])
    func aRenewedIDTokenIsOfTheSamePerson(module: String, mutation: Mutation, expected: XidError.Code?) async throws {
        let trial = try Trial(dpop: .required, scopes: ["openid", "offline_access"], mutations: [mutation])
        defer { trial.site?.stop() }
        let former = try await trial.xid.signIn()
        let refusal = await Trial.code { _ = try await trial.xid.getAccessToken(forceRefresh: true) }
        #expect(refusal == expected)
        let token = try await trial.xid.getAccessToken()
        #expect((token == former.accessToken) == (expected != nil))
    }

    /// -rp-init-logout, -other-state, -no-state
    @Test(arguments: [Mutation?.none, .redirectState("1"), .redirectState(nil)])
    func signingOutSucceedsWhateverStateComesBack(mutation: Mutation?) async throws {
        let trial = try Trial { $0.postLogoutRedirectUri = URL(string: "com.example.app://auth/out") }
        defer { trial.site?.stop() }
        try await trial.xid.signIn()
        trial.provider.set(mutation.map { [$0] } ?? [])
        try await trial.xid.signOut(callEndSession: true)
        #expect(trial.provider.count("/logout") == 1)
    }
}
