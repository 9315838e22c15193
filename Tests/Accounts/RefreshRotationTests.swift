import Accounts
import JOSE
import TestSupport
import Testing

/// The rule of rotation, row by row: which token at which moment does what.
struct RefreshRotationTests {
    private let bench = SignInBench(policy: SessionPolicy(graceSeconds: 10))
    private let start = TokenForge.now

    private func later(_ milliseconds: Int64) -> UnixTime {
        UnixTime(milliseconds: start.milliseconds + milliseconds)
    }

    private func expect(
        _ refusal: SessionRefusal, _ token: String, at now: UnixTime, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(throws: SessionFailure.refused(refusal), sourceLocation: location) { try bench.refresh(token, at: now) }
    }

    @Test func `A good token is rotated: another token, the same session, a new end, and its use is noted`() throws {
        let signedIn = try bench.signIn()
        let now = later(3_600_000)
        let answer = try bench.sessions.refresh(signedIn.tokens.refreshToken, origin: SignInBench.origin, at: now)
        #expect(answer.sessionID == signedIn.sessionID)
        #expect(answer.account == signedIn.account)
        #expect(!answer.isNew)
        #expect(answer.tokens.refreshToken != signedIn.tokens.refreshToken)
        #expect(answer.tokens.accessToken != signedIn.tokens.accessToken)
        #expect(answer.tokens.refreshExpiresIn == 2_592_000)
        let session = try #require(try bench.users.session(signedIn.sessionID)).0
        #expect(session.lastUsedAt == now)
        #expect(session.expiresAt == now.adding(seconds: 2_592_000))
        #expect(session.createdAt == start)
        let token = try #require(RefreshToken(answer.tokens.refreshToken))
        #expect(session.refresh.digest == token.digest(using: TokenForge.cryptography))
    }

    @Test func `A lost answer: the same successor until the grace is over, to the millisecond`() throws {
        let token = try bench.signIn().tokens.refreshToken
        let successor = try bench.refresh(token)
        for offset in [0, 1, 9999, 10_000] as [Int64] {
            #expect(try bench.refresh(token, at: later(offset)) == successor)
        }
        // Nothing of it was a use: the successor is good and not rotated yet.
        #expect(try bench.users.sessions.first.flatMap { try bench.users.session($0.id)?.0.lastUsedAt } == start)
        expect(.refreshReused, token, at: later(10_001))
        expect(.sessionUnknown, successor, at: later(10_001))
    }

    @Test func `A clock that is a little behind the one that rotated forgives as well`() throws {
        let token = try bench.signIn().tokens.refreshToken
        let successor = try bench.refresh(token, at: later(2000))
        #expect(try bench.refresh(token, at: later(-2000)) == successor)
    }

    /// A refresh by a clock that was set back once gave the session an end that was over when the clock was right again.
    @Test func `A clock that was set back does not end a session before its time`() throws {
        let signedIn = try bench.signIn(at: later(0))
        let first = try bench.refresh(signedIn.tokens.refreshToken, at: later(3000))
        let years = UnixTime(milliseconds: start.milliseconds - 10 * 365 * 86_400_000)
        let second = try bench.refresh(first, at: years)
        let session = try #require(try bench.users.session(signedIn.sessionID)).0
        #expect(session.lastUsedAt == later(3000))
        #expect(session.refresh.expiresAt == later(3000).adding(seconds: 2_592_000))
        _ = try bench.refresh(second, at: later(4000))
    }

    /// The clock was set back after the rotation: then the grace once lasted until the clock had come that far again.
    @Test func `The grace of a rotation in the future is over`() throws {
        let token = try bench.signIn().tokens.refreshToken
        let successor = try bench.refresh(token, at: later(60_000))
        #expect(try bench.refresh(token) == successor)
        expect(.refreshReused, token, at: later(-1))
        expect(.sessionUnknown, successor, at: later(-1))
    }

    @Test func `A grace of zero forgives the same millisecond and no later one`() throws {
        bench.policy.graceSeconds = 0
        let token = try bench.signIn().tokens.refreshToken
        let successor = try bench.refresh(token)
        #expect(try bench.refresh(token) == successor)
        expect(.refreshReused, token, at: later(1))
    }

    @Test func `An older generation is a copy: the session ends, also within the grace, and the audit has it`() throws {
        let signedIn = try bench.signIn()
        let first = try bench.refresh(signedIn.tokens.refreshToken)
        let second = try bench.refresh(first)
        expect(.refreshReused, signedIn.tokens.refreshToken, at: start)
        for token in [signedIn.tokens.refreshToken, first, second] { expect(.sessionUnknown, token, at: start) }
        let entry = try #require(try bench.users.audit(of: signedIn.account.id).last)
        #expect(entry.event == .refreshReused)
        #expect(entry.sessionID == signedIn.sessionID)
        #expect(entry.origin == SignInBench.origin)
        #expect(try bench.audit(signedIn.account) == [.accountCreated, .signedIn, .refreshReused])
    }

    @Test func `Reuse ends one session and leaves the person's others`() throws {
        let one = try bench.signIn()
        let two = try bench.signIn()
        let first = try bench.refresh(one.tokens.refreshToken)
        _ = try bench.refresh(first)
        expect(.refreshReused, one.tokens.refreshToken, at: start)
        #expect(throws: Never.self) { try bench.refresh(two.tokens.refreshToken) }
    }

    @Test func `A secret that somebody made up for a session that he knows of is refused, and the session lives`()
        throws
    {
        let signedIn = try bench.signIn()
        let good = try #require(RefreshToken(signedIn.tokens.refreshToken))
        let madeUp = [
            // A salt of his own; another session's salt; the right secret under a wrong tag.
            RefreshToken(
                sessionID: good.sessionID, secret: SecretBytes([UInt8](repeating: 1, count: 32)),
                salt: [UInt8](repeating: 2, count: 32), using: TokenForge.cryptography),
            RefreshToken(
                sessionID: good.sessionID,
                secret: try #require(RefreshToken(try bench.signIn().tokens.refreshToken)).secret,
                salt: try #require(bench.users.sessions.last).refresh.salt, using: TokenForge.cryptography),
            RefreshToken(
                sessionID: good.sessionID, secret: good.secret, salt: [UInt8](repeating: 0, count: 32),
                using: TokenForge.cryptography),
        ]
        for token in madeUp { expect(.refreshUnknown, token.text, at: start) }
        #expect(throws: Never.self) { try bench.refresh(signedIn.tokens.refreshToken) }
        #expect(try !bench.audit(signedIn.account).contains(.refreshReused))
    }

    @Test func `A token of one session is none of another's`() throws {
        let one = try #require(RefreshToken(try bench.signIn().tokens.refreshToken))
        let two = try #require(RefreshToken(try bench.signIn().tokens.refreshToken))
        let bytes = two.sessionID.bytes + (try #require(Base64URL.decode(one.text)))[16...]
        expect(.refreshUnknown, Base64URL.encode(bytes), at: start)
    }

    @Test func `A session that is not used for as long as the token lives is over, to the millisecond`() throws {
        let token = try bench.signIn().tokens.refreshToken
        expect(.sessionExpired, token, at: start.adding(seconds: 2_592_000))
        let last = UnixTime(milliseconds: start.adding(seconds: 2_592_000).milliseconds - 1)
        #expect(throws: Never.self) { try bench.refresh(token, at: last) }
    }

    @Test func `A session that is used every week is over at its absolute end, to the millisecond`() throws {
        bench.policy.sessionSeconds = 5_000_000
        var token = try bench.signIn().tokens.refreshToken
        for week in 1...8 as ClosedRange<Int64> {
            let answer = try bench.sessions.refresh(
                token, origin: SignInBench.origin, at: start.adding(seconds: week * 604_800))
            token = answer.tokens.refreshToken
            #expect(answer.tokens.refreshExpiresIn == min(2_592_000, 5_000_000 - week * 604_800))
        }
        expect(.sessionExpired, token, at: start.adding(seconds: 5_000_000))
        #expect(throws: Never.self) { try bench.refresh(token, at: later(5_000_000_000 - 1)) }
    }

    @Test func `An expired session is not ended a second time by an old token`() throws {
        let signedIn = try bench.signIn()
        _ = try bench.refresh(signedIn.tokens.refreshToken)
        expect(.sessionExpired, signedIn.tokens.refreshToken, at: start.adding(seconds: 2_592_001))
        #expect(try !bench.audit(signedIn.account).contains(.refreshReused))
    }

    @Test func `A rotation of our keys within the grace leaves the successor what it was`() throws {
        let token = try bench.signIn().tokens.refreshToken
        let successor = try bench.refresh(token)
        bench.rotateKeys(at: later(1000))
        #expect(bench.signingKeys.current != SignInBench.signingKey)
        #expect(try bench.refresh(token, at: later(2000)) == successor)
        #expect(throws: Never.self) { try bench.refresh(successor, at: later(3000)) }
    }

    @Test func `Three rotations of our keys log nobody out`() throws {
        var token = try bench.signIn().tokens.refreshToken
        let unused = try bench.signIn().tokens.refreshToken
        for step in 1...3 as ClosedRange<Int64> {
            bench.rotateKeys(at: later(step * 20_000_000))
            let successor = try bench.refresh(token, at: later(step * 20_000_000))
            #expect(successor != token)
            token = successor
        }
        #expect(!bench.signingKeys.publicKeys.contains("SIGNING001"))
        #expect(throws: Never.self) { try bench.refresh(unused, at: later(70_000_000)) }
    }

    @Test func `A successor whose key is gone is refused, and the session lives on with the successor`() throws {
        let signedIn = try bench.signIn()
        let successor = try bench.refresh(signedIn.tokens.refreshToken)
        for _ in 0..<2 { bench.rotateKeys() }
        expect(.refreshUnknown, signedIn.tokens.refreshToken, at: start)
        #expect(throws: Never.self) { try bench.refresh(successor) }
    }

    @Test func `Two clients of one session that take turns both live on`() throws {
        var (one, two) = (try bench.signIn().tokens.refreshToken, "")
        two = one
        for turn in 0..<20 as Range<Int64> {
            let now = start.adding(seconds: turn * 900)
            if turn.isMultiple(of: 2) { swap(&one, &two) }
            one = try bench.refresh(one, at: now)
            two = try bench.refresh(two, at: UnixTime(milliseconds: now.milliseconds + 5000))
            #expect(one == two)
        }
    }

    @Test func `A disabled account gets no token, neither a new one nor the one that was lost`() throws {
        let token = try bench.signIn().tokens.refreshToken
        bench.users.showsAccountsDisabled = true
        #expect(throws: SessionFailure.accountDisabled) { try bench.refresh(token) }
        bench.users.showsAccountsDisabled = false
        _ = try bench.refresh(token)
        bench.users.showsAccountsDisabled = true
        #expect(throws: SessionFailure.accountDisabled) { try bench.refresh(token) }
    }

    @Test(arguments: ["", "x", "Bearer x", String(repeating: "A", count: 64), String(repeating: "=", count: 86)])
    func `What is no refresh token is refused before the store is asked`(_ text: String) {
        expect(.refreshMalformed, text, at: start)
    }
}
