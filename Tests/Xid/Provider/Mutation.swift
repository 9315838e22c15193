import JOSE

/// A way for a provider to be wrong, or to be right in an unusual way. The values are those of the OpenID conformance suite.
enum Mutation: Hashable, Sendable {
    /// "1" at the end of a claim of the ID token.
    case appendOne(String)
    case removeClaim(String)
    case setClaim(String, JSON)
    /// Seconds from now.
    case setTime(String, Int64)
    /// `aud` of the client and another.
    case secondAudience(azp: String?)
    case audienceAsArray
    /// Every byte of the signature XOR 0x5A.
    case signatureXOR
    case signedBy(SignatureAlgorithm)
    case algorithm(String)
    case unsigned
    case hmac
    /// Neither the token nor the keys are named; three of each kind, or one.
    case unnamedKeys(each: Int)
    /// What the keys are called.
    case keysNamed(String)
    /// Keys that no verifier of ours knows, beside the good one.
    case unknownKeyTypes
    case discovery(String, JSON?)
    case discoveryIssuer(String)
    case userInfo(String, JSON?)
    case tokenResponse(String, JSON?)
    case atHash(isRight: Bool)
    case codeHash(isRight: Bool)
    /// `iss` in the redirect; nil leaves it out.
    case redirectIssuer(String?)
    case advertisesIssuer
    case redirectState(String?)
    case redirectError(String)
    case redirectInFragment
    case redirectExtra(String, String)
    /// New keys between the client's fetch of the keys, at an earlier sign-in, and the signature.
    case rotatesBeforeSigning
    /// What one path answers, whatever is asked.
    case answer(String, status: Int, body: String)
    case contentType(String, String?)
    case redirects(String)
    /// The mutations inside hold for renewals only.
    indirect case onRenewal(Mutation)
    case dpopNonce(String)
    /// The nonce is demanded and never another one is offered.
    case dpopNonceForEver
}
