package import JOSE

/// One login on one device.
package struct Session: Hashable, Sendable {
    package let id: UUIDv7
    package let accountID: UUIDv7
    /// The app that signed in, by the audience of its Apple token: `client_id` of our access tokens (RFC 9068 §2.2).
    package let clientID: String
    /// What the app said of the device, kept as it came.
    package let deviceInfo: DeviceInfo
    /// SHA-256 of the refresh token's secret. The secret has 256 random bits, so its digest gives nothing away.
    package let refreshDigest: [UInt8]
    package let createdAt: UnixTime
    /// When the refresh token ends.
    package let expiresAt: UnixTime

    package init(
        id: UUIDv7, accountID: UUIDv7, clientID: String, deviceInfo: DeviceInfo, refreshDigest: [UInt8],
        createdAt: UnixTime, expiresAt: UnixTime
    ) {
        self.id = id
        self.accountID = accountID
        self.clientID = clientID
        self.deviceInfo = deviceInfo
        self.refreshDigest = refreshDigest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}
