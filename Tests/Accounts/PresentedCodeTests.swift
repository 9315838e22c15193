import Accounts
import AppleID
import JOSE
import TestSupport
import Testing

/// The authorization code beside a token, before it is exchanged: `c_hash` (OpenID Connect Core §3.3.2.10).
struct PresentedCodeTests {
    private let bench = SignInBench()

    private static func forge(of code: String) -> TokenForge {
        let hash = TokenHash.text(of: code, algorithm: .rs256, using: TokenForge.cryptography)
        return TokenForge().with(["c_hash": .string(hash)])
    }

    /// The client and `sub` that a code goes on with, or a word for what became of it.
    private func fate(_ signedIn: SignedIn) -> String {
        switch signedIn.code {
        case .presented(let code)?: "\(code.clientID) \(code.subject) \(code.redirectURI ?? "native")"
        case .dropped?: "dropped"
        case nil: "none"
        }
    }

    @Test(arguments: [CodeMismatch.refused, .ignored])
    func `The token's own code goes on, with the client that the token names`(_ policy: CodeMismatch) throws {
        bench.codes = policy
        let signedIn = try bench.signIn(Self.forge(of: "c0.code"), code: "c0.code")
        #expect(fate(signedIn) == "\(TokenForge.audience) \(TokenForge.subject) native")
        guard case .presented(let code)? = signedIn.code else { return }
        #expect(code.accountID == signedIn.account.id && code.code == SecretBytes(Array("c0.code".utf8)))
    }

    @Test func `A token that names no code lets it go on: the exchange shows whose it is`() throws {
        bench.codes = .refused
        let signedIn = try bench.signIn(TokenForge().with(["c_hash": JSON?.none]), code: "c0.code")
        #expect(fate(signedIn) == "\(TokenForge.audience) \(TokenForge.subject) native")
    }

    @Test(arguments: [JSON.string("x3KqkUYpqe2mZRkcAd-kXA"), "", .integer(1), .null])
    func `Another code is refused, and nobody is signed in`(_ hash: JSON) throws {
        bench.codes = .refused
        #expect(throws: SignInFailure.codeMismatch) {
            try bench.signIn(TokenForge().with(["c_hash": hash]), code: "c0.code")
        }
        #expect(bench.users.accounts.isEmpty)
    }

    @Test func `Another code is dropped where the policy lets the login go on`() throws {
        bench.codes = .ignored
        #expect(fate(try bench.signIn(Self.forge(of: "c0.other"), code: "c0.code")) == "dropped")
    }

    /// A code is good once; Apple may withdraw what it gave for one that comes twice (RFC 6749 §4.1.2).
    @Test func `The code of a repetition does not go on again`() throws {
        bench.codes = .refused
        let forge = Self.forge(of: "c0.code")
        #expect(fate(try bench.signIn(forge, code: "c0.code", idempotencyKey: "one")) != "none")
        #expect(fate(try bench.signIn(forge, code: "c0.code", idempotencyKey: "one")) == "none")
    }

    @Test func `Without a code nothing goes on`() throws {
        bench.codes = .refused
        #expect(fate(try bench.signIn()) == "none")
    }
}
