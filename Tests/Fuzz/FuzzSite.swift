import Accounts
import AppleID
import AuthFunction
import JOSE
import OpenSSLCrypto
import UserStores

/// The function with fixed keys, a clock that stands still and a store in memory: the same input gives the same answer.
enum FuzzSite {
    static let now = UnixTime(seconds: 1_800_000_000)
    static let audience = "com.example.app"
    static let cryptography = OpenSSLCryptography()

    /// The RSA key of RFC 7515 appendix A.2 stands for Apple's; the P-256 key of appendix A.3 is ours.
    static let appleKeys: KeySet = {
        let modulus =
            "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2"
            + "lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WT"
            + "BEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91"
            + "kzk2PAcDTW9gb54h4FRWyuXpoQ"
        return read {
            let key: JSON = ["kty": "RSA", "kid": "apple", "e": "AQAB", "n": .string(modulus)]
            return KeySet(keys: [try JWK(key)])
        }
    }()

    static let signingKeys: SigningKeySet = read {
        let jwk: JSON = [
            "kty": "EC", "crv": "P-256", "kid": "ours", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
        ]
        return try SigningKeySet(parsing: jwk.serialized()[...], using: cryptography)
    }

    static let policy: TokenPolicy = read {
        guard let policy = TokenPolicy(audiences: [audience]) else { throw Violation(description: "no policy") }
        return policy
    }

    static func accessTokens(by cryptography: any Cryptography) -> AccessTokenVerifier {
        AccessTokenVerifier(
            issuer: "https://auth.example", audience: "https://api.example", keys: signingKeys.publicKeys,
            cryptography: cryptography)
    }

    /// A function of its own for each input, so that none is judged by what another left.
    static func function() -> AuthFunction {
        let users = MemoryUserStore()
        let issuer = TokenIssuer(
            issuer: "https://auth.example", audience: "https://api.example", accessTokenSeconds: 900,
            signingKey: signingKeys.current, cryptography: cryptography)
        let endpoints = Endpoints(
            signIn: SignIn(
                verifier: AppleTokenVerifier(policy: policy, cryptography: cryptography),
                appleKeys: Keys(keySet: appleKeys), users: users, issuer: issuer, policy: SignInPolicy(),
                keys: signingKeys, cryptography: cryptography),
            sessions: Sessions(
                users: users, issuer: issuer,
                rotation: RefreshRotation(policy: SessionPolicy(), keys: signingKeys, cryptography: cryptography),
                verifier: accessTokens(by: cryptography), cryptography: cryptography),
            limiter: RateLimiter(
                limits: [.signIn: RateLimit(attempts: 3, seconds: 60)], counter: users,
                secret: { SecretBytes([UInt8](repeating: 7, count: 32)) }, cryptography: cryptography),
            trustedProxies: 1, publicKeys: signingKeys.publicKeys, cryptography: cryptography)
        return AuthFunction(
            endpoints: endpoints, cryptography: cryptography,
            clock: Clock(now: { now }, monotonicMilliseconds: { 0 }), keyLookup: { nil })
    }

    struct Keys: AppleKeySource {
        let keySet: KeySet

        func keys(naming keyID: String) throws(KeysUnavailable) -> KeySet { keySet }
    }

    private static func read<Value>(_ make: () throws -> Value) -> Value {
        do { return try make() } catch { fatalError("the fuzzing site cannot be set up: \(error)") }
    }
}

/// Takes every signature for good and seals nothing, so that what lies behind both is reached: the claims, and what a receipt
/// holds. All else is the real library's.
struct CredulousCryptography: Cryptography {
    private let real = FuzzSite.cryptography

    func isValid(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, by key: PublicKey,
        algorithm: SignatureAlgorithm
    ) -> Bool { true }

    func seal(
        _ plaintext: ArraySlice<UInt8>, key: SecretBytes, associatedData: ArraySlice<UInt8>
    ) throws(CryptographyError) -> [UInt8] { Array(plaintext) }

    func open(_ sealed: ArraySlice<UInt8>, key: SecretBytes, associatedData: ArraySlice<UInt8>) -> [UInt8]? {
        Array(sealed)
    }

    func sign(_ message: ArraySlice<UInt8>, with key: PrivateKey) throws(CryptographyError) -> [UInt8] {
        try real.sign(message, with: key)
    }

    func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] { real.sha256(bytes) }

    func hmacSHA256(_ message: ArraySlice<UInt8>, key: ArraySlice<UInt8>) -> [UInt8] {
        real.hmacSHA256(message, key: key)
    }

    func randomBytes(_ count: Int) throws(CryptographyError) -> [UInt8] { try real.randomBytes(count) }

    func areEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool { real.areEqual(left, right) }

    func generateKey(for algorithm: SignatureAlgorithm) throws(CryptographyError) -> PrivateKey {
        try real.generateKey(for: algorithm)
    }

    func privateKey(der: ArraySlice<UInt8>) throws(PrivateKeyFault) -> PrivateKey { try real.privateKey(der: der) }
}
