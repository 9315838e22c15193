internal import AppleID
package import JOSE

/// What stays of a person who left, by deleting their account or by telling Apple to stop, so that no identity token of before, which
/// may be in other hands, signs in as them: neither while they are gone nor after they have come back. Who comes back signs in at
/// Apple again, and to that Apple issues a token of its own.
///
/// It is a mark like any other, under a digest of the `sub`: of who was deleted no `sub` is kept. It is remembered for longer than
/// any token of before can be young enough, and always for the same time, so that its end says when they left.
package enum Departure {
    /// `MAX_TOKEN_AGE_SECONDS` and twice `LEEWAY_SECONDS` where they are largest. Not what is configured, since marks outlive
    /// a change of that.
    static let seconds: Int64 = 604_800 + 2 * 300

    /// When the mark of a departure may end at most. One that ends later was left by a clock that ran ahead, and is not believed:
    /// else nobody could come back before that time.
    package static func latestEnd(at now: UnixTime) -> UnixTime { now.adding(seconds: seconds + 300) }

    /// What it leaves that the person of an account left at `time`. Nil where nobody signs in to it by Apple.
    package static func mark(of account: Account, at time: UnixTime, using cryptography: any Cryptography) -> Mark? {
        // In whole seconds, as `iat`: a token of the same second is not of before.
        account.appleSubject.map { mark(of: $0, UnixTime(seconds: time.seconds), cryptography) }
    }

    /// What the latest departure would have left that a token was not issued before, by more than clocks may differ.
    static func mark(
        latestBefore identity: AppleIdentity, leewaySeconds: Int64, using cryptography: any Cryptography
    ) -> Mark {
        mark(of: identity.subject, identity.issuedAt.adding(seconds: leewaySeconds), cryptography)
    }

    /// Its name says "deleted" as it always has: marks outlive the program that left them.
    private static func mark(of subject: String, _ time: UnixTime, _ cryptography: any Cryptography) -> Mark {
        let name = cryptography.sha256((Array("auth-apple deleted ".utf8) + subject.utf8)[...])
        return Mark(name: name, expiresAt: time.adding(seconds: seconds))
    }
}
