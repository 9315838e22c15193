import Accounts
import AppleID
import JOSE
import TestSupport
import Testing
import UserStores

/// What becomes of an authorization code after the answer.
struct AppleCodeExchangeTests {
    private let users = MemoryUserStore()
    private let apple = AppleAtWork()
    private static let secret = "r0.canary-refresh-token"

    private func exchange(
        _ account: UUIDv7, grants: (any AppleGrantRepository)? = nil, keys: FixedKeys = TokenForge.keys,
        redirectURI: String? = nil
    ) throws -> CodeExchangeFailure? {
        let policy = try #require(TokenPolicy(audiences: [AppleAtWork.client, "com.finnova.web"]))
        let exchange = AppleCodeExchange(
            server: apple.server, sealing: try AppleAtWork.sealing(), grants: grants ?? users,
            verifier: AppleTokenVerifier(policy: policy, cryptography: TokenForge.cryptography), appleKeys: keys)
        let code = AuthorizationCode(
            code: SecretBytes(Array("c0.canary-code".utf8)), accountID: account, subject: TokenForge.subject,
            clientID: AppleAtWork.client, redirectURI: redirectURI)
        do throws(CodeExchangeFailure) {
            try exchange(code, at: TokenForge.now)
            return nil
        } catch {
            return error
        }
    }

    @Test func `A code gives a grant that is sealed, and opens for its account and client`() throws {
        let id = try users.join().account.id
        apple.answer = AppleAtWork.tokens(Self.secret)
        #expect(try exchange(id) == nil)
        let form = try #require(apple.forms.first)
        #expect(form["grant_type"] == "authorization_code" && form["code"] == "c0.canary-code")
        #expect(form["client_id"] == AppleAtWork.client && form["redirect_uri"] == nil)
        let grant = try #require(try users.grants(of: id).first)
        #expect(grant.clientID == AppleAtWork.client && grant.keyID == "new" && grant.obtainedAt == TokenForge.now)
        #expect(try AppleAtWork.sealing().refreshToken(in: grant) == Self.secret)
        #expect(!String(decoding: grant.sealed, as: UTF8.self).contains("canary"))
    }

    @Test func `A code of the web flow is exchanged with its redirect_uri`() throws {
        apple.answer = AppleAtWork.tokens(Self.secret)
        #expect(try exchange(try users.join().account.id, redirectURI: "https://auth.example/callback") == nil)
        #expect(apple.forms.first?["redirect_uri"] == "https://auth.example/callback")
    }

    private static let tokensOfOthers: [(TokenForge, String)] = [
        (TokenForge(subject: "001.another"), "code_of_another_person"),
        (TokenForge(audience: "com.finnova.web"), "code_of_another_client"),
        (TokenForge(audience: "com.stranger.app"), "code_id_token_audience"),
        (TokenForge().with(["at_hash": "AAAAAAAAAAAAAAAAAAAAAA"]), "code_at_hash"),
        (TokenForge(key: TokenForge.foreignKey), "code_id_token_kid_unknown"),
    ]

    @Test(arguments: tokensOfOthers.indices)
    func `A code of somebody else, or for another app, leaves nothing`(_ index: Int) throws {
        let id = try users.join().account.id
        apple.answer = AppleAtWork.tokens(Self.secret, of: Self.tokensOfOthers[index].0)
        #expect(try exchange(id)?.word == Self.tokensOfOthers[index].1)
        #expect(try users.grants(of: id).isEmpty)
    }

    @Test func `What fails says why in a word, and holds nothing of the code or the token`() throws {
        let id = try users.join().account.id
        let down = FailingUsers(error: .unavailable(reason: "disk"))
        let noKeys = FixedKeys(unavailable: KeysUnavailable(reason: "no keys", retryAfter: 5))
        let good = AppleAtWork.tokens(Self.secret)
        let cases: [((Int, String)?, FailingUsers?, FixedKeys, String, String?)] = [
            (AppleAtWork.error("invalid_grant"), nil, TokenForge.keys, "apple_invalid_grant", nil),
            (AppleAtWork.error("invalid_client"), nil, TokenForge.keys, "apple_invalid_client", nil),
            ((503, "canary"), nil, TokenForge.keys, "apple_status", "status 503"),
            (nil, nil, TokenForge.keys, "apple_no_answer", "connection: nobody is there"),
            (good, nil, noKeys, "code_keys_unavailable", "no keys"),
            (good, down, TokenForge.keys, "store_unavailable", "disk"),
        ]
        for (answer, grants, keys, word, detail) in cases {
            apple.answer = answer
            let failure = try #require(try exchange(id, grants: grants, keys: keys))
            #expect(failure.word == word && failure.detail == detail)
            #expect(!"\(failure)".contains("canary"))
            #expect(try users.grants(of: id).isEmpty)
        }
    }

    /// The exchange takes its time, and the person may be gone when it is done.
    @Test func `A grant for an account that was deleted meanwhile is to be revoked`() throws {
        let id = try users.join().account.id
        _ = try users.change(account: .id(id), once: nil, at: TokenForge.now) { account, _ in
            .delete(
                revoking: true, remembering: nil,
                AuditEntry(time: TokenForge.now, event: .accountDeleted, accountID: id, origin: TestService.origin))
        }
        apple.answer = AppleAtWork.tokens(Self.secret)
        #expect(try exchange(id) == nil)
        #expect(try users.revocations(limit: 9).map(\.grant.accountID) == [id])
    }

    @Test func `A code does not show when printed or dumped`() {
        let code = AuthorizationCode(
            code: SecretBytes(Array("canary".utf8)),
            accountID: UUIDv7(at: TokenForge.now, random: Array(repeating: 1, count: 10)),
            subject: "canary", clientID: "canary")
        #expect(!Seen(code, Errand.exchange(code)).shows("canary"))
    }
}
