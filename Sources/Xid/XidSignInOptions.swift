/// What one sign-in asks for beyond the configuration (OpenID Connect Core §3.1.2.1).
public struct XidSignInOptions: Hashable, Sendable {
    /// Whether and how the provider shows itself: `login`, `consent`, `select_account`, `none`.
    public var prompt: String?

    /// Who is expected to sign in, such as an e-mail address.
    public var loginHint: String?

    /// The languages of the provider's pages, best first, as BCP 47 tags.
    public var uiLocales: [String]

    /// The oldest login that will do, in seconds. The ID token must then say when the person logged in.
    public var maxAge: Int?

    /// Parameters of this provider. Those that the protocol itself uses, `scope` among them, are refused.
    public var additionalParameters: [String: String]

    /// Nil: as configured.
    public var prefersEphemeralWebBrowserSession: Bool?

    /// Without arguments: nothing beyond the configuration.
    public init(
        prompt: String? = nil, loginHint: String? = nil, uiLocales: [String] = [], maxAge: Int? = nil,
        additionalParameters: [String: String] = [:], prefersEphemeralWebBrowserSession: Bool? = nil
    ) {
        self.prompt = prompt
        self.loginHint = loginHint
        self.uiLocales = uiLocales
        self.maxAge = maxAge
        self.additionalParameters = additionalParameters
        self.prefersEphemeralWebBrowserSession = prefersEphemeralWebBrowserSession
    }
}
