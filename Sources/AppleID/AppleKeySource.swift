package import JOSE

/// Where Apple's keys come from: the port that the key cache answers.
package protocol AppleKeySource {
    /// The keys by which a token that names `keyID` is to be verified.
    ///
    /// A source that does not know `keyID` asks Apple again before it answers, but not more often than its cooldown allows:
    /// the name comes from an unverified token. The set may still lack the key; then the token is refused.
    func keys(naming keyID: String) throws(KeysUnavailable) -> KeySet
}

/// Apple's keys could not be had, and none that may still be used are remembered. An outage, never the token's fault.
package struct KeysUnavailable: Error, Hashable {
    /// For the log: what failed. Holds nothing of the request.
    package var reason: String
    /// When it is worth trying again, in seconds.
    package var retryAfter: Int64

    package init(reason: String, retryAfter: Int64) {
        self.reason = reason
        self.retryAfter = retryAfter
    }
}
