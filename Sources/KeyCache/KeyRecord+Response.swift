internal import JOSE

extension KeyRecord {
    func knows(_ keyID: String) -> Bool {
        fetched?.keys.contains(keyID) ?? false
    }

    /// Takes in what the server said. The keys that are remembered give way only to a set that can verify something.
    mutating func accept(_ response: KeyResponse, at now: UnixTime) throws(KeyFetchFailure) {
        let tag = response.entityTag.flatMap(EntityTag.init)
        switch (response.status, fetched) {
        case (200, _):
            let keys: KeySet
            do {
                keys = try KeySet(parsing: response.body[...])
            } catch {
                throw .notKeySet
            }
            guard keys.contains(.rs256) else { throw .noUsableKey }
            fetched = Fetched(
                keys: keys, fetchedAt: now, freshUntil: Freshness(of: response).end(from: now), entityTag: tag)
        case (304, let known?) where known.entityTag != nil:
            // RFC 9110 §15.4.5: the same keys, said anew.
            fetched = Fetched(
                keys: known.keys, fetchedAt: now, freshUntil: Freshness(of: response).end(from: now),
                entityTag: tag ?? known.entityTag)
        default:
            throw .status(response.status)
        }
        lastAttempt = Attempt(endedAt: now, hasFailed: false)
    }

    /// Remembers that there was no usable answer.
    mutating func recordFailure(at now: UnixTime) {
        lastAttempt = Attempt(endedAt: now, hasFailed: true)
        // Keys from the future, that is from before the clock was set back: their age begins now, or it would never end.
        if let known = fetched, known.fetchedAt > now {
            fetched?.fetchedAt = now
            fetched?.freshUntil = UnixTime(milliseconds: now.milliseconds + Freshness.bounds.lowerBound)
        }
    }
}
