package import Accounts
package import JOSE

/// How many attempts are allowed in how many seconds.
package struct RateLimit: Hashable, Sendable {
    package var attempts: Int64
    package var seconds: Int64

    package init(attempts: Int64, seconds: Int64) {
        self.attempts = attempts
        self.seconds = seconds
    }
}

/// Limits against abuse that hold across processes: fixed windows, counted in the store. Off unless configured.
package struct RateLimiter {
    package enum Subject: String, CaseIterable, Sendable {
        /// Sign-ins, by address.
        case signIn = "sign-in"
        /// Refreshes, by session.
        case refresh
    }

    private let limits: [Subject: RateLimit]
    private let counter: any AttemptCounter
    /// Made when it is needed: most deployments have no limits, and most requests none that counts.
    private let secret: () -> SecretBytes
    private let cryptography: any Cryptography

    package init(
        limits: [Subject: RateLimit], counter: any AttemptCounter, secret: @escaping () -> SecretBytes,
        cryptography: any Cryptography
    ) {
        self.limits = limits
        self.counter = counter
        self.secret = secret
        self.cryptography = cryptography
    }

    /// Counts an attempt, if there is a limit on it, and refuses it past the limit.
    ///
    /// - Parameter identity: whose attempt it is, asked for only where there is a limit; nil for nobody's, which is not
    ///   counted: what a stranger made up must neither use up another's attempts nor fill the store.
    func count(
        _ subject: Subject, at now: UnixTime, of identity: () throws(Failure) -> [UInt8]?
    ) throws(Failure) {
        guard let limit = limits[subject], let identity = try identity() else { return }
        let start = now.seconds - now.seconds % limit.seconds
        let key = AttemptKey(kind: subject.rawValue, subject: identity, secret: secret(), using: cryptography)
        let attempts: Int64
        do throws(StoreError) {
            attempts = try counter.count(key, window: UnixTime(seconds: start), of: limit.seconds)
        } catch {
            throw .storeUnavailable(error)
        }
        guard attempts <= limit.attempts else {
            throw .tooManyRequests(policy: subject.rawValue, limit, retryAfter: start + limit.seconds - now.seconds)
        }
    }
}
