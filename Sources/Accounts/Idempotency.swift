internal import AppleID
internal import JOSE

/// Makes the repetition of a sign-in whose answer was lost get the same answer: for ten minutes where the client named its
/// request (the `Idempotency-Key` header), and for the grace where its token is good only once.
///
/// The answer is kept sealed with AES-256-GCM. The key is made from the credential and the client's own key under a key of
/// ours, and is stored nowhere: who has the store, and even our keys, still lacks what the client sent.
struct Idempotency {
    static let namedSeconds: Int64 = 600
    /// How far the clocks of two machines may differ.
    private static let clockToleranceSeconds: Int64 = 60

    /// Names the request without telling anything of it: the credential in it cannot be guessed.
    let name: [UInt8]
    private let seconds: Int64
    private let secret: [UInt8]
    private let keys: SigningKeySet
    private let cryptography: any Cryptography

    /// - Parameters:
    ///   - key: what tells this request from others with the same credential.
    ///   - credential: the identity token, or the code that stands for one.
    ///   - seconds: how long the answer is kept.
    init(
        key: [UInt8], credential: ArraySlice<UInt8>, seconds: Int64, keys: SigningKeySet,
        cryptography: any Cryptography
    ) {
        // The digest has a fixed length, so that no two pairs make one secret.
        secret = cryptography.sha256(credential) + key
        self.seconds = seconds
        name = cryptography.sha256((Array("auth-apple receipt ".utf8) + secret)[...])
        self.keys = keys
        self.cryptography = cryptography
    }

    func receipt(for signedIn: SignedIn, at now: UnixTime) throws(CryptographyError) -> Receipt {
        let keyID = keys.current.keyID
        let sealed = try cryptography.seal(
            signedIn.json.serialized()[...], key: sealingKey(from: keys.sessionKey(using: cryptography)),
            associatedData: name[...])
        let json: JSON = ["kid": .string(keyID), "sealed": .string(Base64URL.encode(sealed))]
        return Receipt(name: name, sealed: json.serialized(), expiresAt: now.adding(seconds: seconds))
    }

    /// Nil when it cannot be opened, as the signing key that it was sealed under is gone, or when it would live on because the
    /// clock was set back.
    func signedIn(from receipt: Receipt, at now: UnixTime) -> SignedIn? {
        guard receipt.expiresAt <= now.adding(seconds: seconds + Self.clockToleranceSeconds),
            let json = try? JSON(parsing: receipt.sealed, limits: JSON.Limits(bytes: 65_536)),
            let keyID = json["kid"]?.string, let sealed = json["sealed"]?.string.flatMap({ Base64URL.decode($0) }),
            let key = keys.sessionKey(named: keyID, using: cryptography),
            let opened = cryptography.open(sealed[...], key: sealingKey(from: key), associatedData: name[...]),
            let inner = try? JSON(parsing: opened, limits: JSON.Limits(bytes: 65_536)),
            let signedIn = SignedIn(inner)
        else { return nil }
        return signedIn
    }

    private func sealingKey(from key: SecretBytes) -> SecretBytes {
        SecretBytes(cryptography.hmacSHA256((Array("receipt ".utf8) + secret)[...], key: key.bytes[...]))
    }
}

extension SignedIn {
    /// Everything that an answer says.
    fileprivate var json: JSON {
        [
            "account": .string(account.id.description), "sub": .string(orNull: account.appleSubject),
            "name": .string(orNull: account.profile.fullName), "email": account.profile.email?.json ?? .null,
            "created_at": .integer(account.createdAt.milliseconds), "is_new": .bool(isNew),
            "session": .string(sessionID.description), "access": .string(tokens.accessToken),
            "access_seconds": .integer(tokens.accessExpiresIn), "refresh": .string(tokens.refreshToken),
            "refresh_seconds": .integer(tokens.refreshExpiresIn),
        ]
    }

    fileprivate init?(_ json: JSON) {
        guard let accountID = json["account"]?.string.flatMap({ UUIDv7($0) }),
            let createdAt = json["created_at"]?.integer.map(UnixTime.init(milliseconds:)),
            let isNew = json["is_new"]?.bool, let sessionID = json["session"]?.string.flatMap({ UUIDv7($0) }),
            let access = json["access"]?.string, let accessSeconds = json["access_seconds"]?.integer,
            let refresh = json["refresh"]?.string, let refreshSeconds = json["refresh_seconds"]?.integer
        else { return nil }
        account = Account(
            id: accountID, appleSubject: json["sub"]?.string,
            profile: Profile(fullName: json["name"]?.string, email: json["email"].flatMap(AppleEmail.init(json:))),
            createdAt: createdAt, updatedAt: createdAt)
        self.isNew = isNew
        clientID = nil
        self.sessionID = sessionID
        tokens = IssuedTokens(
            accessToken: access, accessExpiresIn: accessSeconds, refreshToken: refresh,
            refreshExpiresIn: refreshSeconds)
    }
}
