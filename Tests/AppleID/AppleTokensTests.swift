import AppleID
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

/// That what a code gave belongs to the person and the app, or is not used.
struct AppleTokensTests {
    private static let accessHash = TokenHash.text(
        of: "a0.canary-access", algorithm: .rs256, using: TokenForge.cryptography)

    private func refusal(
        _ forge: TokenForge, answer: [String: JSON?] = [:], subject: String = TokenForge.subject,
        clientID: String = TokenForge.audience, keys: FixedKeys = TokenForge.keys, requiresNonce: Bool = false
    ) throws -> AppleTokensRefusal? {
        let policy = try #require(
            TokenPolicy(audiences: [TokenForge.audience, "com.finnova.web"], requiresNonce: requiresNonce))
        let verifier = AppleTokenVerifier(policy: policy, cryptography: TokenForge.cryptography)
        let tokens = try AppleServerBench(200, AppleServerBench.tokens(forge, answer)).exchange()
        do throws(AppleTokensRefusal) {
            let identity = try tokens.confirm(
                subject: subject, clientID: clientID, verifier: verifier, keys: keys, at: TokenForge.now)
            #expect(identity.subject == subject && identity.audience == clientID)
            return nil
        } catch {
            return error
        }
    }

    @Test func `A code of this person for this app is confirmed, with at_hash or without`() throws {
        #expect(try refusal(TokenForge()) == nil)
        #expect(try refusal(TokenForge().with(["at_hash": .string(Self.accessHash)])) == nil)
        #expect(try refusal(TokenForge(), requiresNonce: true) == nil)
        #expect(try refusal(TokenForge(audience: "com.finnova.web"), clientID: "com.finnova.web") == nil)
    }

    @Test func `A code of another person is refused with its own word`() throws {
        #expect(try refusal(TokenForge(subject: "001234.attacker.0001")) == .anotherPerson)
        #expect(try refusal(TokenForge(), subject: TokenForge.subject + "x") == .anotherPerson)
        #expect(try refusal(TokenForge().with(["sub": JSON?.none])) == .anotherPerson)
        #expect(try refusal(TokenForge().with(["sub": .integer(1)]), subject: "1") == .anotherPerson)
        // To Swift both are equal: the second has a KELVIN SIGN.
        #expect(try refusal(TokenForge(subject: "K"), subject: "\u{212A}") == .anotherPerson)
        #expect(AppleTokensRefusal.anotherPerson.word == "code_of_another_person")
    }

    @Test func `A code of another app, though one of ours, is refused`() throws {
        #expect(try refusal(TokenForge(audience: "com.finnova.web")) == .anotherClient)
        #expect(try refusal(TokenForge(), clientID: "com.finnova.web") == .anotherClient)
    }

    @Test(arguments: ["", "77QmUPtjPfzWtF2AnpK9RQ", .null, .integer(1), .array([])] as [JSON])
    func `An at_hash that is not the access token's is refused`(_ hash: JSON) throws {
        #expect(try refusal(TokenForge().with(["at_hash": hash])) == .accessTokenHash)
        // Without an access token there is nothing to compare with.
        #expect(try refusal(TokenForge().with(["at_hash": hash]), answer: ["access_token": JSON?.none]) == nil)
    }

    @Test(arguments: TokenForge.faults)
    func `Apple's own answer goes through the one verifier`(_ fault: TokenForge.Fault) throws {
        guard AppleServerBench.canTravel(fault.token) else { return }
        #expect(
            try refusal(TokenForge(), answer: ["id_token": .string(fault.token)]) == .identityToken(fault.refusal))
    }

    @Test func `That keys cannot be had is an outage`() throws {
        let outage = KeysUnavailable(reason: "503", retryAfter: 30)
        #expect(try refusal(TokenForge(), keys: FixedKeys(unavailable: outage)) == .keysUnavailable(outage))
    }

    @Test func `Each refusal has its own word`() {
        let refusals: [AppleTokensRefusal] =
            TokenRefusal.allCases.map { .identityToken($0) } + [
                .keysUnavailable(KeysUnavailable(reason: "canary", retryAfter: 1)), .anotherClient, .anotherPerson,
                .accessTokenHash,
            ]
        #expect(Set(refusals.map(\.word)).count == refusals.count)
        #expect(refusals.allSatisfy { $0.word.hasPrefix("code_") && !$0.word.contains("canary") })
    }
}

extension AppleServerBench {
    /// Whether a text can stand in Apple's answer as a token; the rest is refused before it is verified.
    static func canTravel(_ token: String) -> Bool {
        (1...CompactJWS.maximumSize).contains(token.utf8.count)
            && token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

struct CodeBindingTests {
    private func binding(_ hash: JSON?, code: String = "c0de") throws -> CodeBinding {
        let identity = try Verdict().identity(TokenForge().with(["c_hash": hash]).token)
        return CodeBinding(code: code, identity: identity, using: TokenForge.cryptography)
    }

    @Test func `A token binds its code, no other, or none`() throws {
        let hash = TokenHash.text(of: "c0de", algorithm: .rs256, using: TokenForge.cryptography)
        #expect(try binding(nil) == .unbound)
        #expect(try binding(.string(hash)) == .bound)
        #expect(try binding(.string(hash), code: "c0df") == .mismatch)
        #expect(try binding(.string(hash), code: "") == .mismatch)
        #expect(try binding(.string(hash + "=")) == .mismatch)
    }

    /// A claim that cannot be read must not count as one that is absent.
    @Test(arguments: ["", .null, .integer(1), .bool(true), .array([]), [:]] as [JSON])
    func `A c_hash that is no hash binds nothing`(_ hash: JSON) throws {
        #expect(try binding(hash) == .mismatch)
    }
}
