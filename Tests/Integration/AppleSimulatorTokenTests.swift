import AppleID
import Foundation
import JOSE
import OpenSSLCrypto
import Testing

/// Tokens of the simulator, before the verifier that they are made for and before a stranger's.
@Suite struct AppleSimulatorTokenTests {
    /// The keys as they are printed.
    struct PrintedKeys: AppleKeySource {
        let set: KeySet

        init(_ simulator: AppleSimulator) throws {
            set = try KeySet(parsing: Array(try simulator.line("keys").utf8)[...])
        }

        func keys(naming keyID: String) throws(KeysUnavailable) -> KeySet { set }
    }

    static let audience = "com.example.app"

    /// One for all tests that do not change its keys, which take long to make.
    static let shared = Result { try AppleSimulator() }

    /// The identity, or the reason of the refusal as the log has it.
    static func verify(_ token: String, keys: PrintedKeys, nonce: String? = nil) throws -> Result<
        AppleIdentity, TokenRefusal
    > {
        let policy = try #require(TokenPolicy(audiences: [audience]))
        let verifier = AppleTokenVerifier(policy: policy, cryptography: OpenSSLCryptography())
        let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
        do {
            return .success(try verifier.verify(Array(token.utf8)[...], keys: keys, at: now).identity(nonce: nonce))
        } catch let refusal as TokenRefusal {
            return .failure(refusal)
        } catch VerificationFailure.refused(let refusal) {
            return .failure(refusal)
        }
    }

    @Test func aTokenSaysWhatItWasAskedToSay() throws {
        let simulator = try Self.shared.get()
        let keys = try PrintedKeys(simulator)
        let token = try simulator.line("token", "--subject", "001.a.1", "--email", "ana@example.com", "--nonce", "raw")
        let identity = try Self.verify(token, keys: keys, nonce: "raw").get()
        #expect(identity.subject == "001.a.1")
        #expect(identity.audience == Self.audience)
        #expect(identity.email == AppleEmail(address: "ana@example.com", isVerified: true, isPrivate: false))
        #expect(identity.codeHash != nil)

        let relay = try Self.verify(simulator.line("token", "--relay", "--email-verified", "\"true\""), keys: keys)
            .get()
        #expect(relay.email?.isPrivate == true && relay.email?.isVerified == true)
        #expect(relay.email?.address.hasSuffix("@privaterelay.appleid.com") == true)
        #expect(try Self.verify(simulator.line("token"), keys: keys).get().email == nil)
        #expect(
            try Self.verify(simulator.line("token", "--transfer-subject", "760417.x.1"), keys: keys).get()
                .transferSubject
                == "760417.x.1")
        #expect(
            try Self.verify(simulator.line("token", "--nonce", "raw", "--nonce-verbatim"), keys: keys, nonce: "raw")
                .get()
                .subject == relay.subject)
        // SHA-256 of "code" begins with these 16 bytes.
        #expect(
            try Self.verify(simulator.line("token", "--code", "code"), keys: keys).get().codeHash
                == Base64URL.encode(OpenSSLCryptography().sha256(Array("code".utf8)[...]).prefix(16)))
    }

    @Test func timesAndClaimsAreFree() throws {
        let simulator = try Self.shared.get()
        let keys = try PrintedKeys(simulator)
        #expect(
            try Self.verify(simulator.line("token", "--issued-at=-3600", "--expires-in", "3000"), keys: keys)
                == .failure(.expired))
        #expect(try Self.verify(simulator.line("token", "--issued-at=+3600"), keys: keys) == .failure(.notYetValid))
        #expect(try Self.verify(simulator.line("token", "--issued-at", "1600000000"), keys: keys) == .failure(.expired))
        #expect(try Self.verify(simulator.line("token", "--without", "exp"), keys: keys) == .failure(.malformed))
        #expect(
            try Self.verify(simulator.line("token", "--claim", "aud=[\"x\",\"com.example.app\"]"), keys: keys).get()
                .audience == Self.audience)
        #expect(try Self.verify(simulator.line("token", "--claim", "aud=[]"), keys: keys) == .failure(.audience))
    }

    @Test func eachOfTheThreeKeysSigns() throws {
        let simulator = try Self.shared.get()
        let keys = try PrintedKeys(simulator)
        #expect(keys.set.keys.count == 3)
        for number in 1...3 {
            let token = try simulator.line("token", "--key", String(number))
            #expect(try (Self.verify(token, keys: keys).get()).audience == Self.audience)
            let header = try #require(Base64URL.decode(String(token.prefix { $0 != "." })))
            let json = try JSON(parsing: header, limits: JSON.Limits(bytes: 1000))
            #expect(json["kid"]?.string == keys.set.keys[number - 1].keyID)
        }
    }

    /// Every kind is refused, and for the reason that the list names: a kind bad in two ways would show nothing.
    @Test func everyBadKindIsRefusedForItsReason() throws {
        let simulator = try Self.shared.get()
        let keys = try PrintedKeys(simulator)
        let kinds = try simulator.badKinds()
        #expect(kinds.count >= 49)
        for (name, reason) in kinds {
            let token = try simulator.line("token", "--nonce", "raw", "--bad", name)
            let outcome = try Self.verify(token, keys: keys, nonce: "raw")
            #expect(outcome == .failure(try #require(TokenRefusal(rawValue: reason))), "\(name)")
        }
        #expect(
            try Self.verify(simulator.line("token", "--nonce", "raw"), keys: keys, nonce: "raw").get().subject != "")
    }

    /// As Apple rotates: the oldest key goes, a new one signs, and the others stay.
    @Test func aRotationReplacesTheOldestKey() throws {
        let simulator = try AppleSimulator()
        let before = try PrintedKeys(simulator).set.keys
        let token = try simulator.line("token", "--key", "1")
        #expect(try simulator.run("keys", "--rotate").exitStatus == 0)
        let keys = try PrintedKeys(simulator)
        #expect(Array(keys.set.keys.prefix(2)) == Array(before.suffix(2)))
        #expect(try Self.verify(token, keys: keys) == .failure(.keyUnknown))
        #expect(try Self.verify(simulator.line("token", "--key", "3"), keys: keys).get().audience == Self.audience)
    }

    @Test(.enabled(if: PyJWT.isThere, "python3-jwt is not installed"))
    func aStrangersVerifierAcceptsTheGoodAndRefusesTheBad() throws {
        let simulator = try Self.shared.get()
        // What PyJWT does not look at, by its own word: age, the length and kind of names, the nonce, and some forms.
        let beyondPyJWT: Set = [
            "too-old", "empty-subject", "long-subject", "subject-number", "nonce-mismatch", "nonce-missing",
            "nonce-number", "duplicate-claim", "duplicate-header", "non-canonical", "padded", "white-space", "long-kid",
            "oversized", "exp-string", "crit",
        ]
        let kinds = try simulator.badKinds().map(\.name).filter { !beyondPyJWT.contains($0) }
        #expect(kinds.count >= 30)
        var verdicts: [String] = []
        try simulator.serving { address in
            let good = try (1...3).map { try simulator.line("token", "--key", String($0), "--relay") }
            let bad = try kinds.map { try simulator.line("token", "--bad", $0) }
            verdicts = try PyJWT.verdicts(on: good + bad, keysAt: "\(address.url)/auth/keys", audience: Self.audience)
        }
        #expect(verdicts.prefix(3) == ["ok", "ok", "ok"])
        #expect(verdicts.count == kinds.count + 3)
        for (kind, verdict) in zip(kinds, verdicts.dropFirst(3)) { #expect(verdict != "ok", "\(kind)") }
    }
}
