/// What the rooms at the edge say of the values that are theirs to read: each gives what is wrong and how to mend it, or nil.
/// So a malformed address is refused at the start, with everything else that is wrong, and not found by the first request.
package struct EdgeJudgement {
    package typealias Fault = (problem: String, remedy: String)

    package var keysURL: (_ url: String, Configuration.Mode) -> Fault?
    package var keyCache: (_ path: String) -> Fault?
    package var store: (_ url: String, _ accountQueries: String?, _ isLinking: Bool) -> Fault?

    package init(
        keysURL: @escaping (String, Configuration.Mode) -> Fault?, keyCache: @escaping (String) -> Fault?,
        store: @escaping (String, String?, Bool) -> Fault?
    ) {
        self.keysURL = keysURL
        self.keyCache = keyCache
        self.store = store
    }
}

extension ConfigurationReader {
    mutating func judge(_ name: String, _ fault: EdgeJudgement.Fault?) {
        guard let fault else { return }
        environment.reportOnce(name, fault.problem, remedy: fault.remedy)
    }
}
