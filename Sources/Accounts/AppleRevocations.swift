package import AppleID
package import JOSE

/// Tells Apple of the grants whose accounts are gone: the outbox, an entry at a time.
///
/// Whoever takes an entry puts it off, so that of two processes one tells Apple. Only Apple's success removes it; whatever else
/// comes, it is tried again later, less and less often, for no deletion may be forgotten.
package struct AppleRevocations {
    private let server: AppleServer
    private let sealing: AppleGrantSealing
    private let grants: any AppleGrantRepository

    package init(server: AppleServer, sealing: AppleGrantSealing, grants: any AppleGrantRepository) {
        self.server = server
        self.sealing = sealing
        self.grants = grants
    }

    /// What came of one entry.
    package struct Outcome: Sendable {
        package let revocation: Revocation
        /// Nil when Apple knows and the entry is gone.
        package let failure: RevocationFailure?
    }

    /// Carries out the one that has been due longest; nil when none is due.
    package func carryOutNext(at now: UnixTime) throws(StoreError) -> Outcome? {
        guard let revocation = try grants.takeRevocations(due: now, limit: 1).first else { return nil }
        guard let refreshToken = sealing.refreshToken(in: revocation.grant) else {
            return Outcome(revocation: revocation, failure: .cannotBeOpened)
        }
        do throws(AppleServerFailure) {
            try server.revoke(refreshToken: refreshToken, clientID: revocation.grant.clientID, at: now)
        } catch {
            return Outcome(revocation: revocation, failure: .apple(error))
        }
        try grants.finish(revocation)
        return Outcome(revocation: revocation, failure: nil)
    }
}

/// Why an entry of the outbox stays there.
package enum RevocationFailure: Error, Hashable, Sendable {
    case apple(AppleServerFailure)
    /// The key that sealed it is not among ours, or the row was changed.
    case cannotBeOpened

    /// For programs and logs; stable.
    package var word: String {
        switch self {
        case .apple(let failure): failure.word
        case .cannotBeOpened: "cannot_be_opened"
        }
    }

    package var detail: String? {
        switch self {
        case .apple(let failure): failure.detail
        case .cannotBeOpened: nil
        }
    }

    /// Whether the next entry would fail as well, for Apple does not answer or does not know us.
    package var concernsAll: Bool {
        switch self {
        case .apple(.unavailable), .apple(.refused(.invalidClient)): true
        case .apple(.refused), .cannotBeOpened: false
        }
    }

    /// For the operator; nil where waiting is all that helps.
    package var remedy: String? {
        switch self {
        case .apple(.refused(.invalidClient)), .apple(.refused(.unauthorizedClient)):
            "check AUTH_APPLE_TEAM_ID, AUTH_APPLE_KEY_ID and AUTH_APPLE_PRIVATE_KEY with: auth-apple check"
        case .apple(.refused(.invalidGrant)):
            "the token is another client's: was the app moved to another team since?"
        case .apple(.unavailable(.clientSecret)): "check AUTH_APPLE_PRIVATE_KEY with: auth-apple check"
        case .apple: nil
        case .cannotBeOpened: "put the key that sealed it back into AUTH_APPLE_ENCRYPTION_KEYS"
        }
    }
}
