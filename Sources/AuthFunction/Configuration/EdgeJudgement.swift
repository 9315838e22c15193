/// What the rooms at the edge say of the values that are theirs to read: each gives what is wrong and how to mend it, or nil.
/// So a malformed address is refused at the start, with everything else that is wrong, and not found by the first request.
package struct EdgeJudgement {
    package typealias Fault = (problem: String, remedy: String)

    package var keysURL: (_ url: String, Configuration.Mode) -> Fault?
    package var keyCache: (_ path: String) -> Fault?
    package var store: (StoreSettings) -> Fault?

    package init(
        keysURL: @escaping (String, Configuration.Mode) -> Fault?, keyCache: @escaping (String) -> Fault?,
        store: @escaping (StoreSettings) -> Fault?
    ) {
        self.keysURL = keysURL
        self.keyCache = keyCache
        self.store = store
    }
}

/// All that is configured about the store.
package struct StoreSettings: Sendable {
    package let url: String
    package let mode: Configuration.Mode
    /// A folder with the statements of a users table of the owner's.
    package let accountQueries: String?
    package let linksVerifiedEmail: Bool

    package init(url: String, mode: Configuration.Mode, accountQueries: String?, linksVerifiedEmail: Bool = false) {
        self.url = url
        self.mode = mode
        self.accountQueries = accountQueries
        self.linksVerifiedEmail = linksVerifiedEmail
    }
}

extension ConfigurationReader {
    mutating func judge(_ name: String, _ fault: EdgeJudgement.Fault?) {
        guard let fault else { return }
        environment.reportOnce(name, fault.problem, remedy: fault.remedy)
    }
}
