import Accounts
import AppleID
import JOSE
import TestSupport
import Testing

/// What a sign-in asks the store for: by which address, if any, an account is looked for beside the `sub`
/// (`LINK_VERIFIED_EMAIL`), and what must not have been used before.
struct LookupTests {
    private func address(linking: Bool, _ changes: [String: JSON?]) throws -> String? {
        let bench = SignInBench()
        bench.linksVerifiedEmail = linking
        let claims: [String: JSON?] = [
            "email": "ana@example.com", "email_verified": .bool(true), "is_private_email": .bool(false),
        ]
        try bench.signIn(TokenForge().with(claims.merging(changes) { $1 }))
        return try #require(bench.users.lookups.last).verifiedEmail
    }

    @Test func `Unless it is configured, no address is ever looked for`() throws {
        #expect(try address(linking: false, [:]) == nil)
    }

    @Test func `A verified address is looked for, and neither an unverified one nor an alias`() throws {
        #expect(try address(linking: true, [:]) == "ana@example.com")
        #expect(try address(linking: true, ["email_verified": .bool(false)]) == nil)
        #expect(try address(linking: true, ["email_verified": JSON?.none]) == nil)
        #expect(try address(linking: true, ["is_private_email": .bool(true)]) == nil)
        let alias: [String: JSON?] = ["email": "x@privaterelay.appleid.com", "is_private_email": JSON?.none]
        #expect(try address(linking: true, alias) == nil)
    }

    /// An account that is disabled learns nothing: neither a name, nor that consent is back.
    @Test func `Who may not come in changes nothing by knocking`() throws {
        let bench = SignInBench()
        let account = try bench.signIn(TokenForge().withoutEmail).account
        try bench.disable(account)
        let before = try bench.users.account(account.id)
        #expect(throws: SignInFailure.accountDisabled) {
            try bench.signIn(name: "Mallory", at: TokenForge.now.adding(seconds: 60))
        }
        #expect(try bench.users.account(account.id) == before)
    }

    @Test func `Where tokens are good once, a second request with one is no retry and is refused`() throws {
        let bench = SignInBench()
        bench.isOneTime = true
        let token = TokenForge().token
        try bench.signIn(token: token)
        #expect(throws: SignInFailure.spent) { try bench.signIn(token: token, device: ["model": "another"]) }
        #expect(bench.users.sessions.count == 1)
    }
}
