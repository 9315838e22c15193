package import JOSE

/// One login on one device.
package struct Session: Hashable, Sendable {
    package let id: UUIDv7
    package let accountID: UUIDv7
    /// What the app said of the device: an object of at most 4 KiB, kept as it came.
    package let deviceInfo: JSON
    /// SHA-256 of the refresh token's secret. The secret has 256 random bits, so its digest gives nothing away.
    package let refreshDigest: [UInt8]
    package let createdAt: UnixTime
    /// When the refresh token ends.
    package let expiresAt: UnixTime

    package init(
        id: UUIDv7, accountID: UUIDv7, deviceInfo: JSON, refreshDigest: [UInt8], createdAt: UnixTime,
        expiresAt: UnixTime
    ) {
        self.id = id
        self.accountID = accountID
        self.deviceInfo = deviceInfo
        self.refreshDigest = refreshDigest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}
