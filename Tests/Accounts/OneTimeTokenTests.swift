import Accounts
import AppleID
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

/// `ONE_TIME_TOKENS`: an identity token opens one session, and a client whose answer was lost gets that one again.
struct OneTimeTokenTests {
    private let bench = SignInBench()
    private let token = TokenForge().token

    init() { bench.isOneTime = true }

    private func failure(
        _ token: String, name: String? = "Ana", device: JSON = ["model": "iPhone"], code: String? = nil,
        after seconds: Int64
    ) -> SignInFailure? {
        do {
            try bench.signIn(
                token: token, code: code, device: device, name: name, at: TokenForge.now.adding(seconds: seconds))
            return nil
        } catch {
            return error as? SignInFailure
        }
    }

    @Test func `The same request within the grace gets the same answer, byte for byte`() throws {
        let first = try bench.signIn(token: token, name: "Ana")
        for seconds in [0, 9] as [Int64] {
            let again = try bench.signIn(token: token, name: "Ana", at: TokenForge.now.adding(seconds: seconds))
            #expect(again.tokens.accessToken == first.tokens.accessToken)
            #expect(again.tokens.refreshToken == first.tokens.refreshToken)
            #expect(again.sessionID == first.sessionID && again.isNew)
        }
        #expect(bench.users.sessions.count == 1)
    }

    @Test func `After the grace the token is spent, as long as it lives`() throws {
        try bench.signIn(token: token, name: "Ana")
        for seconds in [10, 3600, 86_459] as [Int64] { #expect(failure(token, after: seconds) == .spent) }
        #expect(failure(token, after: 86_460) == .verification(.refused(.expired)))
        #expect(bench.users.sessions.count == 1)
    }

    @Test func `Another request with the token is refused, within the grace as well`() throws {
        try bench.signIn(token: token, name: "Ana")
        #expect(failure(token, name: "Eva", after: 1) == .spent)
        #expect(failure(token, device: ["model": "iPad"], after: 1) == .spent)
        #expect(failure(token, code: "c0.other", after: 1) == .spent)
        #expect(failure(token, after: 1) == nil)
    }

    /// A signature may be written in more than one way, and what is signed in one only. An RSA signature has no second way that
    /// verifies, so the mark itself is looked at.
    @Test func `The mark is of what is signed`() throws {
        try bench.signIn(token: token)
        let signed = token.split(separator: ".")[..<2].joined(separator: ".")
        let name = TokenForge.cryptography.sha256(Array("auth-apple token \(signed)".utf8)[...])
        #expect(bench.users.marks.map(\.name) == [name])
    }

    @Test func `Another token of the same person is as good as the first`() throws {
        let first = try bench.signIn(token: token)
        let second = try bench.signIn(
            TokenForge(at: TokenForge.now.adding(seconds: 1)), at: TokenForge.now.adding(seconds: 1))
        #expect(second.account.id == first.account.id && second.sessionID != first.sessionID)
    }

    @Test func `A repetition that is named has its ten minutes, and only by its name`() throws {
        let first = try bench.signIn(token: token, idempotencyKey: "one")
        let again = try bench.signIn(token: token, idempotencyKey: "one", at: TokenForge.now.adding(seconds: 599))
        #expect(again.tokens.refreshToken == first.tokens.refreshToken)
        #expect(failure(token, after: 1) == .spent)
    }

    @Test func `Without the setting a token signs in as often as it is sent`() throws {
        bench.isOneTime = false
        let first = try bench.signIn(token: token)
        #expect(try bench.signIn(token: token).sessionID != first.sessionID)
    }
}
