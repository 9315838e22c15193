internal import JOSE

/// What a sign-in draws at random, before any account is looked for.
struct SessionDraft {
    let accountID: UUIDv7
    let tokenID: UUIDv7
    let refreshToken: RefreshToken
    private let sessionID: UUIDv7
    private let salt: [UInt8]
    private let now: UnixTime

    init(using cryptography: any Cryptography, at now: UnixTime) throws(CryptographyError) {
        // One draw for everything.
        let random = try cryptography.randomBytes(3 * 10 + 2 * 32)
        accountID = UUIDv7(at: now, random: Array(random[0..<10]))
        sessionID = UUIDv7(at: now, random: Array(random[10..<20]))
        tokenID = UUIDv7(at: now, random: Array(random[20..<30]))
        salt = Array(random[30..<62])
        refreshToken = RefreshToken(
            sessionID: sessionID, secret: SecretBytes(Array(random[62...])), salt: salt, using: cryptography)
        self.now = now
    }

    func session(
        of account: Account, clientID: String, client: SignIn.Client, policy: SessionPolicy,
        using cryptography: any Cryptography
    ) -> Session {
        Session(
            id: sessionID, accountID: account.id, clientID: clientID, deviceInfo: client.deviceInfo,
            userAgent: client.userAgent, createdAt: now, endsAt: now.adding(seconds: policy.sessionSeconds),
            refresh: RefreshState(
                salt: salt, digest: refreshToken.digest(using: cryptography),
                expiresAt: now.adding(seconds: policy.refreshTokenSeconds)),
            lastUsedAt: now)
    }
}
