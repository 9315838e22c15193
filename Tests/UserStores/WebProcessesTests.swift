import Accounts
import AppleID
import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing
import UserStores

/// Replay of one-time codes by many processes at once: one flow opens one session.
@Suite(.serialized) struct WebProcessesTests {
    /// RFC 7636, appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    /// So many codes of one flow, as a browser makes them that sends Apple's form again and again.
    private func codes(_ count: Int, _ url: String) throws -> [String] {
        let store = try UserStores.open(url)
        let web = TestService(users: store).webSignIn(appleKeys: TokenForge.keys)
        let (returnURL, challenge) = try (
            #require(TestService.webClient.returnURL("com.finnova.app:/signed-in")),
            #require(CodeChallenge(Self.challenge))
        )
        let (location, browser) = try web.begin(
            WebSignIn.Request(returnURL: returnURL, challenge: challenge, appState: nil), browser: nil,
            at: TokenForge.now)
        let page = try Self.parameters(of: location)
        let nonce = try #require(page["nonce"])
        let token = TokenForge(audience: TestService.webClient.id).with([
            "nonce": .string(nonce),
            "c_hash": .string(TokenHash.text(of: "apple-code", algorithm: .rs256, using: TokenForge.cryptography)),
        ]).token
        return try (0..<count).map { _ in
            let departure = try web.finish(
                state: try #require(page["state"]), browser: browser,
                answer: WebSignIn.Answer(identityToken: token, code: "apple-code", error: nil, user: nil),
                at: TokenForge.now)
            return try #require(Self.parameters(of: departure.location)["code"])
        }
    }

    private static func parameters(of location: String) throws -> FormURLEncoded {
        let query = Array(location.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst())
        return try #require(FormURLEncoded(parsing: query[...], maximumFields: 16))
    }

    private func probe(_ url: String, _ code: String, device: String) throws -> StoreProbe {
        let request: JSON = [
            "code": .string(code), "verifier": .string(Self.verifier), "device": ["id": .string(device)],
            "time": .integer(TokenForge.now.seconds),
        ]
        return try StoreProbe(url, command: ["exchange", "--at-gate"], input: request.text)
    }

    @Test(arguments: StoreUnderTest.shared, [2, 12])
    func ofManyExchangesAtOnceOneOpensASession(_ subject: StoreUnderTest, count: Int) throws {
        try subject.withURL { url in
            let codes = try codes(2, url)
            let probes = try StoreProbe.atOnce(count) { try probe(url, codes[$0 % 2], device: "device-\($0)") }
            let ends = probes.map { $0.end() }
            #expect(ends.count { $0.status == 0 } == 1)
            for end in ends where end.status != 0 { #expect(end.output.contains("spent"), "\(end.output)") }
            #expect(try UserStores.open(url).check().contains("1 accounts, 1 sessions"))
        }
    }

    @Test(arguments: StoreUnderTest.shared)
    func theSameExchangeAtOnceIsARetryAndGetsOneAnswer(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            let code = try codes(1, url)[0]
            let answers = try StoreProbe.atOnce(8) { _ in try probe(url, code, device: "device") }
                .map { try $0.result() }
            #expect(Set(answers).count == 1)
            #expect(try UserStores.open(url).check().contains("1 accounts, 1 sessions"))
        }
    }
}
