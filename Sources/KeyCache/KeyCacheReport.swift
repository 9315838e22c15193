/// What the cache did since it was last asked: for the log line of a request, and for `check`.
package struct KeyCacheReport: Hashable, Sendable {
    package enum Outcome: String, Hashable, Sendable {
        /// Fresh keys were at hand.
        case hit
        /// Keys past their freshness were at hand and used.
        case stale
        /// The keys were fetched before the answer: by this process, or by another one that it waited for.
        case refreshed
        case unavailable
    }

    /// Things worth knowing, none of which fails a request by itself.
    package enum Note: Hashable, Sendable {
        /// The file, or its folder, was not used for what it holds or could not take the new keys.
        case file(KeyFileFault)
        /// The file is not one that this program wrote: truncated, altered, or of another version.
        case fileCorrupt
        /// The file remembers the keys of another address.
        case fileOfAnotherAddress
        /// A time in the file lies in the future: the clock was set back.
        case clockSetBack
        /// A fetch failed.
        case fetchFailed(KeyFetchFailure)
        /// Stale keys were renewed after the answer.
        case renewed

        /// Whether it says that the file can do nothing for others: it will not go away by itself.
        package var isOfTheFile: Bool {
            if case .file = self { true } else { false }
        }
    }

    /// Nil when no keys were asked for.
    package var outcome: Outcome?
    package var notes: [Note] = []
}

extension KeyCacheReport.Note: CustomStringConvertible {
    package var description: String {
        switch self {
        case .file(let fault): fault.description
        case .fileCorrupt: "cache file is corrupt: not used"
        case .fileOfAnotherAddress: "cache file is of another address: not used"
        case .clockSetBack: "cache file has times in the future: not believed"
        case .fetchFailed(let failure): "fetch failed: \(failure)"
        case .renewed: "renewed after the answer"
        }
    }
}
