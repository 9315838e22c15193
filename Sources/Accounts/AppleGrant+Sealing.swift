package import JOSE

/// Grants as the store keeps them, sealed and opened.
extension AppleGrantSealing {
    package func grant(
        refreshToken: String, accountID: UUIDv7, clientID: String, obtainedAt: UnixTime
    ) throws(CryptographyError) -> AppleGrant {
        let sealed = try seal(refreshToken: refreshToken, accountID: accountID, clientID: clientID)
        return AppleGrant(
            accountID: accountID, clientID: clientID, keyID: sealed.keyID, sealed: sealed.bytes, obtainedAt: obtainedAt)
    }

    /// Apple's refresh token; nil when its key is gone, or when the row was changed or moved.
    package func refreshToken(in grant: AppleGrant) -> String? {
        open(grant.asSealed, accountID: grant.accountID, clientID: grant.clientID)
    }

    package enum Resealing: Equatable, Sendable {
        /// It is sealed under the first key already.
        case current
        case resealed(AppleGrant)
        /// None of the keys opens it.
        case lost
    }

    /// The grant under the first key, so that the others can be taken away.
    package func resealing(_ grant: AppleGrant) throws(CryptographyError) -> Resealing {
        guard isStale(grant.asSealed) else { return .current }
        guard let refreshToken = refreshToken(in: grant) else { return .lost }
        return .resealed(
            try self.grant(
                refreshToken: refreshToken, accountID: grant.accountID, clientID: grant.clientID,
                obtainedAt: grant.obtainedAt))
    }
}

extension AppleGrant {
    fileprivate var asSealed: SealedGrant { SealedGrant(keyID: keyID, bytes: sealed) }
}
