import Accounts
import JOSE

/// What came of a sign-in: its outcome, and what the store was given to hold.
package struct CandidateSignIn {
    package let outcome: SignInOutcome
    /// The account that `open` saw, and whether nobody was found.
    package let account: Account?
    package let isNew: Bool

    package var isDone: Bool { if case .done = outcome { true } else { false } }
}

extension UserRepository {
    /// Signs in a person with this `sub` and what else `candidate` says, as the use case does: a known account learns from it.
    package func signIn(
        _ candidate: Account, since departure: Mark? = nil, repeating repetition: [UInt8]? = nil,
        once marks: [Mark] = [],
        _ open: (_ account: Account, _ isNew: Bool) -> Opening?
    ) throws(StoreError) -> CandidateSignIn {
        var seen: Account?
        var isNew = false
        let lookup = AppleLookup(subject: candidate.appleSubject ?? "", transferSubject: candidate.transferSubject)
        let outcome = try signIn(lookup, since: departure, repeating: repetition, once: marks, at: candidate.updatedAt)
        { known in
            let account = known?.learning(candidate.profile, at: candidate.updatedAt) ?? candidate
            seen = account
            isNew = known == nil
            return open(account, known == nil)
        }
        return CandidateSignIn(outcome: outcome, account: seen, isNew: isNew)
    }
}
