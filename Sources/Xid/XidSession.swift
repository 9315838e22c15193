internal import JOSE

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A person who is signed in: who it is, and the access token that says so to your services.
///
/// Printing or reflecting the value shows no token and nothing about the person.
public struct XidSession: Hashable, Sendable {
    /// The provider's name for the person (`sub`). Unique at this issuer, never reassigned: the key for your records, unlike an
    /// e-mail address.
    public let subject: String

    /// The provider.
    public let issuer: URL

    /// The token for your services. Prefer ``Xid/getAccessToken(forceRefresh:)``, which looks at the clock.
    public let accessToken: String

    /// `Bearer` or `DPoP`. A token of the latter kind is of use only with ``Xid/authorizationHeaders(method:url:nonce:)``.
    public let tokenType: String

    /// When the access token expires; nil when the provider did not say.
    public let expiresAt: Date?

    /// What was granted, which may be less than what was asked for.
    public let scopes: [String]

    /// The verified ID token, as it came.
    public let idToken: String

    /// The verified claims of the ID token.
    public let claims: XidClaims

    /// The person's full name, if the provider told it.
    public var name: String? { claims.string("name") }

    /// The person's e-mail address, if the provider told it. See ``emailVerified`` before relying on it.
    public var email: String? { claims.string("email") }

    /// Whether the provider has verified that the address is the person's.
    public var emailVerified: Bool { claims.bool("email_verified") ?? false }

    /// A session as it would be, for the tests of an app. What Xid itself gives has been verified; nothing here is.
    ///
    /// - Parameters:
    ///   - claimsJSON: the ID token's claims, as one JSON object.
    /// - Throws: `id_token_malformed` when the claims are no JSON object, or name a member twice.
    public init(
        subject: String, issuer: URL, accessToken: String, tokenType: String = "Bearer", expiresAt: Date? = nil,
        scopes: [String] = ["openid"], idToken: String = "", claimsJSON: String = "{}"
    ) throws {
        guard let claims = JSON(object: Array(claimsJSON.utf8))?.object else { throw XidError(.idTokenMalformed) }
        self.init(
            subject: subject, issuer: issuer, accessToken: accessToken, tokenType: tokenType, expiresAt: expiresAt,
            scopes: scopes, idToken: idToken, claims: XidClaims(claims))
    }

    init(
        subject: String, issuer: URL, accessToken: String, tokenType: String, expiresAt: Date?, scopes: [String],
        idToken: String, claims: XidClaims
    ) {
        self.subject = subject
        self.issuer = issuer
        self.accessToken = accessToken
        self.tokenType = tokenType
        self.expiresAt = expiresAt
        self.scopes = scopes
        self.idToken = idToken
        self.claims = claims
    }
}

extension XidSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The issuer only.
    public var description: String { "XidSession(\(issuer.absoluteString))" }

    /// The issuer only.
    public var debugDescription: String { description }

    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
