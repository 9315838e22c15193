package import JOSE

/// Apple's refresh token for one person and one client, sealed (AES-256-GCM, bound to both): what revoking needs when the
/// account is deleted (App Store Review Guideline 5.1.1(v), TN3194).
package struct AppleGrant: Hashable, Sendable {
    package let accountID: UUIDv7
    /// The Bundle ID or Services ID that got the code; no other can use the token.
    package let clientID: String
    /// Names the key that it is sealed under.
    package let keyID: String
    package let sealed: [UInt8]
    package let obtainedAt: UnixTime

    package init(accountID: UUIDv7, clientID: String, keyID: String, sealed: [UInt8], obtainedAt: UnixTime) {
        self.accountID = accountID
        self.clientID = clientID
        self.keyID = keyID
        self.sealed = sealed
        self.obtainedAt = obtainedAt
    }
}

/// A grant whose account is gone and that Apple is still to be told of: an entry of the outbox.
package struct Revocation: Hashable, Sendable {
    package let grant: AppleGrant
    /// How often it was taken to be carried out.
    package let attempts: Int
    package let dueAt: UnixTime

    package init(grant: AppleGrant, attempts: Int = 0, dueAt: UnixTime) {
        self.grant = grant
        self.attempts = attempts
        self.dueAt = dueAt
    }

    /// Seconds. What is due later than this was written by a clock that ran ahead, and is due now: else Apple would not be told
    /// before that time comes.
    package static let longestWaitSeconds: Int64 = 86_400

    package func isDue(at now: UnixTime) -> Bool {
        dueAt <= now || dueAt > now.adding(seconds: Self.longestWaitSeconds)
    }

    /// The entry once somebody has taken it: it is due again after a while that grows from a minute to a day. Who succeeds
    /// removes it before; who dies has it tried again.
    package func taken(at now: UnixTime) -> Revocation {
        let minutes = attempts < 6 ? Int64(1) << Int64(2 * attempts) : 1440
        return Revocation(
            grant: grant, attempts: attempts + 1, dueAt: now.adding(seconds: 60 * min(minutes, 1440)))
    }
}

/// Where Apple's refresh tokens are kept, and the outbox of those to be revoked. Each method is one transaction, as in
/// `UserRepository`.
package protocol AppleGrantRepository {
    /// Keeps a grant in the place of that of the same account and client. If the account is gone, it is to be revoked at once
    /// instead: the person has left and Apple should know.
    func keep(_ grant: AppleGrant) throws(StoreError)

    func grants(of accountID: UUIDv7) throws(StoreError) -> [AppleGrant]

    /// Puts `new` in the place of `old`, which differs in how it is sealed, among the grants and among the revocations. Nothing
    /// happens where what is kept is not `old` any more.
    func replace(_ old: AppleGrant, by new: AppleGrant) throws(StoreError)

    /// Takes as many as `limit` of the revocations that are due (`Revocation.isDue`), those longest due first, and puts each off
    /// (`Revocation.taken`): of two processes that ask at once one gets each.
    func takeRevocations(due now: UnixTime, limit: Int) throws(StoreError) -> [Revocation]

    /// Removes a revocation that was carried out.
    func finish(_ revocation: Revocation) throws(StoreError)

    /// All that wait, those due first first; for the operator.
    func revocations(limit: Int) throws(StoreError) -> [Revocation]
}
