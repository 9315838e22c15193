import Accounts
import JOSE
import TestSupport
import Testing

struct SignInAnswerTests {
    let doorway = Doorway()

    @Test func `201, then 200: the members of design §7, and no others`() throws {
        for (status, isNew) in [(201, true), (200, false)] {
            let answer = try doorway.signIn(["full_name": "Ana Pérez"])
            #expect(answer.status == status)
            let json = answer.json
            #expect(
                json.object?.members.map(\.name) == [
                    "access_token", "token_type", "expires_in", "refresh_token", "refresh_expires_in", "is_new",
                    "user", "session",
                ])
            #expect(json["token_type"] == "Bearer")
            #expect(json["expires_in"] == .integer(900))
            #expect(json["refresh_expires_in"] == .integer(2_592_000))
            #expect(json["is_new"] == .bool(isNew))
            let user = try #require(json["user"]?.object)
            #expect(user.members.map(\.name) == ["id", "full_name", "email", "email_verified", "is_private_email"])
            #expect(user["id"]?.string.flatMap { UUIDv7($0) } != nil)
            #expect(user["full_name"] == "Ana Pérez")
            #expect(user["email"] == "x7k2m9@privaterelay.appleid.com")
            #expect(user["email_verified"] == .bool(true))
            #expect(user["is_private_email"] == .bool(true))
            let session = try #require(json["session"]?.object)
            #expect(session.members.map(\.name) == ["id"])
            #expect(
                json["refresh_token"]?.string.flatMap { RefreshToken($0) }?.sessionID.description
                    == session["id"]?.string)
        }
    }

    @Test func `What is unknown is null and never missing, and an unverified contact is no e-mail`() throws {
        let token = TokenForge().with([
            "email": JSON?.none, "email_verified": JSON?.none, "is_private_email": JSON?.none,
        ]).token
        let answer = try doorway.signIn(["identity_token": .string(token), "email": "ana@example.com"])
        #expect(answer.status == 201)
        let user = try #require(answer.json["user"])
        #expect(user["full_name"] == .null)
        #expect(user["email"] == .null)
        #expect(user["email_verified"] == .bool(false))
        #expect(user["is_private_email"] == .bool(false))
        #expect(!answer.body.contains("ana@example.com"))
    }

    @Test func `An address whose verification Apple does not tell is not verified`() throws {
        let token = TokenForge().with(["email_verified": "yes"]).token
        #expect(
            try doorway.signIn(["identity_token": .string(token)]).json["user"]?["email_verified"] == .bool(false))
    }

    @Test func `An answer with tokens is stored nowhere and taken for nothing but JSON`() throws {
        let headers = try doorway.signIn().headers
        #expect(headers["cache-control"] == "no-store")
        #expect(headers["content-type"] == "application/json")
        #expect(headers["x-content-type-options"] == "nosniff")
        #expect(headers.members.count == 3)
    }

    @Test func `The access token verifies against the key set that the function publishes`() throws {
        let token = try #require(try doorway.signIn().json["access_token"]?.string)
        let published = try KeySet(try doorway.answer("GET", "/.well-known/jwks.json").json)
        let jws = try CompactJWS(parsing: Array(token.utf8)[...], allowing: [.es256])
        let key = try published.key(named: jws.header.keyID)
        #expect(throws: Never.self) { try jws.verified(by: key, using: TokenForge.cryptography) }
    }
}
