package import AppleID
package import JOSE

/// Sign in with Apple: a verified identity becomes an account and a session (RF04).
package struct SignIn {
    private let verifier: AppleTokenVerifier
    private let keys: any AppleKeySource
    private let users: any UserRepository
    private let issuer: TokenIssuer
    private let cryptography: any Cryptography

    package init(
        verifier: AppleTokenVerifier, keys: any AppleKeySource, users: any UserRepository, issuer: TokenIssuer,
        cryptography: any Cryptography
    ) {
        self.verifier = verifier
        self.keys = keys
        self.users = users
        self.issuer = issuer
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

        package init(
            identityToken: ArraySlice<UInt8>, nonce: String?, deviceInfo: DeviceInfo, fullName: String?, email: String?
        ) {
            self.identityToken = identityToken
            self.nonce = nonce
            self.deviceInfo = deviceInfo
            self.fullName = fullName
            self.email = email
        }
    }

    package func callAsFunction(_ request: Request, at now: UnixTime) throws(SignInFailure) -> SignedIn {
        let identity = try verify(request, at: now)
        do {
            return try open(request, for: identity, at: now)
        } catch let error as StoreError {
            throw .store(error)
        } catch let error as CryptographyError {
            throw .cryptography(error)
        } catch {
            throw .cryptography(CryptographyError("unexpected"))
        }
    }

    private func verify(_ request: Request, at now: UnixTime) throws(SignInFailure) -> AppleIdentity {
        do throws(VerificationFailure) {
            let token = try verifier.verify(request.identityToken, keys: keys, at: now)
            do throws(TokenRefusal) {
                return try token.identity(nonce: request.nonce)
            } catch {
                throw .refused(error)
            }
        } catch {
            throw .verification(error)
        }
    }

    private func open(_ request: Request, for identity: AppleIdentity, at now: UnixTime) throws -> SignedIn {
        // One draw serves the account's id, the session's, the access token's, and the refresh token's secret.
        let random = try cryptography.randomBytes(10 + 10 + 10 + 32)
        let sessionID = UUIDv7(at: now, random: Array(random[10..<20]))
        let refreshToken = RefreshToken(sessionID: sessionID, secret: SecretBytes(Array(random[30...])))
        let candidate = Account(
            id: UUIDv7(at: now, random: Array(random[0..<10])), appleSubject: identity.subject,
            profile: Profile(
                fullName: request.fullName, email: identity.email,
                contactEmail: identity.email == nil ? request.email : nil),
            createdAt: now, updatedAt: now)
        let (account, isNew, session) = try users.signIn(candidate) { account in
            Session(
                id: sessionID, accountID: account.id, clientID: identity.audience, deviceInfo: request.deviceInfo,
                refreshDigest: refreshToken.digest(using: cryptography), createdAt: now,
                expiresAt: now.adding(seconds: issuer.refreshTokenSeconds))
        }
        let accessToken = try issuer.accessToken(
            for: session, id: UUIDv7(at: now, random: Array(random[20..<30])), at: now)
        return SignedIn(
            account: account, isNew: isNew, session: session,
            tokens: IssuedTokens(
                accessToken: accessToken, accessExpiresIn: issuer.accessTokenSeconds,
                refreshToken: refreshToken.text, refreshExpiresIn: issuer.refreshTokenSeconds))
    }
}

package struct SignedIn: Sendable {
    package let account: Account
    /// Whether this login made the account: what the store said.
    package let isNew: Bool
    package let session: Session
    package let tokens: IssuedTokens
}

/// Why nobody was signed in.
package enum SignInFailure: Error, Hashable {
    case verification(VerificationFailure)
    case store(StoreError)
    case cryptography(CryptographyError)
}
