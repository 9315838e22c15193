package import AppleID
package import JOSE

/// Sign in with Apple: a verified identity becomes an account and a session (RF04).
package struct SignIn {
    private let verifier: AppleTokenVerifier
    private let appleKeys: any AppleKeySource
    private let users: any UserRepository
    private let issuer: TokenIssuer
    private let policy: SessionPolicy
    private let keys: SigningKeySet
    private let cryptography: any Cryptography

    package init(
        verifier: AppleTokenVerifier, appleKeys: any AppleKeySource, users: any UserRepository, issuer: TokenIssuer,
        policy: SessionPolicy, keys: SigningKeySet, cryptography: any Cryptography
    ) {
        self.verifier = verifier
        self.appleKeys = appleKeys
        self.users = users
        self.issuer = issuer
        self.policy = policy
        self.keys = keys
        self.cryptography = cryptography
    }

    /// What the app sends. Of all of it only the token is ever believed, and that after it is verified.
    package struct Request: Sendable {
        package var identityToken: ArraySlice<UInt8>
        package var nonce: String?
        package var deviceInfo: DeviceInfo
        /// First login only (RN-04.3).
        package var fullName: String?
        /// First login only; an unverified contact and never identity (RN-04.2, RN-04.4).
        package var email: String?
        /// Names the request, so that its repetition is answered as it was.
        package var idempotencyKey: String?
        /// What the client calls itself, by the runtime's word; kept with the session.
        package var userAgent: String?

        package init(
            identityToken: ArraySlice<UInt8>, nonce: String?, deviceInfo: DeviceInfo, fullName: String?,
            email: String?, idempotencyKey: String? = nil, userAgent: String? = nil
        ) {
            self.identityToken = identityToken
            self.nonce = nonce
            self.deviceInfo = deviceInfo
            self.fullName = fullName
            self.email = email
            self.idempotencyKey = idempotencyKey
            self.userAgent = userAgent
        }
    }

    package func callAsFunction(
        _ request: Request, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(SignInFailure) -> SignedIn {
        try open(request, for: try verify(request, at: now), origin: origin, at: now)
    }

    private func verify(_ request: Request, at now: UnixTime) throws(SignInFailure) -> AppleIdentity {
        do throws(VerificationFailure) {
            let token = try verifier.verify(request.identityToken, keys: appleKeys, at: now)
            do throws(TokenRefusal) {
                return try token.identity(nonce: request.nonce)
            } catch {
                throw .refused(error)
            }
        } catch {
            throw .verification(error)
        }
    }

    private func open(
        _ request: Request, for identity: AppleIdentity, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(SignInFailure) -> SignedIn {
        let draft: Draft
        do throws(CryptographyError) {
            draft = try Draft(using: cryptography, at: now)
        } catch {
            throw .cryptography(error)
        }
        let candidate = Account(
            id: draft.accountID, appleSubject: identity.subject,
            profile: Profile(
                fullName: request.fullName, email: identity.email,
                contactEmail: identity.email == nil ? request.email : nil),
            createdAt: now, updatedAt: now)
        let idempotency = request.idempotencyKey.map {
            Idempotency(key: $0, identityToken: request.identityToken, keys: keys, cryptography: cryptography)
        }
        var result: Result<SignedIn, SignInFailure> = .failure(.accountDisabled)
        let opening = { (account: Account, isNew: Bool) -> Opening? in
            var audit = isNew ? [AuditEntry(.accountCreated, of: account, origin: origin, at: now)] : []
            guard !account.isDisabled else {
                audit.append(AuditEntry(.signInRefused, of: account, reason: "disabled", origin: origin, at: now))
                return Opening(session: nil, audit: audit)
            }
            let session = draft.session(
                of: account, clientID: identity.audience, deviceInfo: request.deviceInfo,
                userAgent: request.userAgent, policy: policy, using: cryptography)
            audit.append(AuditEntry(.signedIn, of: account, session: session.id, origin: origin, at: now))
            do throws(CryptographyError) {
                let signedIn = SignedIn(
                    account: account, isNew: isNew, sessionID: session.id,
                    tokens: try issuer.tokens(
                        for: session, refreshToken: draft.refreshToken, id: draft.tokenID, at: now))
                result = .success(signedIn)
                return Opening(
                    session: session, audit: audit, receipt: try idempotency?.receipt(for: signedIn, at: now))
            } catch {
                result = .failure(.cryptography(error))
                return nil
            }
        }
        do throws(StoreError) {
            if case .repeated(let receipt) = try users.signIn(candidate, receipt: idempotency?.name, opening) {
                if let answer = idempotency?.signedIn(from: receipt) { return answer }
                // The key that sealed it is gone. Nobody stays outside for that: the request is carried out once more.
                _ = try users.signIn(candidate, receipt: nil, opening)
            }
        } catch {
            throw .store(error)
        }
        return try result.get()
    }

    /// What a sign-in draws at random, before any account is looked for.
    private struct Draft {
        let accountID: UUIDv7
        let sessionID: UUIDv7
        let tokenID: UUIDv7
        let salt: [UInt8]
        let refreshToken: RefreshToken
        let now: UnixTime

        init(using cryptography: any Cryptography, at now: UnixTime) throws(CryptographyError) {
            // One draw for everything.
            let random = try cryptography.randomBytes(3 * 10 + 2 * 32)
            accountID = UUIDv7(at: now, random: Array(random[0..<10]))
            sessionID = UUIDv7(at: now, random: Array(random[10..<20]))
            tokenID = UUIDv7(at: now, random: Array(random[20..<30]))
            salt = Array(random[30..<62])
            refreshToken = RefreshToken(
                sessionID: sessionID, secret: SecretBytes(Array(random[62...])), salt: salt, using: cryptography)
            self.now = now
        }

        func session(
            of account: Account, clientID: String, deviceInfo: DeviceInfo, userAgent: String?, policy: SessionPolicy,
            using cryptography: any Cryptography
        ) -> Session {
            Session(
                id: sessionID, accountID: account.id, clientID: clientID, deviceInfo: deviceInfo,
                userAgent: userAgent, createdAt: now,
                endsAt: now.adding(seconds: policy.sessionSeconds),
                refresh: RefreshState(
                    salt: salt, digest: refreshToken.digest(using: cryptography),
                    expiresAt: now.adding(seconds: policy.refreshTokenSeconds)),
                lastUsedAt: now)
        }
    }
}

package struct SignedIn: Sendable {
    package let account: Account
    /// Whether this login made the account: what the store said.
    package let isNew: Bool
    package let sessionID: UUIDv7
    package let tokens: IssuedTokens
}

/// Why nobody was signed in.
package enum SignInFailure: Error, Hashable {
    case verification(VerificationFailure)
    case accountDisabled
    case store(StoreError)
    case cryptography(CryptographyError)
}
