#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Sign-in with an OpenID Connect provider: authorization code with PKCE S256 in the system's browser, verified ID tokens, tokens
/// kept by the system.
///
/// ```swift
/// Xid.shared.configure(options: XidConfiguration(
///     issuer: URL(string: "https://xid.dev")!, clientId: "your_client_id",
///     redirectUri: URL(string: "com.example.app://auth/callback")!, scopes: ["openid", "profile", "email"]))
/// let session = try await Xid.shared.signIn()
/// let token = try await Xid.shared.getAccessToken()
/// try await Xid.shared.signOut(callEndSession: true)
/// ```
///
/// Every function may be called from anywhere and at any time; what must not happen twice, such as spending a code or a refresh
/// token, does not. Errors are ``XidError``.
public final class Xid: Sendable {
    /// The one that most apps need.
    public static let shared = Xid()

    private struct State: Sendable {
        var configuration: XidConfiguration?
        var storage: (any TokenStorageAdapter)?
        var party: RelyingParty?
    }

    private let platform: Platform
    private let state = Guarded(State())

    /// One more, for an app that talks to several providers.
    public convenience init() {
        self.init(platform: .current)
    }

    package init(platform: Platform) {
        self.platform = platform
    }

    /// Sets whom to ask and for what; call it before the others. What is wrong with it is thrown by the first of them.
    ///
    /// Sessions are kept by issuer and client, so another configuration finds its own. A sign-in that is open is cancelled.
    public func configure(options: XidConfiguration) {
        let former = state.withLock { state -> RelyingParty? in
            // The same again: beside the former, another client of its session would spend the refresh token a second time.
            if let party = state.party, state.configuration == options, !party.isFlowPending { return nil }
            defer { (state.configuration, state.party) = (options, nil) }
            return state.party
        }
        if let former { Task { await former.cancelSignIn() } }
    }

    /// Keeps tokens in `storage` instead of the system's usual place. What is kept elsewhere stays there and is not read.
    ///
    /// - Throws: `flow_in_progress` while a sign-in is open.
    public func setTokenStorage(_ storage: any TokenStorageAdapter) throws {
        try state.withLock { state in
            guard state.party?.isFlowPending != true else { throw XidError(.flowInProgress) }
            (state.storage, state.party) = (storage, nil)
        }
    }

    /// Opens the provider's page in the browser and waits until the person is signed in.
    ///
    /// - Throws: `user_cancelled` when the person closed the window, `flow_in_progress` when a sign-in is open already, and what
    ///   ``handleRedirect(url:)`` throws.
    @discardableResult
    public func signIn(options: XidSignInOptions = XidSignInOptions()) async throws -> XidSession {
        try await party().signIn(options)
    }

    /// Takes a redirect that reached the app by another way than the browser session: an https link, or after the app was started
    /// anew. Checks it, exchanges the code, verifies the ID token, and keeps the tokens.
    ///
    /// The same URL again gives the session that it has produced. A URL that does not answer the open sign-in leaves that open.
    @discardableResult
    public func handleRedirect(url: URL) async throws -> XidSession {
        try await party().handleRedirect(url)
    }

    /// Ends a sign-in that is open; it throws `cancelled`. Without one, nothing happens.
    public func cancelSignIn() async throws {
        try await party().cancelSignIn()
    }

    /// The session, if there is one that has not expired. An expired one is renewed when it can be, else erased.
    ///
    /// - Throws: `storage_unavailable` while the storage cannot be looked into, and `network` and its like while an expired session
    ///   cannot be renewed: then nobody knows, and nothing is erased.
    public func getSession() async throws -> XidSession? {
        try await party().getSession()
    }

    /// The access token, renewed when it has expired or `forceRefresh` asks for it. Several callers at once cause one renewal.
    ///
    /// - Throws: `no_session`, or `reauthorization_required` when it cannot be renewed.
    public func getAccessToken(forceRefresh: Bool = false) async throws -> String {
        try await party().getAccessToken(forceRefresh: forceRefresh)
    }

    /// The header fields that authorize one request to a service of yours: `Authorization`, and `DPoP` where the token is bound.
    ///
    /// - Parameters:
    ///   - method: the request's method, as `GET`.
    ///   - url: the request's address.
    ///   - nonce: what the service sent last as `DPoP-Nonce` (RFC 9449 §9).
    public func authorizationHeaders(
        method: String, url: URL, nonce: String? = nil
    ) async throws -> [String: String] {
        try await party().authorizationHeaders(method: method, url: url, nonce: nonce)
    }

    /// What the provider says of the person now (OpenID Connect Core §5.3). An answer about somebody else is refused.
    public func getUserInfo() async throws -> XidClaims {
        try await party().getUserInfo()
    }

    /// Erases the session here, then asks the provider to revoke its tokens (as far as it can be reached), and with `callEndSession` shows
    /// the provider's sign-out page in the browser. That the person closes that window is no error.
    public func signOut(callEndSession: Bool = false) async throws {
        try await party().signOut(callEndSession: callEndSession)
    }

    /// Whether a sign-in is open.
    package var isFlowPending: Bool {
        state.withLock { $0.party?.isFlowPending ?? false }
    }

    /// Whether there is something to sign out of: also a session that has expired or cannot be read.
    package func keepsSession() async throws -> Bool {
        try await party().keepsSession
    }

    private func party() throws -> RelyingParty {
        try state.withLock { state in
            if let party = state.party { return party }
            guard let configuration = state.configuration else { throw XidError(.notConfigured) }
            let client = try Client(configuration)
            let storage = try state.storage ?? platform.defaultStorage()
            let party = RelyingParty(client: client, platform: platform, storage: storage)
            state.party = party
            return party
        }
    }
}

extension Xid: CustomReflectable {
    /// Nothing: what is inside are sessions.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
