package import JOSE

/// One login on one device, alive as long as its row is: ending a session removes it, and the audit keeps that it was.
package struct Session: Hashable, Sendable {
    package let id: UUIDv7
    package let accountID: UUIDv7
    /// The app that signed in, by the audience of its Apple token: `client_id` of our access tokens (RFC 9068 §2.2).
    package let clientID: String
    /// What the app said of the device, kept as it came.
    package let deviceInfo: DeviceInfo
    /// What the client called itself when it signed in, at most 256 scalars: text for people, and never believed.
    package let userAgent: String?
    package let createdAt: UnixTime
    /// The end that no use puts off.
    package let endsAt: UnixTime
    package var refresh: RefreshState
    package var lastUsedAt: UnixTime

    package init(
        id: UUIDv7, accountID: UUIDv7, clientID: String, deviceInfo: DeviceInfo, userAgent: String? = nil,
        createdAt: UnixTime, endsAt: UnixTime, refresh: RefreshState, lastUsedAt: UnixTime
    ) {
        self.id = id
        self.accountID = accountID
        self.clientID = clientID
        self.deviceInfo = deviceInfo
        self.userAgent = userAgent
        self.createdAt = createdAt
        self.endsAt = endsAt
        self.refresh = refresh
        self.lastUsedAt = lastUsedAt
    }

    /// When it ends if it is not used again.
    package var expiresAt: UnixTime { min(endsAt, refresh.expiresAt) }

    package func isAlive(at now: UnixTime) -> Bool { now < expiresAt }
}

/// What is remembered of a session's refresh tokens. None of it can be presented: a token's secret has 256 random bits, or is
/// the HMAC of one that had, and only its SHA-256 is kept.
package struct RefreshState: Hashable, Sendable {
    /// 32 random bytes of the session's own, the same for its whole life: the key of the tags of its tokens.
    package let salt: [UInt8]
    /// Digest of the secret of the token that is good now.
    package var digest: [UInt8]
    /// When that token ends.
    package var expiresAt: UnixTime
    /// The token before it, as long as a lost answer may have to be given again.
    package var previous: Previous?

    package struct Previous: Hashable, Sendable {
        package var digest: [UInt8]
        package var rotatedAt: UnixTime
        /// The signing key whose secret made the successor, and makes it again.
        package var keyID: String

        package init(digest: [UInt8], rotatedAt: UnixTime, keyID: String) {
            self.digest = digest
            self.rotatedAt = rotatedAt
            self.keyID = keyID
        }
    }

    package init(salt: [UInt8], digest: [UInt8], expiresAt: UnixTime, previous: Previous? = nil) {
        self.salt = salt
        self.digest = digest
        self.expiresAt = expiresAt
        self.previous = previous
    }
}
