import Accounts
import AppleID
import JOSE
import TestSupport
import Testing

/// What a person gets who asks for all that is held about them.
struct PersonalDataTests {
    private let bench = SignInBench()
    private let now = TokenForge.now

    private func export(_ id: UUIDv7) throws -> JSON {
        try #require(try PersonalData(of: id, in: bench.users)).json { "at \($0.milliseconds)" }
    }

    @Test func `It has the account, every session with its whole device, and every line of the audit`() throws {
        let device: JSON = [
            "model": "iPhone17,1", "name": "Teléfono",
            "push": ["token": "abc", "flags": .array([.bool(true), .null])],
        ]
        let first = try bench.signIn(TokenForge().withoutEmail, device: device, name: "Ana", email: "ana@example.com")
        let later = now.adding(seconds: 60)
        let second = try bench.signIn(device: [:], at: later)
        _ = try bench.refresh(second.tokens.refreshToken, at: later)
        try bench.sessions.logOut(
            refreshToken: try bench.signIn().tokens.refreshToken, origin: SignInBench.origin, at: later)
        let stranger = try bench.signIn(TokenForge(subject: "stranger"), name: "Otro")
        let json = try export(first.account.id)
        #expect(
            json["account"] == [
                "id": .string(first.account.id.description), "apple_sub": .string(TokenForge.subject),
                "full_name": "Ana", "email": "x7k2m9@privaterelay.appleid.com", "email_verified": .bool(true),
                "is_private_email": .bool(true), "contact_email": "ana@example.com",
                "created_at": .string("at \(now.milliseconds)"), "updated_at": .string("at \(later.milliseconds)"),
                "disabled_at": .null, "consent_revoked_at": .null, "email_forwarding": .null,
                "apple_transfer_sub": .null,
            ])
        let sessions = try #require(json["sessions"]?.array)
        #expect(sessions.count == 2)
        #expect(sessions.map { $0["id"]?.string } == [second, first].map(\.sessionID.description))
        #expect(sessions.last?["device_info"] == device)
        #expect(sessions.last?["client_id"] == "com.finnova.app")
        #expect(sessions.map { $0["user_agent"]?.string } == [SignInBench.userAgent, SignInBench.userAgent])
        #expect(sessions.first?["last_used_at"]?.string == "at \(later.milliseconds)")
        let audit = try #require(json["audit"]?.array)
        #expect(
            audit.map { $0["event"]?.string } == [
                "account_created", "signed_in", "signed_in", "signed_in", "logged_out",
            ])
        for entry in audit {
            #expect(
                entry.object?.members.map(\.name) == [
                    "time", "event", "session", "reason", "request_id", "source_address",
                ])
            #expect(entry["source_address"] == "192.0.2.7")
        }
        #expect(!json.text.contains("Otro") && !json.text.contains(stranger.account.id.description))
    }

    @Test func `It has nothing that could be presented or compared: no token, no digest, no salt`() throws {
        let signedIn = try bench.signIn(idempotencyKey: "key-1")
        let successor = try bench.refresh(signedIn.tokens.refreshToken)
        let text = try export(signedIn.account.id).text
        let refresh = try #require(try bench.users.session(signedIn.sessionID)).0.refresh
        let seen = Seen(text)
        let previous = try #require(refresh.previous)
        for secret in [refresh.salt, refresh.digest, previous.digest] { #expect(!seen.shows(secret)) }
        for secret in [signedIn.tokens.refreshToken, signedIn.tokens.accessToken, successor, "key-1"] {
            #expect(!text.contains(secret))
        }
        #expect(seen.shows(signedIn.sessionID.description))
    }

    @Test func `A session that has expired and was not purged is held, so it is in it`() throws {
        bench.policy.sessionSeconds = 1
        let signedIn = try bench.signIn()
        #expect(try bench.users.sessions(of: signedIn.account.id, at: now.adding(seconds: 5)).isEmpty)
        #expect(try export(signedIn.account.id)["sessions"]?.array?.count == 1)
    }

    @Test func `Of nobody there is nothing`() throws {
        #expect(try PersonalData(of: UUIDv7(at: now, random: [UInt8](repeating: 1, count: 10)), in: bench.users) == nil)
    }
}
