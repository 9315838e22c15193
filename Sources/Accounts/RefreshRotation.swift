package import JOSE

/// The rule of rotation: what a presented refresh token does to its session. Pure; the store carries it out.
package struct RefreshRotation {
    package let policy: SessionPolicy
    package let keys: SigningKeySet
    package let cryptography: any Cryptography

    package init(policy: SessionPolicy, keys: SigningKeySet, cryptography: any Cryptography) {
        self.policy = policy
        self.keys = keys
        self.cryptography = cryptography
    }

    /// How far the clocks of two machines may differ. A rotation that lies further in the future was before the clock was set
    /// back, and its grace must not last until that time has come again.
    private static let clockToleranceSeconds: Int64 = 60

    package enum Verdict {
        /// The token was good: the session as it is now, and the token that takes its place.
        case rotated(Session, RefreshToken)
        /// The token was used a moment ago: its successor once more. Nothing changes.
        case repeated(RefreshToken)
        /// A token of ours that was good once: somebody has a copy.
        case reused
        /// The session has run out.
        case expired
        /// Not a token of this session, or one whose successor's key is gone.
        case unknown
    }

    package func verdict(on token: RefreshToken, for session: Session, at now: UnixTime) -> Verdict {
        let state = session.refresh
        guard token.isGenuine(salt: state.salt, using: cryptography) else { return .unknown }
        guard session.isAlive(at: now) else { return .expired }
        let digest = token.digest(using: cryptography)
        if cryptography.areEqual(digest[...], state.digest[...]) { return rotate(token, digest, session, at: now) }

        guard let previous = state.previous, cryptography.areEqual(digest[...], previous.digest[...]),
            now <= previous.rotatedAt.adding(seconds: policy.graceSeconds),
            previous.rotatedAt <= now.adding(seconds: Self.clockToleranceSeconds)
        else { return .reused }
        guard let key = keys.sessionKey(named: previous.keyID, using: cryptography) else { return .unknown }
        return .repeated(token.successor(key: key, salt: state.salt, using: cryptography))
    }

    private func rotate(_ token: RefreshToken, _ digest: [UInt8], _ session: Session, at now: UnixTime) -> Verdict {
        let key = keys.sessionKey(using: cryptography)
        let successor = token.successor(key: key, salt: session.refresh.salt, using: cryptography)
        var rotated = session
        // A session's own time does not go back: by a clock that was set back it would be over once the clock is right again.
        rotated.lastUsedAt = max(now, session.lastUsedAt)
        rotated.refresh.digest = successor.digest(using: cryptography)
        rotated.refresh.expiresAt = rotated.lastUsedAt.adding(seconds: policy.refreshTokenSeconds)
        rotated.refresh.previous = RefreshState.Previous(digest: digest, rotatedAt: now, keyID: keys.current.keyID)
        return .rotated(rotated, successor)
    }
}

extension SigningKeySet {
    /// A key of 256 bits for what sessions need, from the secret of the signing key that is current.
    package func sessionKey(using cryptography: any Cryptography) -> SecretBytes {
        current.sessionKey(using: cryptography)
    }

    /// The same from the signing key of that name, if it is still there.
    func sessionKey(named keyID: String, using cryptography: any Cryptography) -> SecretBytes? {
        entries.first { $0.key.keyID == keyID }?.key.sessionKey(using: cryptography)
    }
}

extension SigningKey {
    /// HMAC under a label, so that neither key tells anything of the other.
    fileprivate func sessionKey(using cryptography: any Cryptography) -> SecretBytes {
        let label = Array("auth-apple session key 1".utf8)
        return switch privateKey.parts {
        case .p256(let d), .rsa(let d, _, _, _, _, _):
            SecretBytes(cryptography.hmacSHA256(label[...], key: d.bytes[...]))
        }
    }
}
