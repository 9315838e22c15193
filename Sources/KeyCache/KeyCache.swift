package import AppleID
internal import Glibc
package import JOSE

/// Apple's keys, remembered in a file that outlives the process and is shared by all of them.
///
/// When what is used and when it is fetched is `RefreshPolicy`'s matter; how the file is kept whole is `KeyFile`'s. Here the
/// two are joined so that, of many processes, one fetches: it holds the file's lock, and the others use what they have, or
/// wait for it when they have nothing. Without a usable file every process fetches for itself, and says so.
package final class KeyCache: AppleKeySource {
    /// Asks the server for its keys; `entityTag` is that of the keys at hand, for `If-None-Match`.
    package typealias Fetch = (_ entityTag: String?) throws(KeyFetchFailure) -> KeyResponse

    private let file: KeyFile
    private let policy = RefreshPolicy()
    private let now: () -> UnixTime
    private let fetch: Fetch

    private var record: KeyRecord
    /// The version of the file that was read last, or written.
    private var stamp: KeyFile.Stamp?
    private var lastFailure: KeyFetchFailure?
    private var report = KeyCacheReport()

    /// - Parameters:
    ///   - path: the cache file; its folder is created. Nil comes back when it does not name a file (`canBe(at:)`).
    ///   - url: the address that `fetch` asks. Keys that the file remembers of another one are not used.
    package init?(path: String, url: String, now: @escaping () -> UnixTime, fetch: @escaping Fetch) {
        let file = KeyFile(path: path, maximumSize: KeyRecord.maximumSize, beginning: KeyRecord.beginning)
        guard let file else { return nil }
        self.file = file
        self.now = now
        self.fetch = fetch
        record = KeyRecord(url: url)
    }

    /// Whether a path names a file. Whether that can be read and written is another matter, and may change.
    package static func canBe(at path: String) -> Bool {
        KeyFile(path: path, maximumSize: KeyRecord.maximumSize) != nil
    }

    package func keys(naming keyID: String) throws(KeysUnavailable) -> KeySet {
        load()
        var hasRefreshed = false
        if decision(for: keyID) == .fetch {
            hasRefreshed = true
            refresh(naming: keyID, patience: 6) { self.decision(for: keyID) == .fetch }
        }
        let decision = decision(for: keyID)
        guard decision == .use, let keys = record.fetched?.keys else {
            report.outcome = .unavailable
            throw unavailability(decision)
        }
        report.outcome = hasRefreshed ? .refreshed : policy.condition(of: record, at: now()) == .fresh ? .hit : .stale
        return keys
    }

    /// Whether `refreshIfStale` would have something to do, by what the last request saw.
    package var wantsRefresh: Bool { policy.wantsRenewal(of: record, at: now()) }

    /// Renews keys that are past their freshness; to be called when the answer has been written and nobody waits. Costs
    /// nothing when they are fresh, or when another process is at it.
    package func refreshIfStale() {
        refresh(naming: nil, patience: 0) { self.policy.wantsRenewal(of: self.record, at: self.now()) }
    }

    /// What happened since the last call.
    package func takeReport() -> KeyCacheReport {
        defer { report = KeyCacheReport() }
        return report
    }

    private func decision(for keyID: String) -> RefreshPolicy.Decision {
        policy.decision(for: record, knowsKey: record.knows(keyID), at: now())
    }

    /// Fetches once if that is still wanted when it is this process's turn. While another process fetches, waits for what
    /// that one brings, but not longer than `patience`, in seconds.
    private func refresh(naming keyID: String?, patience: Int, while isWanted: () -> Bool) {
        let end = Self.monotonicMilliseconds() + patience * 1000
        while isWanted() {
            do {
                if let lock = try file.lock() {
                    load()
                    if isWanted() {
                        fetchKeys(naming: keyID)
                        store(by: lock)
                    }
                    return
                }
            } catch {
                note(.file(error))
                fetchKeys(naming: keyID)
                return
            }
            guard Self.monotonicMilliseconds() < end else { return }
            usleep(10_000)
            load()
        }
    }

    private func fetchKeys(naming keyID: String?) {
        do {
            // Where a key is missing the whole set is asked for: "not modified" would say nothing about what is at hand.
            let isRenewal = keyID.map(record.knows) ?? true
            try record.accept(fetch(isRenewal ? record.fetched?.entityTag?.text : nil), at: now())
            lastFailure = nil
            if let keyID, !record.knows(keyID) { record.missedAt = now() }
            if keyID == nil { note(.renewed) }
        } catch {
            record.recordFailure(at: now())
            lastFailure = error
            note(.fetchFailed(error))
        }
    }

    private func store(by lock: borrowing KeyFile.Lock) {
        do {
            stamp = nil
            stamp = try lock.replace(with: record.serialized())
        } catch {
            note(.file(error))
        }
    }

    /// Takes in the file if it is not the version that was seen last.
    private func load() {
        do {
            switch try file.read(unless: stamp) {
            case .unchanged: break
            case .absent: stamp = nil
            case .bytes(let bytes, let stamp):
                self.stamp = stamp
                adopt(bytes)
            }
        } catch {
            stamp = nil
            note(.file(error))
        }
    }

    private func adopt(_ bytes: [UInt8]) {
        guard let read = KeyRecord(parsing: bytes) else { return note(.fileCorrupt) }
        guard read.url == record.url else { return note(.fileOfAnotherAddress) }
        if let fetched = read.fetched, !policy.isBelievable(fetched.fetchedAt, at: now()) { note(.clockSetBack) }
        // What this process fetched and could not store is newer than the file.
        if let own = record.fetched?.fetchedAt, policy.isBelievable(own, at: now()),
            own > read.fetched?.fetchedAt ?? UnixTime(milliseconds: 0)
        {
            return
        }
        record = read
    }

    private func unavailability(_ decision: RefreshPolicy.Decision) -> KeysUnavailable {
        guard case .wait(let seconds) = decision else {
            return KeysUnavailable(reason: "another process has been fetching the keys for too long", retryAfter: 1)
        }
        let failure = lastFailure.map { "fetching the keys failed: \($0)" } ?? "the last fetch of the keys failed"
        return KeysUnavailable(reason: "\(failure); the next is tried in \(seconds) s", retryAfter: seconds)
    }

    private func note(_ note: KeyCacheReport.Note) {
        if !report.notes.contains(note) { report.notes.append(note) }
    }

    private static func monotonicMilliseconds() -> Int {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}
