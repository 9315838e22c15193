package import JOSE

/// What Apple's server API knows us by: a developer team, and a key of the team's for Sign in with Apple.
package struct AppleCredentials: Hashable, Sendable {
    package let teamID: String
    package let keyID: String
    package let privateKey: PrivateKey

    /// Nil for an identifier that is none of Apple's, and for a key that is not P-256.
    package init?(teamID: String, keyID: String, privateKey: PrivateKey) {
        guard Self.isIdentifier(teamID), Self.isIdentifier(keyID), privateKey.algorithm == .es256 else { return nil }
        self.teamID = teamID
        self.keyID = keyID
        self.privateKey = privateKey
    }

    /// Team IDs and Key IDs are ten capital letters and digits.
    package static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }
}

/// The `client_secret` of one request to Apple: a JWT that we sign, made anew each time and never kept.
///
/// Apple takes up to 15 777 000 s of life. Five minutes are enough for a request, and of no use to who finds one later.
enum ClientSecret {
    static let audience = "https://appleid.apple.com"
    static let seconds: Int64 = 300
    /// Our clock may be ahead of Apple's, which takes no secret from the future.
    static let backdatedSeconds: Int64 = 60

    static func text(
        clientID: String, credentials: AppleCredentials, at now: UnixTime, using cryptography: any Cryptography
    ) throws(CryptographyError) -> String {
        let claims: JSON = [
            "iss": .string(credentials.teamID), "sub": .string(clientID), "aud": .string(audience),
            "iat": .integer(now.adding(seconds: -backdatedSeconds).seconds),
            "exp": .integer(now.adding(seconds: seconds).seconds),
        ]
        let key = SigningKey(keyID: credentials.keyID, privateKey: credentials.privateKey)
        return try CompactJWS.signed(claims.serialized(), type: "JWT", by: key, using: cryptography)
    }
}
