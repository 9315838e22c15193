package import JOSE

extension SigningKeySet {
    /// How long a key is published before it signs, in seconds: longer than any verifier is known to remember a key set
    /// (Amazon API Gateway: two hours), and longer than the `max-age` that we publish it with.
    package static let announcementSeconds: Int64 = 3 * 3600

    /// `max-age` of the published set, in seconds.
    package static let publicMaxAgeSeconds: Int64 = 900

    package enum Rotation: Hashable, Sendable {
        /// There was no next key: it is published now, and signs after the announcement.
        case announced
        /// Next became current, current became previous, and a new next is published.
        case rotated
        /// Nothing was changed: so many seconds are still to pass.
        case tooEarly(seconds: Int64)
    }

    /// One step of the rotation. `candidate` becomes the next key, unless it is too early.
    ///
    /// - Parameters:
    ///   - accessTokenSeconds: how long tokens of the current key live after it stops signing.
    package mutating func rotate(
        next candidate: SigningKey, at now: UnixTime, accessTokenSeconds: Int64
    ) -> Rotation {
        guard let next = entries.first(where: { $0.state == .next }) else {
            entries.append(Entry(key: candidate, state: .next, since: now))
            return .announced
        }
        let previousEnd = entries.filter { $0.state == .previous }.map {
            $0.since.adding(seconds: accessTokenSeconds + 60)
        }
        let earliest = (previousEnd + [next.since.adding(seconds: Self.announcementSeconds)]).max() ?? now
        guard now >= earliest else {
            return .tooEarly(seconds: earliest.seconds - now.seconds + 1)
        }
        entries = entries.compactMap { entry in
            switch entry.state {
            case .next: Entry(key: entry.key, state: .current, since: now)
            case .current: Entry(key: entry.key, state: .previous, since: now)
            case .previous: nil
            }
        }
        entries.append(Entry(key: candidate, state: .next, since: now))
        return .rotated
    }

    /// After a leak: no key of before signs or is published any more. The next key lay where the current one leaked from, so
    /// it goes with it. There is no announcement: what the old keys signed is refused wherever the new set is read, and a
    /// verifier that remembers the old one goes on believing them for as long as it remembers.
    package mutating func replaceAll(current: SigningKey, next: SigningKey, at now: UnixTime) {
        self = SigningKeySet(current: current, next: next, at: now)
    }
}
