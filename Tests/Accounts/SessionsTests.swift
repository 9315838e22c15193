import Accounts
import JOSE
import TestSupport
import Testing

/// What a person does with their sessions.
struct SessionsTests {
    private let bench = SignInBench()
    private let now = TokenForge.now
    private let origin = AuditEntry.Origin(requestID: "request-2", sourceAddress: "2001:db8::1")

    private func last(_ account: Account) throws -> AuditEntry? { try bench.users.audit(of: account.id).last }

    private func isAlive(_ id: UUIDv7) throws -> Bool { try bench.users.session(id) != nil }

    @Test func `The list has one's own living sessions, the youngest first, and says which one asks`() throws {
        let old = try bench.signIn(device: ["name": "old"])
        let asking = try bench.signIn(device: ["name": "asking"], at: now.adding(seconds: 1))
        let young = try bench.signIn(device: ["name": "young"], at: now.adding(seconds: 2))
        let stranger = try bench.signIn(TokenForge(subject: "stranger"))
        let (list, current) = try bench.sessions.list(
            accessToken: asking.tokens.accessToken, at: now.adding(seconds: 3))
        #expect(list.map(\.id) == [young.sessionID, asking.sessionID, old.sessionID])
        #expect(current == asking.sessionID)
        #expect(!list.contains { $0.id == stranger.sessionID })
        #expect(list.map { $0.deviceInfo.json["name"] } == ["young", "asking", "old"])
    }

    @Test func `A session that has run out is in no list, and opens none, though its access token still lives`() throws
    {
        bench.policy.sessionSeconds = 100
        let short = try bench.signIn()
        bench.policy.sessionSeconds = 31_536_000
        let long = try bench.signIn()
        let later = now.adding(seconds: 100)
        #expect(try bench.sessions.list(accessToken: long.tokens.accessToken, at: later).sessions.count == 1)
        #expect(throws: SessionFailure.refused(.sessionExpired)) {
            try bench.sessions.current(accessToken: short.tokens.accessToken, at: later)
        }
    }

    @Test func `Logging out by refresh token ends the session: no token of it is good after that`() throws {
        let signedIn = try bench.signIn()
        let other = try bench.signIn()
        try bench.sessions.logOut(refreshToken: signedIn.tokens.refreshToken, origin: origin, at: now)
        #expect(throws: SessionFailure.refused(.sessionUnknown)) { try bench.refresh(signedIn.tokens.refreshToken) }
        #expect(throws: SessionFailure.refused(.sessionUnknown)) {
            try bench.sessions.current(accessToken: signedIn.tokens.accessToken, at: now)
        }
        #expect(try isAlive(other.sessionID))
        let entry = try last(signedIn.account)
        #expect(entry?.event == .loggedOut && entry?.sessionID == signedIn.sessionID && entry?.origin == origin)
    }

    @Test func `Logging out by access token does the same`() throws {
        let signedIn = try bench.signIn()
        let other = try bench.signIn()
        try bench.sessions.logOut(accessToken: signedIn.tokens.accessToken, origin: origin, at: now)
        #expect(throws: SessionFailure.refused(.sessionUnknown)) { try bench.refresh(signedIn.tokens.refreshToken) }
        #expect(try isAlive(other.sessionID))
        #expect(try last(signedIn.account)?.event == .loggedOut)
    }

    @Test func `Logging out twice is logging out, and is in the audit once`() throws {
        let signedIn = try bench.signIn()
        for _ in 0..<3 {
            try bench.sessions.logOut(refreshToken: signedIn.tokens.refreshToken, origin: origin, at: now)
            try bench.sessions.logOut(accessToken: signedIn.tokens.accessToken, origin: origin, at: now)
        }
        #expect(try bench.audit(signedIn.account) == [.accountCreated, .signedIn, .loggedOut])
    }

    @Test func `Any token that was the session's once ends it, also when its answer was lost`() throws {
        for uses in 0...2 {
            let signedIn = try bench.signIn()
            var token = signedIn.tokens.refreshToken
            for _ in 0..<uses { token = try bench.refresh(token) }
            try bench.sessions.logOut(refreshToken: signedIn.tokens.refreshToken, origin: origin, at: now)
            #expect(throws: SessionFailure.refused(.sessionUnknown)) { try bench.refresh(token) }
        }
    }

    @Test func `Who knows the name of a session and no token of it cannot log it out`() throws {
        let signedIn = try bench.signIn()
        let madeUp = RefreshToken(
            sessionID: signedIn.sessionID, secret: SecretBytes([UInt8](repeating: 1, count: 32)),
            salt: [UInt8](repeating: 2, count: 32), using: TokenForge.cryptography)
        #expect(throws: SessionFailure.refused(.refreshUnknown)) {
            try bench.sessions.logOut(refreshToken: madeUp.text, origin: origin, at: now)
        }
        #expect(throws: SessionFailure.refused(.refreshMalformed)) {
            try bench.sessions.logOut(refreshToken: signedIn.sessionID.description, origin: origin, at: now)
        }
        #expect(throws: SessionFailure.refused(.accessTokenMissing)) {
            try bench.sessions.logOut(accessToken: nil, origin: origin, at: now)
        }
        #expect(try isAlive(signedIn.sessionID))
    }

    @Test func `One ends one's other sessions one by one, and one's own`() throws {
        let asking = try bench.signIn()
        let other = try bench.signIn()
        let token = asking.tokens.accessToken
        try bench.sessions.end(other.sessionID, accessToken: token, origin: origin, at: now)
        let entry = try last(asking.account)
        #expect(entry?.event == .sessionEnded && entry?.sessionID == other.sessionID && entry?.origin == origin)
        #expect(throws: SessionFailure.refused(.sessionUnknown)) { try bench.refresh(other.tokens.refreshToken) }
        #expect(throws: SessionFailure.noSuchSession) {
            try bench.sessions.end(other.sessionID, accessToken: token, origin: origin, at: now)
        }
        try bench.sessions.end(asking.sessionID, accessToken: token, origin: origin, at: now)
        #expect(throws: SessionFailure.refused(.sessionUnknown)) {
            try bench.sessions.end(other.sessionID, accessToken: token, origin: origin, at: now)
        }
    }

    @Test func `Another person's session is as unknown as one that never was, and lives on`() throws {
        let asking = try bench.signIn()
        let stranger = try bench.signIn(TokenForge(subject: "stranger"))
        for id in [stranger.sessionID, UUIDv7(at: now, random: [UInt8](repeating: 1, count: 10))] {
            #expect(throws: SessionFailure.noSuchSession) {
                try bench.sessions.end(id, accessToken: asking.tokens.accessToken, origin: origin, at: now)
            }
        }
        #expect(try isAlive(stranger.sessionID))
        #expect(try bench.audit(stranger.account) == [.accountCreated, .signedIn])
    }

    @Test func `Ending all others leaves the one that asks, and every other person's`() throws {
        let others = try (0..<3).map { _ in try bench.signIn() }
        let asking = try bench.signIn()
        let stranger = try bench.signIn(TokenForge(subject: "stranger"))
        try bench.sessions.endOthers(accessToken: asking.tokens.accessToken, origin: origin, at: now)
        #expect(try bench.users.sessions(of: asking.account.id, at: now).map(\.id) == [asking.sessionID])
        #expect(try isAlive(stranger.sessionID))
        let ended = try bench.users.audit(of: asking.account.id).filter { $0.event == .sessionEnded }
        #expect(Set(ended.map(\.sessionID)) == Set(others.map(\.sessionID)))
        #expect(ended.allSatisfy { $0.origin == origin })
        try bench.sessions.endOthers(accessToken: asking.tokens.accessToken, origin: origin, at: now)
        #expect(try bench.users.audit(of: asking.account.id).count { $0.event == .sessionEnded } == 3)
    }

    @Test func `A session that was ended does nothing any more, while its access token has not expired`() throws {
        let asking = try bench.signIn()
        let victim = try bench.signIn()
        try bench.sessions.logOut(refreshToken: asking.tokens.refreshToken, origin: origin, at: now)
        let token = asking.tokens.accessToken
        let gone = SessionFailure.refused(.sessionUnknown)
        #expect(throws: gone) { try bench.sessions.list(accessToken: token, at: now) }
        #expect(throws: gone) { try bench.sessions.endOthers(accessToken: token, origin: origin, at: now) }
        #expect(throws: gone) {
            try bench.sessions.end(victim.sessionID, accessToken: token, origin: origin, at: now)
        }
        #expect(try isAlive(victim.sessionID))
    }

    @Test func `A disabled account sees nothing, opens nothing, and its sessions are gone when it comes back`() throws {
        let signedIn = try bench.signIn()
        try bench.disable(signedIn.account)
        #expect(throws: SessionFailure.refused(.sessionUnknown)) { try bench.refresh(signedIn.tokens.refreshToken) }
        for _ in 0..<2 { #expect(throws: SignInFailure.accountDisabled) { try bench.signIn() } }
        let refused = try #require(try last(signedIn.account))
        #expect(refused.event == .signInRefused && refused.reason == "disabled" && refused.sessionID == nil)
        #expect(refused.origin == SignInBench.origin)
        #expect(bench.users.sessions.count == 1)

        bench.users.showsAccountsDisabled = true
        let other = try bench.signIn(TokenForge(subject: "other"))
        #expect(throws: SessionFailure.accountDisabled) {
            try bench.sessions.current(accessToken: other.tokens.accessToken, at: now)
        }
    }

    /// A case of each, so that a reason that is added has a test.
    @Test(arguments: SessionRefusal.allCases)
    func `Every refusal is reached, and has its own word`(_ refusal: SessionRefusal) throws {
        let signedIn = try bench.signIn()
        let access = signedIn.tokens.accessToken
        let refresh = signedIn.tokens.refreshToken
        func changed(_ name: String, _ value: JSON) throws -> String {
            let payload = try #require(Base64URL.decode(String(access.split(separator: ".")[1])))
            var claims = try #require(try JSON(parsing: payload, limits: JSON.Limits(bytes: 8192)).object)
            claims[name] = value
            return try CompactJWS.signed(
                JSON.object(claims).serialized(), type: "at+jwt", by: SignInBench.signingKey,
                using: TokenForge.cryptography)
        }
        func current(_ token: String?, after seconds: Int64 = 0) throws {
            _ = try bench.sessions.current(accessToken: token, at: now.adding(seconds: seconds))
        }
        #expect(throws: SessionFailure.refused(refusal)) {
            switch refusal {
            case .accessTokenMissing: try current(nil)
            case .accessTokenMalformed: try current("x")
            case .accessTokenKey: try current(TokenForge().withHeader(["typ": "at+jwt"]).token)
            case .accessTokenSignature: try current(String(access.prefix { $0 != "." }) + ".e30." + "AAAA")
            case .accessTokenIssuer: try current(changed("iss", "x"))
            case .accessTokenAudience: try current(changed("aud", "x"))
            case .accessTokenExpired: try current(access, after: 900)
            case .refreshMalformed: _ = try bench.refresh("x")
            case .refreshUnknown:
                _ = try bench.refresh(
                    RefreshToken(
                        sessionID: signedIn.sessionID, secret: SecretBytes([1]), salt: [2],
                        using: TokenForge.cryptography
                    ).text.padding86)
            case .refreshReused:
                _ = try bench.refresh(try bench.refresh(refresh))
                _ = try bench.refresh(refresh)
            case .sessionExpired: _ = try bench.refresh(refresh, at: now.adding(seconds: 2_592_000))
            case .sessionUnknown:
                try bench.sessions.logOut(refreshToken: refresh, origin: origin, at: now)
                _ = try bench.refresh(refresh)
            }
        }
        #expect(SessionRefusal.allCases.count { $0.rawValue == refusal.rawValue } == 1)
    }

    @Test func `A store that is down is an outage, for every use`() throws {
        let down = StoreError.unavailable(reason: "down")
        let sessions = TestService(users: FailingUsers(error: down)).sessions
        let token = try TestService(users: bench.users).open("1", at: now).token.text
        #expect(throws: SessionFailure.store(down)) { try sessions.refresh(token, origin: origin, at: now) }
        #expect(throws: SessionFailure.store(down)) {
            try sessions.logOut(refreshToken: token, origin: origin, at: now)
        }
    }
}

extension String {
    /// A token of the right length, whatever it was made of.
    fileprivate var padding86: String { String((prefix(22) + String(repeating: "A", count: 86)).prefix(86)) }
}
