package import AppleID
package import JOSE

/// Gets Apple's refresh token for the code of a sign-in, and keeps it sealed until the account is deleted.
///
/// What Apple answers is confirmed before any of it is kept: a code that somebody slipped into another's sign-in gives a token
/// of another `sub`. A failure is no login's: the next sign-in brings the next code.
package struct AppleCodeExchange {
    private let server: AppleServer
    private let sealing: AppleGrantSealing
    private let grants: any AppleGrantRepository
    private let verifier: AppleTokenVerifier
    private let appleKeys: any AppleKeySource

    package init(
        server: AppleServer, sealing: AppleGrantSealing, grants: any AppleGrantRepository,
        verifier: AppleTokenVerifier, appleKeys: any AppleKeySource
    ) {
        self.server = server
        self.sealing = sealing
        self.grants = grants
        self.verifier = verifier
        self.appleKeys = appleKeys
    }

    package func callAsFunction(_ code: AuthorizationCode, at now: UnixTime) throws(CodeExchangeFailure) {
        let tokens: AppleTokens
        do throws(AppleServerFailure) {
            tokens = try server.exchange(
                code: String(decoding: code.code.bytes, as: UTF8.self), clientID: code.clientID,
                redirectURI: code.redirectURI, at: now)
        } catch {
            throw .apple(error)
        }
        do throws(AppleTokensRefusal) {
            try tokens.confirm(
                subject: code.subject, clientID: code.clientID, verifier: verifier, keys: appleKeys, at: now)
        } catch {
            throw .unconfirmed(error)
        }
        let grant: AppleGrant
        do throws(CryptographyError) {
            grant = try sealing.grant(
                refreshToken: tokens.refreshToken, accountID: code.accountID, clientID: code.clientID, obtainedAt: now)
        } catch {
            throw .cryptography(error)
        }
        do throws(StoreError) {
            try grants.keep(grant)
        } catch {
            throw .store(error)
        }
    }
}

/// Why no refresh token was kept.
package enum CodeExchangeFailure: Error, Hashable {
    case apple(AppleServerFailure)
    case unconfirmed(AppleTokensRefusal)
    case cryptography(CryptographyError)
    case store(StoreError)

    /// For programs and logs; stable.
    package var word: String {
        switch self {
        case .apple(let failure): failure.word
        case .unconfirmed(let refusal): refusal.word
        case .cryptography: "cryptography"
        case .store: "store_unavailable"
        }
    }

    /// What the word leaves open. Holds nothing of a request.
    package var detail: String? {
        switch self {
        case .apple(let failure): failure.detail
        case .unconfirmed(.keysUnavailable(let outage)): outage.reason
        case .unconfirmed: nil
        case .cryptography(let error): error.reason
        case .store(.unavailable(let reason)), .store(.unusable(let reason)): reason
        }
    }
}
