package import AppleID
package import JOSE

/// Sign in with Apple: a verified identity becomes an account and a session (RF04).
package struct SignIn {
    let verifier: AppleTokenVerifier
    let appleKeys: any AppleKeySource
    let users: any UserRepository
    let issuer: TokenIssuer
    let policy: SignInPolicy
    let keys: SigningKeySet
    let cryptography: any Cryptography

    package init(
        verifier: AppleTokenVerifier, appleKeys: any AppleKeySource, users: any UserRepository, issuer: TokenIssuer,
        policy: SignInPolicy, keys: SigningKeySet, cryptography: any Cryptography
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
        /// Apple's authorization code that came with the token, where `SignInPolicy.codes` wants it.
        package var code: SecretBytes?
        package var client: Client

        package init(
            identityToken: ArraySlice<UInt8>, nonce: String?, code: SecretBytes? = nil, client: Client
        ) {
            self.identityToken = identityToken
            self.nonce = nonce
            self.code = code
            self.client = client
        }
    }

    /// What a client says of itself and of the person beside what proves who they are. None of it is believed.
    package struct Client: Sendable {
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
            deviceInfo: DeviceInfo, fullName: String? = nil, email: String? = nil, idempotencyKey: String? = nil,
            userAgent: String? = nil
        ) {
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
        let (identity, expiry) = try verify(request, at: now)
        let binding = try judge(request.code, with: identity)
        var signedIn = try open(
            Arrival(
                identity: identity, credential: request.identityToken, client: request.client,
                marks: policy.isOneTime ? [mark(of: request.identityToken, until: expiry)] : [],
                retryKey: policy.isOneTime ? retryKey(of: request) : nil),
            origin: origin, at: now)
        signedIn.code = code(of: request, binding, for: signedIn, of: identity)
        return signedIn
    }

    private func verify(_ request: Request, at now: UnixTime) throws(SignInFailure) -> (AppleIdentity, UnixTime) {
        do throws(VerificationFailure) {
            let token = try verifier.verify(request.identityToken, keys: appleKeys, at: now)
            do throws(TokenRefusal) {
                return (try token.identity(nonce: request.nonce), token.expiresAt)
            } catch {
                throw .refused(error)
            }
        } catch {
            throw .verification(error)
        }
    }

    /// Names a token by what is signed of it: a signature may have more than one spelling.
    private func mark(of token: ArraySlice<UInt8>, until expiry: UnixTime) -> Mark {
        let end = token.lastIndex(of: UInt8(ascii: ".")) ?? token.endIndex
        let name = cryptography.sha256((Array("auth-apple token ".utf8) + token[..<end])[...])
        return Mark(name: name, expiresAt: expiry)
    }

    /// Equal for two requests that say the same: then the second is the retry of a client whose answer was lost.
    private func retryKey(of request: Request) -> [UInt8] {
        let client = request.client
        let said = JSON.array([
            .string(orNull: request.nonce), client.deviceInfo.json, .string(orNull: client.fullName),
            .string(orNull: client.email), .string(orNull: request.code.map { Base64URL.encode($0.bytes) }),
        ])
        return cryptography.sha256((Array("retry ".utf8) + said.serialized())[...])
    }
}

/// What is decided by configuration about signing in.
package struct SignInPolicy: Sendable {
    package var sessions: SessionPolicy
    /// An identity token opens one session and no more (`ONE_TIME_TOKENS`).
    package var isOneTime: Bool
    /// An unknown `sub` with a verified address finds the owner's account that has the same (`LINK_VERIFIED_EMAIL`).
    package var linksVerifiedEmail: Bool
    /// What becomes of a sign-in whose code is not the token's (`CODE_MISMATCH`); nil where codes are not looked at.
    package var codes: CodeMismatch?

    package init(
        sessions: SessionPolicy = SessionPolicy(), isOneTime: Bool = false, linksVerifiedEmail: Bool = false,
        codes: CodeMismatch? = nil
    ) {
        self.sessions = sessions
        self.isOneTime = isOneTime
        self.linksVerifiedEmail = linksVerifiedEmail
        self.codes = codes
    }
}

package struct SignedIn: Sendable {
    package let account: Account
    /// Whether this login made the account: what the store said.
    package let isNew: Bool
    /// The client that signed in, by the audience of its token; nil where nobody signed in just now.
    package let clientID: String?
    package let sessionID: UUIDv7
    package let tokens: IssuedTokens
    /// What became of the code that came with this sign-in.
    package internal(set) var code: PresentedCode?
}

/// Why nobody was signed in.
package enum SignInFailure: Error, Hashable {
    case verification(VerificationFailure)
    /// What proves who signs in is good, and only once, and was used before.
    case spent
    /// The authorization code is not the one that Apple issued with the token.
    case codeMismatch
    case accountDisabled
    case store(StoreError)
    case cryptography(CryptographyError)
}
