/// Why bytes did not become a verified token, or a key was refused.
package enum JOSEError: Error, Hashable {
    /// Larger than the cap; nothing was decoded.
    case tooLarge
    /// Not the shape of RFC 7515 §3.1: parts, base64url, JSON, or the type of a member.
    case malformed
    /// An algorithm that is not allowed here, `none` among them.
    case algorithm
    /// A `crit` header (RFC 7515 §4.1.11): no extension is understood, so any is refused.
    case critical
    /// The header names no key.
    case keyIDMissing
    /// No key of the set has that name.
    case keyUnknown
    /// More than one key has that name.
    case keyAmbiguous
    /// The key may not serve: its kind, `use`, `key_ops`, `alg`, or strength.
    case keyUnusable
    /// The signature is not that key's over these bytes.
    case signature
}
