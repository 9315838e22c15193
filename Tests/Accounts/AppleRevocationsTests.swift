import Accounts
import AppleID
import JOSE
import TestSupport
import Testing
import UserStores

/// The outbox: what Apple is told, and what stays until it was.
struct AppleRevocationsTests {
    private let users = MemoryUserStore()
    private let apple = AppleAtWork()
    private static let old = "old:" + String(repeating: "B", count: 42) + "A"

    private func revocations(_ keys: String? = nil) throws -> AppleRevocations {
        AppleRevocations(
            server: apple.server, sealing: try keys.map { try AppleAtWork.sealing($0) } ?? AppleAtWork.sealing(),
            grants: users)
    }

    /// An account that was deleted while a grant was held.
    private func depart(_ number: UInt8, sealing: AppleGrantSealing? = nil) throws -> AppleGrant {
        let id = UUIDv7(at: TokenForge.now, random: Array(repeating: number, count: 10))
        let grant = try (sealing ?? AppleAtWork.sealing()).grant(
            refreshToken: "r0.canary-\(number)", accountID: id, clientID: AppleAtWork.client,
            obtainedAt: TokenForge.now.adding(seconds: Int64(number) - 9)
        )
        try users.keep(grant)
        return grant
    }

    @Test func `Apple's 200 ends an entry, and it is told the token and the client`() throws {
        let grant = try depart(1)
        let outcome = try #require(try revocations().carryOutNext(at: TokenForge.now))
        #expect(outcome.failure == nil && outcome.revocation.grant == grant)
        let form = try #require(apple.forms.first)
        #expect(form["token"] == "r0.canary-1" && form["token_type_hint"] == "refresh_token")
        #expect(form["client_id"] == AppleAtWork.client)
        #expect(apple.requests.first?.url == "https://appleid.apple.com/auth/revoke")
        #expect(try users.revocations(limit: 9).isEmpty)
        #expect(try revocations().carryOutNext(at: TokenForge.now.adding(seconds: 1_000_000)) == nil)
    }

    private static let failures: [((Int, String)?, String, concernsAll: Bool, hasRemedy: Bool)] = [
        (nil, "apple_no_answer", true, false), ((500, ""), "apple_status", true, false),
        ((200, #"{"error":"invalid_client"}"#), "apple_invalid_client", true, true),
        (AppleAtWork.error("invalid_client"), "apple_invalid_client", true, true),
        (AppleAtWork.error("unauthorized_client"), "apple_unauthorized_client", false, true),
        (AppleAtWork.error("invalid_grant"), "apple_invalid_grant", false, true),
        (AppleAtWork.error("invalid_request"), "apple_invalid_request", false, false),
        (AppleAtWork.error("canary"), "apple_error", false, false),
    ]

    @Test(arguments: failures.indices)
    func `Whatever else Apple says, the entry stays and is due again later`(_ index: Int) throws {
        let (answer, word, concernsAll, hasRemedy) = Self.failures[index]
        let grant = try depart(1)
        apple.answer = answer
        let outcome = try #require(try revocations().carryOutNext(at: TokenForge.now))
        let failure = try #require(outcome.failure)
        #expect(failure.word == word && failure.concernsAll == concernsAll && (failure.remedy != nil) == hasRemedy)
        #expect(!"\(failure)".contains("canary"))
        #expect(try users.revocations(limit: 9).map(\.grant) == [grant])
        #expect(try revocations().carryOutNext(at: TokenForge.now.adding(seconds: 59)) == nil)
        apple.answer = (200, "")
        #expect(try revocations().carryOutNext(at: TokenForge.now.adding(seconds: 60))?.failure == nil)
        #expect(try users.revocations(limit: 9).isEmpty)
    }

    @Test func `An entry whose key is gone stays, is not sent, and keeps no other back`() throws {
        let lost = try depart(1, sealing: try AppleAtWork.sealing(Self.old))
        _ = try depart(2)
        let first = try #require(try revocations().carryOutNext(at: TokenForge.now))
        #expect(first.failure == .cannotBeOpened && first.failure?.concernsAll == false)
        #expect(first.failure?.remedy?.contains("AUTH_APPLE_ENCRYPTION_KEYS") == true)
        #expect(apple.requests.isEmpty)
        #expect(try revocations().carryOutNext(at: TokenForge.now)?.failure == nil)
        #expect(try users.revocations(limit: 9).map(\.grant) == [lost])
    }

    @Test func `Resealing puts a grant under the first key; the token is the same`() throws {
        let both = try AppleAtWork.sealing("new:" + String(repeating: "A", count: 43) + "," + Self.old)
        let grant = try depart(1, sealing: try AppleAtWork.sealing(Self.old))
        guard case .resealed(let new) = try both.resealing(grant) else {
            Issue.record("it was sealed under the old key")
            return
        }
        #expect(new.keyID == "new" && new.obtainedAt == grant.obtainedAt)
        #expect(try AppleAtWork.sealing().refreshToken(in: new) == "r0.canary-1")
        #expect(try both.resealing(new) == .current)
        #expect(try AppleAtWork.sealing().resealing(grant) == .lost)
        try users.replace(grant, by: new)
        #expect(try revocations().carryOutNext(at: TokenForge.now)?.failure == nil)
        #expect(apple.forms.first?["token"] == "r0.canary-1")
    }
}
