import Accounts
import AppleID
import JOSE
import TestSupport
import Testing

/// The retry of a sign-in whose answer was lost (`Idempotency-Key`).
struct IdempotencyTests {
    private let bench = SignInBench()
    private let now = TokenForge.now
    private let token = TokenForge().token
    private static let key = "canary-4f1c2b9e"

    private func signIn(_ token: String? = nil, key: String = key, after seconds: Int64 = 0) throws -> SignedIn {
        try bench.signIn(
            token: token ?? self.token, name: "Ana Pérez", idempotencyKey: key, at: now.adding(seconds: seconds))
    }

    private func expectSame(_ one: SignedIn, _ other: SignedIn, _ location: SourceLocation = #_sourceLocation) {
        #expect(one.tokens.accessToken == other.tokens.accessToken, sourceLocation: location)
        #expect(one.tokens.refreshToken == other.tokens.refreshToken, sourceLocation: location)
        #expect(one.tokens.accessExpiresIn == other.tokens.accessExpiresIn, sourceLocation: location)
        #expect(one.tokens.refreshExpiresIn == other.tokens.refreshExpiresIn, sourceLocation: location)
        #expect(one.isNew == other.isNew && one.sessionID == other.sessionID, sourceLocation: location)
        #expect(one.account.id == other.account.id, sourceLocation: location)
        #expect(one.account.profile == other.account.profile, sourceLocation: location)
    }

    @Test func `The repetition of a request gets its answer for ten minutes, and not after, to the second`() throws {
        let first = try signIn()
        #expect(first.isNew)
        for seconds in [0, 1, 599] as [Int64] { expectSame(try signIn(after: seconds), first) }
        #expect(bench.users.sessions.count == 1)
        #expect(try bench.audit(first.account) == [.accountCreated, .signedIn])
        let later = try signIn(after: 600)
        #expect(!later.isNew && later.sessionID != first.sessionID)
        // And that one is remembered in its turn.
        expectSame(try signIn(after: 601), later)
    }

    /// The clock was set back after the answer: then it once was given for as long as the clock took to come that far again.
    @Test func `An answer of the future is not given again`() throws {
        let first = try signIn(after: 100)
        expectSame(try signIn(after: 40), first)
        let later = try signIn(after: 39)
        #expect(!later.isNew && later.sessionID != first.sessionID)
    }

    @Test func `Another token, another key, or none: another session`() throws {
        let first = try signIn()
        let others = try [
            signIn(TokenForge().with(["jti": "other"]).token), signIn(key: Self.key + "x"), signIn(key: "x"),
            bench.signIn(token: token), bench.signIn(token: token),
        ]
        #expect(Set(others.map(\.sessionID) + [first.sessionID]).count == 6)
    }

    @Test func `Another person's request under the same key gets nothing of the first`() throws {
        let first = try signIn()
        let other = try signIn(TokenForge(subject: "other").token)
        #expect(other.account.id != first.account.id && other.sessionID != first.sessionID)
    }

    @Test func `A repetition is verified like any other request: a token that has expired meanwhile opens nothing`()
        throws
    {
        let short = TokenForge().with(["exp": .integer(now.seconds + 5)]).token
        _ = try signIn(short)
        #expect(throws: SignInFailure.verification(.refused(.expired))) { try signIn(short, after: 120) }
        let nonce = TokenForge().with(["nonce": "one"]).token
        _ = try bench.signIn(token: nonce, nonce: "one", idempotencyKey: Self.key)
        #expect(throws: SignInFailure.verification(.refused(.nonceMismatch))) {
            try bench.signIn(token: nonce, nonce: "two", idempotencyKey: Self.key)
        }
    }

    @Test func `What is kept of the answer shows nothing of it, of the key, or of the token`() throws {
        let signedIn = try signIn()
        let receipt = try #require(bench.users.receipts.first)
        #expect(receipt.name.count == 32)
        #expect(receipt.expiresAt == now.adding(seconds: 600))
        let refresh = try #require(RefreshToken(signedIn.tokens.refreshToken))
        let access = signedIn.tokens.accessToken.split(separator: ".").compactMap { Base64URL.decode(String($0)) }
        let hidden: [[UInt8]] =
            [
                Self.key, token, signedIn.tokens.accessToken, signedIn.tokens.refreshToken, "Ana Pérez",
                "privaterelay", TokenForge.subject, signedIn.account.id.description, signedIn.sessionID.description,
            ].map { Array($0.utf8) } + [refresh.secret.bytes] + access
        // As they lie in the store, and as the sealed part is once it is decoded.
        let json = try JSON(parsing: receipt.sealed, limits: JSON.Limits(bytes: 65_536))
        let sealed = try #require(json["sealed"]?.string.flatMap { Base64URL.decode($0) })
        #expect(json.object?.members.map(\.name) == ["kid", "sealed"])
        for bytes in [receipt.name, receipt.sealed, sealed] {
            for secret in hidden { #expect(!bytes.contains(secret)) }
        }
        // The looking itself works.
        #expect(Array("xx\(Self.key)yy".utf8).contains(Array(Self.key.utf8)))
    }

    @Test func `Two receipts of the same request under one key are sealed differently`() throws {
        _ = try signIn()
        _ = try signIn(after: 600)
        let receipts = bench.users.receipts
        #expect(receipts.count == 2)
        #expect(receipts[0].name == receipts[1].name)
        #expect(receipts[0].sealed != receipts[1].sealed)
    }

    @Test func `A rotation of our keys in between changes nothing`() throws {
        let first = try signIn()
        bench.rotateKeys()
        expectSame(try signIn(after: 5), first)
        #expect(bench.users.sessions.count == 1)
    }

    @Test func `A receipt that cannot be opened any more does not keep the person out: another session`() throws {
        let first = try signIn()
        for _ in 0..<2 { bench.rotateKeys() }
        let second = try signIn(after: 5)
        #expect(second.sessionID != first.sessionID && !second.isNew)
        // Its own receipt has taken the place of the one that was lost.
        expectSame(try signIn(after: 6), second)
    }

    /// It once got the tokens of the session that had ended.
    @Test func `A repetition does not bring back a session that has ended: another one, or none for a token good once`()
        throws
    {
        for isOneTime in [false, true] {
            let bench = SignInBench()
            bench.isOneTime = isOneTime
            func signIn() throws -> SignedIn { try bench.signIn(token: token, idempotencyKey: Self.key) }
            let first = try signIn()
            expectSame(try signIn(), first)
            _ = try bench.users.endSessions(of: first.account.id, except: nil) { session in
                AuditEntry(
                    time: now, event: .sessionEnded, accountID: session.accountID, origin: SignInBench.origin)
            }
            if isOneTime {
                #expect(throws: SignInFailure.spent) { try signIn() }
            } else {
                let second = try signIn()
                #expect(second.sessionID != first.sessionID)
                #expect(second.tokens.accessToken != first.tokens.accessToken)
                expectSame(try signIn(), second)
            }
        }
    }

    @Test func `Signing that fails leaves nothing: no account, no session, no receipt, no audit`() throws {
        let bench = SignInBench(cryptography: UnableToSign())
        #expect(throws: SignInFailure.cryptography(CryptographyError("the module is locked"))) {
            try bench.signIn(idempotencyKey: Self.key)
        }
        #expect(bench.users.accounts.isEmpty && bench.users.sessions.isEmpty && bench.users.receipts.isEmpty)
    }

    @Test func `Sealing that fails leaves nothing either`() throws {
        let bench = SignInBench(cryptography: UnableToSign(signs: true))
        #expect(throws: SignInFailure.cryptography(CryptographyError("the module is locked"))) {
            try bench.signIn(idempotencyKey: Self.key)
        }
        #expect(bench.users.accounts.isEmpty && bench.users.sessions.isEmpty && bench.users.receipts.isEmpty)
        #expect(throws: Never.self) { try bench.signIn() }
    }

    @Test func `A disabled account's request leaves no receipt, and one from before opens nothing`() throws {
        let signedIn = try signIn()
        try bench.disable(signedIn.account)
        #expect(throws: SignInFailure.accountDisabled) { try signIn(after: 1) }
        #expect(throws: SignInFailure.accountDisabled) { try signIn(key: "another", after: 1) }
        #expect(bench.users.receipts.count == 1)
    }
}

/// A library that verifies and does not seal, nor sign unless it is told to.
struct UnableToSign: Cryptography {
    var signs = false
    private var real: any Cryptography { TokenForge.cryptography }

    func sign(_ message: ArraySlice<UInt8>, with key: PrivateKey) throws(CryptographyError) -> [UInt8] {
        guard signs else { throw CryptographyError("the module is locked") }
        return try real.sign(message, with: key)
    }
    func seal(
        _ plaintext: ArraySlice<UInt8>, key: SecretBytes, associatedData: ArraySlice<UInt8>
    ) throws(CryptographyError) -> [UInt8] {
        throw CryptographyError("the module is locked")
    }

    func isValid(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, by key: PublicKey,
        algorithm: SignatureAlgorithm
    ) -> Bool { real.isValid(signature, over: message, by: key, algorithm: algorithm) }
    func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] { real.sha256(bytes) }
    func hmacSHA256(_ message: ArraySlice<UInt8>, key: ArraySlice<UInt8>) -> [UInt8] {
        real.hmacSHA256(message, key: key)
    }
    func randomBytes(_ count: Int) throws(CryptographyError) -> [UInt8] { try real.randomBytes(count) }
    func areEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool { real.areEqual(left, right) }
    func open(_ sealed: ArraySlice<UInt8>, key: SecretBytes, associatedData: ArraySlice<UInt8>) -> [UInt8]? {
        real.open(sealed, key: key, associatedData: associatedData)
    }
    func generateKey(for algorithm: SignatureAlgorithm) throws(CryptographyError) -> PrivateKey {
        try real.generateKey(for: algorithm)
    }
    func privateKey(der: ArraySlice<UInt8>) throws(PrivateKeyFault) -> PrivateKey { try real.privateKey(der: der) }
}
