package import JOSE

/// What can be done with a session after sign-in: refresh it, end it, look at it.
package struct Sessions {
    private let users: any UserRepository
    private let issuer: TokenIssuer
    private let rotation: RefreshRotation
    private let verifier: AccessTokenVerifier
    private let cryptography: any Cryptography

    package init(
        users: any UserRepository, issuer: TokenIssuer, rotation: RefreshRotation, verifier: AccessTokenVerifier,
        cryptography: any Cryptography
    ) {
        self.users = users
        self.issuer = issuer
        self.rotation = rotation
        self.verifier = verifier
        self.cryptography = cryptography
    }

    /// The session that a refresh token was made for; nil when there is none, or we did not make the token. Says nothing of
    /// whether the token is still good.
    package func session(named text: String) throws(SessionFailure) -> UUIDv7? {
        guard let token = RefreshToken(text) else { return nil }
        var found: (Session, Account)?
        try users.carryingOut { users throws(StoreError) in found = try users.session(token.sessionID) }
        guard let (session, _) = found, token.isGenuine(salt: session.refresh.salt, using: cryptography) else {
            return nil
        }
        return session.id
    }

    /// New tokens for a refresh token. Every use rotates it; two uses at once, from whatever processes, get the same
    /// successor, because the store lets one of them come first and the other falls into the grace.
    package func refresh(
        _ text: String, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(SessionFailure) -> SignedIn {
        guard let token = RefreshToken(text) else { throw .refused(.refreshMalformed) }
        var result: Result<(Account, Session, RefreshToken), SessionFailure> = .failure(.refused(.sessionUnknown))
        try users.carryingOut { users throws(StoreError) in
            try users.change(session: token.sessionID) { session, account in
                switch rotation.verdict(on: token, for: session, at: now) {
                case .unknown:
                    result = .failure(.refused(.refreshUnknown))
                    return .keep
                case .expired:
                    result = .failure(.refused(.sessionExpired))
                    return .keep
                case .reused:
                    result = .failure(.refused(.refreshReused))
                    return .end(
                        AuditEntry(
                            time: now, event: .refreshReused, accountID: account.id, sessionID: session.id,
                            origin: origin))
                case .rotated(let rotated, let successor):
                    guard !account.isDisabled else {
                        result = .failure(.accountDisabled)
                        return .keep
                    }
                    result = .success((account, rotated, successor))
                    return .update(rotated)
                case .repeated(let successor):
                    guard !account.isDisabled else {
                        result = .failure(.accountDisabled)
                        return .keep
                    }
                    result = .success((account, session, successor))
                    return .keep
                }
            }
        }
        let (account, session, successor) = try result.get()
        return try signedIn(account, session, successor, at: now)
    }

    private func signedIn(
        _ account: Account, _ session: Session, _ token: RefreshToken, at now: UnixTime
    ) throws(SessionFailure) -> SignedIn {
        do throws(CryptographyError) {
            return SignedIn(
                account: account, isNew: false, clientID: nil, sessionID: session.id,
                tokens: try issuer.tokens(
                    for: session, refreshToken: token, id: UUIDv7(at: now, random: try cryptography.randomBytes(10)),
                    at: now))
        } catch {
            throw .cryptography(error)
        }
    }

    /// Ends the session of a refresh token. A session that is gone already is no failure: logging out twice is logging out.
    package func logOut(
        refreshToken text: String, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(SessionFailure) {
        guard let token = RefreshToken(text) else { throw .refused(.refreshMalformed) }
        var failure: SessionFailure?
        try users.carryingOut { users throws(StoreError) in
            try users.change(session: token.sessionID) { session, account in
                guard token.isGenuine(salt: session.refresh.salt, using: cryptography) else {
                    failure = .refused(.refreshUnknown)
                    return .keep
                }
                return .end(Self.ended(session, event: .loggedOut, origin: origin, at: now))
            }
        }
        if let failure { throw failure }
    }

    /// Ends the session of an access token.
    package func logOut(
        accessToken: String?, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(SessionFailure) {
        let claims = try verified(accessToken, at: now)
        try end(claims.sessionID, of: claims.accountID, event: .loggedOut, origin: origin, at: now)
    }

    /// The account and the session of an access token, if the session still lives.
    package func current(accessToken: String?, at now: UnixTime) throws(SessionFailure) -> (Account, Session) {
        let claims = try verified(accessToken, at: now)
        var found: (Session, Account)?
        try users.carryingOut { users throws(StoreError) in found = try users.session(claims.sessionID) }
        guard let (session, account) = found, session.accountID == claims.accountID else {
            throw .refused(.sessionUnknown)
        }
        guard session.isAlive(at: now) else { throw .refused(.sessionExpired) }
        guard !account.isDisabled else { throw .accountDisabled }
        return (account, session)
    }

    /// The sessions of the account of an access token, and which of them the token belongs to.
    package func list(
        accessToken: String?, at now: UnixTime
    ) throws(SessionFailure) -> (sessions: [Session], current: UUIDv7) {
        let (account, session) = try current(accessToken: accessToken, at: now)
        var sessions: [Session] = []
        try users.carryingOut { users throws(StoreError) in sessions = try users.sessions(of: account.id, at: now) }
        return (sessions, session.id)
    }

    /// Ends one session of one's own. Another person's is as unknown as one that never was.
    package func end(
        _ id: UUIDv7, accessToken: String?, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(SessionFailure) {
        let (account, _) = try current(accessToken: accessToken, at: now)
        guard try end(id, of: account.id, event: .sessionEnded, origin: origin, at: now) else {
            throw .noSuchSession
        }
    }

    /// Ends all one's sessions but the one that asks.
    package func endOthers(
        accessToken: String?, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(SessionFailure) {
        let (account, session) = try current(accessToken: accessToken, at: now)
        try users.carryingOut { users throws(StoreError) in
            _ = try users.endSessions(of: account.id, except: session.id) { other in
                Self.ended(other, event: .sessionEnded, origin: origin, at: now)
            }
        }
    }

    private func verified(_ accessToken: String?, at now: UnixTime) throws(SessionFailure) -> AccessTokenClaims {
        guard let accessToken else { throw .refused(.accessTokenMissing) }
        do throws(SessionRefusal) {
            return try verifier.verify(Array(accessToken.utf8)[...], at: now)
        } catch {
            throw .refused(error)
        }
    }

    @discardableResult
    private func end(
        _ id: UUIDv7, of accountID: UUIDv7, event: AuditEntry.Event, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(SessionFailure) -> Bool {
        var isFound = false
        try users.carryingOut { users throws(StoreError) in
            try users.change(session: id) { session, account in
                guard account.id == accountID else { return .keep }
                isFound = true
                return .end(Self.ended(session, event: event, origin: origin, at: now))
            }
        }
        return isFound
    }

    private static func ended(
        _ session: Session, event: AuditEntry.Event, origin: AuditEntry.Origin, at now: UnixTime
    ) -> AuditEntry {
        AuditEntry(time: now, event: event, accountID: session.accountID, sessionID: session.id, origin: origin)
    }
}

extension UserRepository {
    /// A store's failure as a session's.
    fileprivate func carryingOut(
        _ work: (any UserRepository) throws(StoreError) -> Void
    ) throws(SessionFailure) {
        do throws(StoreError) {
            try work(self)
        } catch {
            throw .store(error)
        }
    }
}
