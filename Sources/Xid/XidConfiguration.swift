#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Who asks (the client), whom (the issuer), and for what.
///
/// A public client by RFC 6749 §2.1: there is no member for a client secret, because an app cannot keep one.
///
/// ```swift
/// Xid.shared.configure(options: XidConfiguration(
///     issuer: URL(string: "https://xid.dev")!, clientId: "your_client_id",
///     redirectUri: URL(string: "com.example.app://auth/callback")!, scopes: ["openid", "profile", "email"]))
/// ```
public struct XidConfiguration: Hashable, Sendable {
    /// Whether tokens are bound to a key of this device (RFC 9449).
    public enum DPoP: Hashable, Sendable {
        /// Bearer tokens. `offline_access` is refused, and a refresh token that comes all the same is thrown away.
        case off
        /// Every token is bound to a key that is kept with the session; a provider that answers with bearer tokens is refused.
        /// Allows `offline_access`.
        case required
    }

    /// The provider's identifier, compared byte for byte with what the provider says of itself: a slash at the end counts.
    public var issuer: URL

    /// The name under which the provider knows this app.
    public var clientId: String

    /// Where the provider sends the person back to: a custom scheme or an https link on Apple's systems, on Linux
    /// `http://127.0.0.1/…`, whose port is chosen at each sign-in unless one is given (RFC 8252 §7.3).
    public var redirectUri: URL

    /// What is asked for. `openid` is added when it is missing.
    public var scopes: [String]

    /// Where the provider sends the person after signing out. Without it the person closes that window by hand.
    public var postLogoutRedirectUri: URL?

    /// Whether tokens are bound to a key of this device.
    public var dpop: DPoP

    /// Whether the browser forgets the provider's cookies after the sign-in, so that apps do not share them.
    public var prefersEphemeralWebBrowserSession: Bool

    /// Nothing is checked here; the first call that needs the configuration says what is wrong with it.
    public init(
        issuer: URL, clientId: String, redirectUri: URL, scopes: [String], postLogoutRedirectUri: URL? = nil,
        dpop: DPoP = .off, prefersEphemeralWebBrowserSession: Bool = true
    ) {
        self.issuer = issuer
        self.clientId = clientId
        self.redirectUri = redirectUri
        self.scopes = scopes
        self.postLogoutRedirectUri = postLogoutRedirectUri
        self.dpop = dpop
        self.prefersEphemeralWebBrowserSession = prefersEphemeralWebBrowserSession
    }
}
