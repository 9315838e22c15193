import Accounts
import AppleID
import JOSE
import TestSupport
import Testing

struct ProfileTests {
    let bench = SignInBench()

    @Test func `An e-mail in the body is neither identity nor verified, and not even kept beside the token's`() throws {
        let victim = try bench.signIn(TokenForge(subject: "victim").with(["email": "victim@example.com"]))
        let other = try bench.signIn(TokenForge(subject: "attacker"), email: "victim@example.com")
        #expect(other.account.id != victim.account.id)
        #expect(other.account.profile.email?.address == "x7k2m9@privaterelay.appleid.com")
        #expect(other.account.profile.contactEmail == nil)
    }

    @Test func `An e-mail in the body is kept as a contact when the token carries none, and is no e-mail`() throws {
        let profile = try bench.signIn(TokenForge().withoutEmail, email: "ana@example.com").account.profile
        #expect(profile.email == nil)
        #expect(profile.contactEmail == "ana@example.com")
    }

    @Test func `A contact stays when a later body brings another, and when Apple's address comes`() throws {
        try bench.signIn(TokenForge().withoutEmail, email: "ana@example.com")
        #expect(
            try bench.signIn(TokenForge().withoutEmail, email: "mallory@example.com").account.profile.contactEmail
                == "ana@example.com")
        let profile = try bench.signIn(email: "mallory@example.com").account.profile
        #expect(profile.email?.address == "x7k2m9@privaterelay.appleid.com")
        #expect(profile.contactEmail == "ana@example.com")
    }

    @Test func `The e-mail of a later token replaces the stored one: Apple verified it, and aliases change`() throws {
        try bench.signIn(name: "Ana Pérez")
        let later = TokenForge().with([
            "email": "ana@example.com", "email_verified": "true", "is_private_email": "false",
        ])
        let account = try bench.signIn(later, at: TokenForge.now.adding(seconds: 60)).account
        #expect(account.profile.email == AppleEmail(address: "ana@example.com", isVerified: true, isPrivate: false))
        #expect(account.profile.fullName == "Ana Pérez")
        #expect(account.updatedAt == TokenForge.now.adding(seconds: 60))
    }

    @Test(arguments: [JSON?.none, .null, "", .integer(1), .array(["a@example.com"])])
    func `A token with no usable e-mail signs in and overwrites none`(_ email: JSON?) throws {
        try bench.signIn()
        let account = try bench.signIn(TokenForge().with(["email": email])).account
        #expect(account.profile.email?.address == "x7k2m9@privaterelay.appleid.com")
    }

    @Test func `A first login without name and e-mail is a login: nothing is made up`() throws {
        let signedIn = try bench.signIn(TokenForge().withoutEmail)
        #expect(signedIn.isNew)
        #expect(signedIn.account.profile == Profile())
    }

    @Test func `An account that learnt nothing new is equal to what it was, its time of change included`() throws {
        let first = try bench.signIn(name: "Ana Pérez").account
        #expect(try bench.signIn(name: "Ana Pérez", at: TokenForge.now.adding(seconds: 60)).account == first)
    }
}
