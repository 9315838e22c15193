import AppleID
import JOSE
import TestSupport
import Testing

/// The verifier as the tests of this folder use it: what it says of a token, at a time, with some keys.
struct Verdict {
    var policy: TokenPolicy

    init(requiresNonce: Bool = false) throws {
        policy = try #require(TokenPolicy(audiences: [TokenForge.audience], requiresNonce: requiresNonce))
    }

    func identity(
        _ token: String, keys: FixedKeys = TokenForge.keys, nonce: String? = nil, at now: UnixTime = TokenForge.now
    ) throws -> AppleIdentity {
        try AppleTokenVerifier(policy: policy, cryptography: TokenForge.cryptography)
            .verify(Array(token.utf8)[...], keys: keys, at: now).identity(nonce: nonce)
    }

    /// Nil when the token is accepted.
    func refusal(
        _ token: String, keys: FixedKeys = TokenForge.keys, nonce: String? = nil, at now: UnixTime = TokenForge.now
    ) -> TokenRefusal? {
        do {
            _ = try identity(token, keys: keys, nonce: nonce, at: now)
            return nil
        } catch VerificationFailure.refused(let refusal) {
            return refusal
        } catch let refusal as TokenRefusal {
            return refusal
        } catch {
            Issue.record("neither accepted nor refused: \(error)")
            return nil
        }
    }
}

struct TokenRefusalTests {
    @Test func `A good token is accepted, and says who signed in`() throws {
        let identity = try Verdict().identity(TokenForge().token)
        #expect(identity.subject == TokenForge.subject)
        #expect(identity.audience == TokenForge.audience)
        #expect(
            identity.email == AppleEmail(address: "x7k2m9@privaterelay.appleid.com", isVerified: true, isPrivate: true))
        #expect(identity.codeHash == "x3KqkUYpqe2mZRkcAd-kXA")
        #expect(identity.transferSubject == nil)
    }

    @Test(arguments: TokenForge.faults + TokenForge.embeddedKeyFaults)
    func `A bad token is refused for its own reason`(_ fault: TokenForge.Fault) throws {
        #expect(try Verdict().refusal(fault.token) == fault.refusal)
    }

    @Test(arguments: ["jwk", "jku", "x5u", "x5c", "x5t", "x5t#S256", "cty", "typ", "zip", "b64", "enc"])
    func `What a header offers or claims besides alg, kid and crit changes nothing`(_ name: String) throws {
        let value: JSON = name == "jwk" ? TokenForge.foreignKey.jwk.json : "https://attacker.example/keys"
        #expect(try Verdict().refusal(TokenForge().withHeader([name: value]).token) == nil)
    }

    /// The refusals that need a nonce, another key set, or another subject to come about.
    private static let special: [(TokenRefusal, @Sendable (Verdict) throws -> TokenRefusal?)] = [
        (
            .keyAmbiguous,
            { verdict in
                let twin = JWK(keyID: TokenForge.key.keyID, key: TokenForge.foreignKey.privateKey.publicKey)
                return verdict.refusal(TokenForge().token, keys: FixedKeys(KeySet(keys: [TokenForge.key.jwk, twin])))
            }
        ),
        (
            .keyUnusable,
            { verdict in
                let key = TokenForge.newKey(TokenForge.key.keyID, for: .es256)
                return verdict.refusal(TokenForge().token, keys: FixedKeys(KeySet(keys: [key.jwk])))
            }
        ),
        (.subject, { $0.refusal(TokenForge().with(["sub": JSON?.none]).token) }),
        (.subject, { $0.refusal(TokenForge().with(["sub": ""]).token) }),
        (.subject, { $0.refusal(TokenForge().with(["sub": .null]).token) }),
        (.subject, { $0.refusal(TokenForge().with(["sub": .integer(1)]).token) }),
        (.subject, { $0.refusal(TokenForge().with(["sub": .string(String(repeating: "é", count: 256))]).token) }),
        (.nonceMissing, { $0.refusal(TokenForge().token, nonce: "n") }),
        (.nonceMismatch, { $0.refusal(TokenForge().with(["nonce": "m"]).token, nonce: "n") }),
        (
            .nonceUnexpected,
            { verdict in
                var verdict = verdict
                verdict.policy.requiresNonce = true
                return verdict.refusal(TokenForge().with(["nonce": "m"]).token)
            }
        ),
    ]

    @Test func `Refusals that take more than a token come about too`() throws {
        for (refusal, verdict) in Self.special { #expect(try verdict(Verdict()) == refusal) }
    }

    @Test func `No reason is without a case`() {
        let shown = Set(TokenForge.faults.map(\.refusal) + Self.special.map(\.0))
        #expect(Set(TokenRefusal.allCases).subtracting(shown).isEmpty)
    }

    @Test func `A subject of 255 characters is taken`() throws {
        let subject = String(repeating: "é", count: 255)
        #expect(try Verdict().identity(TokenForge().with(["sub": .string(subject)]).token).subject == subject)
    }

    @Test func `That keys cannot be had is not the token's fault, and is passed on`() throws {
        let outage = KeysUnavailable(reason: "503", retryAfter: 30)
        #expect(throws: VerificationFailure.keysUnavailable(outage)) {
            try Verdict().identity(TokenForge().token, keys: FixedKeys(unavailable: outage))
        }
    }

    /// A caller must not be able to make us ask Apple with a token that is bad at first sight.
    @Test func `Keys are not asked for when the token's shape or header is bad`() throws {
        let keys = FixedKeys(unavailable: KeysUnavailable(reason: "asked", retryAfter: 1))
        let early: Set<TokenRefusal> = [.tooLarge, .malformed, .algorithm, .critical, .keyIDMissing]
        let shape = TokenForge.faults.filter { early.contains($0.refusal) && !$0.needsVerifiedClaims }
        #expect(shape.count > 60)
        for fault in shape { #expect(try Verdict().refusal(fault.token, keys: keys) == fault.refusal, "\(fault)") }
    }

    @Test func `The key is chosen by its name among three, whichever signed`() throws {
        let keys = ["AAAAAAAAAA", "BBBBBBBBBB", "CCCCCCCCCC"].map { TokenForge.newKey($0) }
        let set = FixedKeys(KeySet(keys: keys.map(\.jwk)))
        for key in keys {
            #expect(try Verdict().refusal(TokenForge(key: key).token, keys: set) == nil)
            for other in keys where other != key {
                let token = TokenForge(key: key).withHeader(["kid": .string(other.keyID)]).token
                #expect(try Verdict().refusal(token, keys: set) == .signature)
            }
        }
    }
}
