internal import AppleID
package import JOSE

/// Sign in with Apple where there is no native button: the browser goes to Apple's page and comes back (OpenID Connect Core
/// §3.3, with `form_post`), and the app gets a code of ours that it exchanges for a session.
///
/// No process remembers a flow: what has to be known later travels sealed. The store is asked for the first time when the code
/// is exchanged.
package struct WebSignIn {
    package let client: WebClient
    private let signIn: SignIn
    /// Takes tokens for the Services ID alone: one that was made for the native app does not sign in here (mix-up).
    private let verifier: AppleTokenVerifier
    private let cryptography: any Cryptography

    package init(client: WebClient, signIn: SignIn) {
        self.client = client
        self.signIn = signIn
        cryptography = signIn.cryptography
        var policy = signIn.verifier.policy
        policy.audiences = [client.id]
        policy.requiresNonce = true
        verifier = AppleTokenVerifier(policy: policy, cryptography: signIn.cryptography)
    }

    /// What the app asks for when it sends a browser here.
    package struct Request: Sendable {
        package var returnURL: ReturnURL
        package var challenge: CodeChallenge
        package var appState: String?

        package init(returnURL: ReturnURL, challenge: CodeChallenge, appState: String?) {
            self.returnURL = returnURL
            self.challenge = challenge
            self.appState = appState
        }
    }

    /// Begins a flow.
    ///
    /// - Parameter known: what the browser holds already.
    /// - Returns: Apple's page for this flow, and what the browser is to hold.
    package func begin(
        _ request: Request, browser known: BrowserBinding?, at now: UnixTime
    ) throws(CryptographyError) -> (location: String, browser: BrowserBinding) {
        let browser: BrowserBinding
        if let known { browser = known } else { browser = try BrowserBinding(using: cryptography) }
        let flow = try WebFlow(request, browser: browser, using: cryptography, at: now)
        let query = FormURLEncoded.encode([
            ("client_id", client.id), ("redirect_uri", client.callbackURL), ("response_type", "code id_token"),
            ("response_mode", "form_post"), ("scope", "name email"), ("nonce", flow.nonce),
            ("state", try sealed(.state).seal(flow.json)),
        ])
        return (client.authorizeURL + "?" + String(decoding: query, as: UTF8.self), browser)
    }

    /// Exchanges a code for a session, as a sign-in.
    ///
    /// - Returns: also Apple's code, where a session was opened just now.
    package func exchange(
        _ text: String, verifier: CodeVerifier, client: SignIn.Client, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(WebSignInFailure) -> (signedIn: SignedIn, code: AuthorizationCode?) {
        guard let code = sealed(.code).open(text).flatMap(WebCode.init) else { throw .refused(.code) }
        guard now < code.expiresAt else { throw .refused(.codeExpired) }
        guard code.challenge.isMet(by: verifier, using: cryptography) else { throw .refused(.codeVerifier) }
        var client = client
        client.fullName = code.fullName
        client.email = nil
        let signedIn: SignedIn
        do throws(SignInFailure) {
            signedIn = try signIn.open(
                SignIn.Arrival(
                    identity: code.identity, credential: Array(text.utf8)[...], client: client, marks: [code.mark],
                    retryKey: retryKey(verifier, client.deviceInfo)),
                origin: origin, at: now)
        } catch {
            throw .signIn(error)
        }
        guard let audience = signedIn.clientID else { return (signedIn, nil) }
        return (
            signedIn,
            AuthorizationCode(
                code: SecretBytes(Array(code.appleCode.utf8)), accountID: signedIn.account.id,
                subject: code.identity.subject, clientID: audience, redirectURI: self.client.callbackURL)
        )
    }

    /// Equal for two exchanges that say the same: then the second is the retry of a client whose answer was lost.
    private func retryKey(_ verifier: CodeVerifier, _ device: DeviceInfo) -> [UInt8] {
        let proof = cryptography.sha256(verifier.bytes[...])
        return cryptography.sha256((Array("web retry ".utf8) + proof + device.json.serialized())[...])
    }

    private func sealed(_ purpose: SealedText.Purpose) -> SealedText {
        SealedText(purpose: purpose, keys: signIn.keys, cryptography: cryptography)
    }
}

/// Apple's answer.
extension WebSignIn {
    /// What Apple's form says beside `state`.
    package struct Answer: Sendable {
        package var identityToken: String?
        package var code: String?
        package var error: String?
        /// `user`: unsigned, once, and only if the person gave a name.
        package var user: String?

        package init(identityToken: String?, code: String?, error: String?, user: String?) {
            self.identityToken = identityToken
            self.code = code
            self.error = error
            self.user = user
        }
    }

    /// Where the browser goes from Apple's answer, and why it goes there without a code.
    package struct Departure: Sendable {
        package let location: String
        package let failure: (error: ReturnError, reason: WebSignInFailure)?
    }

    /// What the app is told (RFC 6749 §4.1.2.1).
    package enum ReturnError: String, Sendable {
        case accessDenied = "access_denied"
        case serverError = "server_error"
        case temporarilyUnavailable = "temporarily_unavailable"
    }

    /// Takes Apple's answer. Before anything else of it counts, the state must be ours, not too old, and of this browser:
    /// else there is nobody to go back to, and the failure is thrown. From then on the app is told, in its own address.
    package func finish(
        state: String, browser: BrowserBinding?, answer: Answer, at now: UnixTime
    ) throws(WebSignInFailure) -> Departure {
        guard let flow = sealed(.state).open(state).flatMap(WebFlow.init) else { throw .refused(.state) }
        guard now < flow.expiresAt else { throw .refused(.stateExpired) }
        guard let browser, cryptography.areEqual(browser.digest(using: cryptography)[...], flow.browser[...])
        else { throw .refused(.stateForeign) }
        guard let returnURL = client.returnURL(flow.returnURL) else { throw .refused(.returnURL) }

        var parameters = [("iss", signIn.issuer.issuer)]
        if let state = flow.appState { parameters.append(("state", state)) }
        do throws(WebSignInFailure) {
            let code = try code(for: answer, of: flow, at: now)
            return Departure(location: returnURL.adding([("code", code)] + parameters), failure: nil)
        } catch {
            let word = ReturnError(error)
            return Departure(
                location: returnURL.adding([("error", word.rawValue)] + parameters), failure: (word, error))
        }
    }

    private func code(for answer: Answer, of flow: WebFlow, at now: UnixTime) throws(WebSignInFailure) -> String {
        if let error = answer.error {
            throw .refused(error.isIdentical(to: "user_cancelled_authorize") ? .cancelled : .appleError)
        }
        guard let token = answer.identityToken, let appleCode = answer.code, (1...1024).contains(appleCode.utf8.count)
        else { throw .refused(.incomplete) }
        let identity: AppleIdentity
        do throws(VerificationFailure) {
            identity = try self.identity(in: token, nonce: flow.nonce, at: now)
        } catch {
            throw .signIn(.verification(error))
        }
        // A code that somebody put in the place of this person's belongs to another token (code injection).
        guard CodeBinding(code: appleCode, identity: identity, using: cryptography) == .bound else {
            throw .refused(.codeHash)
        }
        let user = answer.user.flatMap {
            try? JSON(parsing: Array($0.utf8), limits: JSON.Limits(bytes: SealedText.maximumSize, depth: 8))
        }
        let code = WebCode(
            identity: identity, fullName: PersonName.fullName(user?["name"]), appleCode: appleCode, flow: flow,
            using: cryptography, at: now)
        do throws(CryptographyError) {
            return try sealed(.code).seal(code.json)
        } catch {
            throw .signIn(.cryptography(error))
        }
    }

    /// Stricter than for an app's own nonce: this one is ours and comes back as it was, from every browser.
    private func identity(
        in token: String, nonce: String, at now: UnixTime
    ) throws(VerificationFailure) -> AppleIdentity {
        let verified = try verifier.verify(Array(token.utf8)[...], keys: signIn.appleKeys, at: now)
        do throws(TokenRefusal) {
            guard let claim = verified.claims["nonce"]?.string else { throw .nonceMissing }
            guard cryptography.areEqual(Array(claim.utf8)[...], Array(nonce.utf8)[...]) else { throw .nonceMismatch }
            return try verified.identity(nonce: nonce)
        } catch {
            throw .refused(error)
        }
    }
}

extension WebSignIn.ReturnError {
    /// A person who cancelled is told apart from a failure, and a failure that passes from one that does not.
    fileprivate init(_ failure: WebSignInFailure) {
        self =
            switch failure {
            case .refused(.cancelled): .accessDenied
            case .signIn(.verification(.keysUnavailable)), .signIn(.store): .temporarilyUnavailable
            case .refused, .signIn: .serverError
            }
    }
}
