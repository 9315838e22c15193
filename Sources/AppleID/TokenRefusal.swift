internal import JOSE

/// Why a token of Apple's was refused: for our log. The caller learns only that it was.
package enum TokenRefusal: String, Error, Hashable, Sendable, CaseIterable {
    case tooLarge = "too_large"
    case malformed
    case algorithm = "alg"
    case critical = "crit"
    case keyIDMissing = "kid_missing"
    case keyUnknown = "kid_unknown"
    case keyAmbiguous = "kid_ambiguous"
    case keyUnusable = "key_unusable"
    case signature
    case issuer
    case audience
    case expired
    case notYetValid = "not_yet_valid"
    case tooOld = "too_old"
    case subject
    case nonceMissing = "nonce_missing"
    case nonceUnexpected = "nonce_unexpected"
    case nonceMismatch = "nonce_mismatch"

    init(_ error: JOSEError) {
        self =
            switch error {
            case .tooLarge: .tooLarge
            case .malformed: .malformed
            case .algorithm: .algorithm
            case .critical: .critical
            case .keyIDMissing: .keyIDMissing
            case .keyUnknown: .keyUnknown
            case .keyAmbiguous: .keyAmbiguous
            case .keyUnusable: .keyUnusable
            case .signature: .signature
            }
    }
}
