internal import JOSE

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The configuration, checked: what every request is made of.
struct Client: Sendable {
    /// Verbatim, as it must come back.
    let issuer: String
    let issuerURL: URL
    let clientID: String
    let redirectURI: URL
    let postLogoutRedirectURI: URL?
    /// The scopes as they are sent, `openid` among them.
    let scope: String
    let isBound: Bool
    let isEphemeral: Bool
    /// The issuer is at home on this machine: the one case in which endpoints may be, and without TLS.
    let allowsPlain: Bool

    init(_ configuration: XidConfiguration) throws(XidError) {
        issuer = configuration.issuer.absoluteString
        issuerURL = configuration.issuer
        guard let endpoint = Endpoint(issuer, allowingPlain: true), !issuer.contains("?") else {
            throw XidError(
                .configurationInvalid,
                message: "issuer must be an https URL without query and fragment; http is for this machine only.")
        }
        allowsPlain = endpoint.isPlain
        clientID = configuration.clientId
        guard !clientID.isEmpty, clientID.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw XidError(.configurationInvalid, message: "clientId must be one or more printable ASCII characters.")
        }
        redirectURI = try Self.checked(configuration.redirectUri, "redirectUri")
        postLogoutRedirectURI = try configuration.postLogoutRedirectUri.map { uri throws(XidError) in
            try Self.checked(uri, "postLogoutRedirectUri")
        }
        isBound = configuration.dpop == .required
        isEphemeral = configuration.prefersEphemeralWebBrowserSession
        scope = try Self.scope(of: configuration.scopes, isBound: isBound)
    }

    /// Names this issuer and client among others in one storage.
    func namespace(using cryptography: any TokenCryptography) -> String {
        Base64URL.encode(cryptography.sha256(Array("\(issuer)\n\(clientID)".utf8)[...]))
    }

    private static func checked(_ uri: URL, _ name: String) throws(XidError) -> URL {
        let text = uri.absoluteString
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let isWeb = scheme == "https" || scheme == "http"
        guard !scheme.isEmpty, scheme != text.lowercased(), !text.contains("#"), !text.contains("?"),
            text.utf8.count <= 2048,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !["javascript", "data", "file"].contains(scheme),
            !isWeb || Endpoint(text, allowingPlain: true) != nil
        else {
            throw XidError(
                .configurationInvalid,
                message: "\(name) must be absolute, without query and fragment: a scheme of the app's own, https, or "
                    + "http://127.0.0.1.")
        }
        // The redirect would come without it, and match nothing.
        guard
            !isWeb
                || !text.dropFirst(scheme.count + 3).prefix(while: { $0 != "/" }).hasSuffix(
                    scheme == "https" ? ":443" : ":80")
        else {
            throw XidError(
                .configurationInvalid,
                message: "\(name) names the port that its scheme has anyway, which browsers leave out: https without "
                    + ":443, and http without :80 or with another port.")
        }
        return uri
    }

    /// A scope may hide in another's text ("openid offline_access") and in any case.
    private static func scope(of scopes: [String], isBound: Bool) throws(XidError) -> String {
        var words = scopes.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
        guard words.allSatisfy({ $0.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C } }) else {
            throw XidError(
                .configurationInvalid, message: "A scope holds a character that RFC 6749 §3.3 does not allow.")
        }
        guard isBound || !words.contains(where: { $0.lowercased() == "offline_access" }) else {
            throw XidError(.offlineAccessNeedsDPoP)
        }
        if !words.contains("openid") { words.insert("openid", at: 0) }
        return words.joined(separator: " ")
    }
}
