internal import JOSE

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A session as it is kept: one record, so that no half of it can be lost or belong to another.
struct SessionRecord: Hashable, Sendable {
    var issuer: String
    var clientID: String
    var subject: String
    var accessToken: SecretText
    var tokenType: TokenType
    var expiresAt: UnixTime?
    var scope: String
    var idToken: SecretText
    var claims: XidClaims
    /// Of the sign-in; an ID token of a renewal that has one must have this.
    var nonce: SecretText
    /// Only with a key.
    var refreshToken: SecretText?
    var key: SigningKey?

    func isExpired(at now: UnixTime) -> Bool {
        expiresAt.map { $0 <= now } ?? false
    }

    var isRenewable: Bool {
        refreshToken != nil && key != nil
    }

    func session(issuer: URL) -> XidSession {
        XidSession(
            subject: subject, issuer: issuer, accessToken: accessToken.text, tokenType: tokenType.rawValue,
            expiresAt: expiresAt.map { Date(timeIntervalSince1970: Double($0.milliseconds) / 1000) },
            scopes: scope.split(separator: " ").map(String.init), idToken: idToken.text, claims: claims)
    }
}

/// How a token is presented (RFC 6750, RFC 9449 §5). The raw values are those of the header.
enum TokenType: String, Hashable, Sendable {
    case bearer = "Bearer"
    case dpop = "DPoP"
}

extension SessionRecord {
    var text: String {
        var object: JSON.Object = [
            "issuer": .string(issuer), "client_id": .string(clientID), "sub": .string(subject),
            "access_token": .string(accessToken.text), "token_type": .string(tokenType.rawValue),
            "scope": .string(scope), "id_token": .string(idToken.text), "claims": .object(claims.object),
            "nonce": .string(nonce.text),
        ]
        object["expires_at"] = expiresAt.map { .integer($0.milliseconds) }
        object["refresh_token"] = refreshToken.map { .string($0.text) }
        object["dpop_key"] = key?.secretJSON
        return JSON.object(object).text
    }

    /// Nil when the text is not of a session of this client at this issuer.
    init?(parsing text: String, of client: Client, using cryptography: any TokenCryptography) {
        guard let json = JSON(stored: text), let issuer = json["issuer"]?.string, issuer.isIdentical(to: client.issuer),
            let clientID = json["client_id"]?.string, clientID.isIdentical(to: client.clientID),
            let subject = json["sub"]?.string, let accessToken = json["access_token"]?.string,
            let tokenType = json["token_type"]?.string.flatMap(TokenType.init), let scope = json["scope"]?.string,
            let idToken = json["id_token"]?.string, let claims = json["claims"]?.object,
            let nonce = json["nonce"]?.string
        else { return nil }
        self.issuer = issuer
        self.clientID = clientID
        self.subject = subject
        self.accessToken = SecretText(accessToken)
        self.tokenType = tokenType
        self.scope = scope
        self.idToken = SecretText(idToken)
        self.claims = XidClaims(claims)
        self.nonce = SecretText(nonce)
        expiresAt = json["expires_at"]?.integer.map { UnixTime(milliseconds: $0) }
        refreshToken = json["refresh_token"]?.string.map(SecretText.init)
        do throws(JOSEError) {
            key = try json["dpop_key"].map { json throws(JOSEError) in try SigningKey(json, using: cryptography) }
        } catch {
            return nil
        }
    }
}
