package import JOSE

/// Apple's server API (RFC 6749 as Apple speaks it): codes exchanged, refresh tokens revoked, users migrated.
///
/// Every request carries a client secret of its own. An answer counts as success only if its status and its body both say so:
/// errors have come with either alone.
package struct AppleServer {
    /// Sends one request and waits for the whole answer, within limits of its own. Handed in, so that this room does no network.
    package typealias Transport = (AppleServerRequest) throws(NoAppleServerAnswer) -> AppleServerAnswer

    /// Constants and not Apple's discovery document, which once changed while nothing else did.
    package struct Endpoints: Hashable, Sendable {
        package var token = "https://appleid.apple.com/auth/token"
        package var revocation = "https://appleid.apple.com/auth/revoke"
        package var migration = "https://appleid.apple.com/auth/usermigrationinfo"

        package init() {}
    }

    let endpoints: Endpoints
    private let credentials: AppleCredentials
    private let cryptography: any Cryptography
    private let send: Transport

    package init(
        endpoints: Endpoints = Endpoints(), credentials: AppleCredentials, cryptography: any Cryptography,
        send: @escaping Transport
    ) {
        self.endpoints = endpoints
        self.credentials = credentials
        self.cryptography = cryptography
        self.send = send
    }

    /// Exchanges an authorization code. What comes back is to be confirmed before anything of it is believed
    /// (`AppleTokens.confirm`): a code may be another person's.
    ///
    /// - Parameters:
    ///   - code: single use, and good for five minutes. One that no code of Apple's could be is refused here.
    ///   - clientID: the one that the code was issued to, which the `aud` of the token beside it names.
    ///   - redirectURI: the one of the authorization request; nil for a code of a native app, which had none.
    package func exchange(
        code: String, clientID: String, redirectURI: String?, at now: UnixTime
    ) throws(AppleServerFailure) -> AppleTokens {
        guard AppleTokens.canBeToken(code) else { throw .refused(.invalidGrant) }
        var fields = [("grant_type", "authorization_code"), ("code", code)]
        if let redirectURI { fields.append(("redirect_uri", redirectURI)) }
        let answer = try ask(endpoints.token, fields, clientID: clientID, at: now)
        guard let tokens = AppleTokens(answer) else { throw .unavailable(.unreadable) }
        return tokens
    }

    /// Ends Apple's side of an account. Also done when the token was no longer valid: Apple does not tell (RFC 7009 §2.2).
    package func revoke(refreshToken: String, clientID: String, at now: UnixTime) throws(AppleServerFailure) {
        let fields = [("token", refreshToken), ("token_type_hint", "refresh_token")]
        _ = try ask(endpoints.revocation, fields, clientID: clientID, mayBeEmpty: true, at: now)
    }

    /// The members of a successful answer.
    func ask(
        _ url: String, _ fields: [(String, String)], clientID: String, bearer: String? = nil, mayBeEmpty: Bool = false,
        at now: UnixTime
    ) throws(AppleServerFailure) -> JSON.Object {
        let secret: String
        do throws(CryptographyError) {
            secret = try ClientSecret.text(clientID: clientID, credentials: credentials, at: now, using: cryptography)
        } catch {
            throw .unavailable(.clientSecret(error.reason))
        }
        let form = FormURLEncoded.encode([("client_id", clientID), ("client_secret", secret)] + fields)
        let answer: AppleServerAnswer
        do throws(NoAppleServerAnswer) {
            answer = try send(AppleServerRequest(url: url, bearer: bearer, form: form))
        } catch {
            throw .unavailable(.noAnswer(error))
        }
        return try answer.members(mayBeEmpty: mayBeEmpty)
    }
}

extension AppleServerAnswer {
    /// What Apple says in 64 KiB at most, if it is a success; nothing is guessed from a status alone, nor from a body alone.
    fileprivate func members(mayBeEmpty: Bool) throws(AppleServerFailure) -> JSON.Object {
        let object = try? JSON(parsing: body, limits: JSON.Limits(bytes: 65_536, depth: 8)).object
        switch status {
        case 200:
            if body.isEmpty, mayBeEmpty { return [:] }
            guard let object else { throw .unavailable(.unreadable) }
            if let error = object["error"] { throw .refused(AppleErrorCode(error)) }
            return object
        // RFC 6749 §5.2 and RFC 6750 §3.1. Other statuses are of servers before Apple's, whatever their bodies say.
        case 400, 401, 403:
            guard let error = object?["error"] else { throw .unavailable(.status(status)) }
            throw .refused(AppleErrorCode(error))
        default:
            throw .unavailable(.status(status))
        }
    }
}

extension AppleErrorCode {
    fileprivate init(_ json: JSON) {
        self = json.string.flatMap { AppleErrorCode(rawValue: $0) } ?? .other
    }
}
