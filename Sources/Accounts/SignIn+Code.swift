internal import AppleID
internal import JOSE

/// The authorization code beside an identity token.
extension SignIn {
    /// Whether anything is to become of a code.
    package var wantsCode: Bool { policy.codes != nil }

    func judge(_ code: SecretBytes?, with identity: AppleIdentity) throws(SignInFailure) -> CodeBinding? {
        guard let code else { return nil }
        let binding = CodeBinding(
            code: String(decoding: code.bytes, as: UTF8.self), identity: identity, using: cryptography)
        if binding == .mismatch, policy.codes == .refused { throw .codeMismatch }
        return binding
    }

    /// A code goes on with the sign-in that it came with, and not with the repetition of one: it is good once.
    func code(
        of request: Request, _ binding: CodeBinding?, for signedIn: SignedIn, of identity: AppleIdentity
    ) -> PresentedCode? {
        guard let code = request.code, let binding, signedIn.clientID != nil else { return nil }
        switch binding {
        case .mismatch: return .dropped
        // Apple's native tokens name their code, though no page of Apple's says so. Where one does not, the exchange shows
        // whose the code is: its answer names the person.
        case .bound, .unbound:
            return .presented(
                AuthorizationCode(
                    code: code, accountID: signedIn.account.id, subject: identity.subject,
                    clientID: identity.audience))
        }
    }
}

/// What becomes of a sign-in whose code is not the token's (`CODE_MISMATCH`). The code is not used in either case.
package enum CodeMismatch: String, Hashable, Sendable {
    /// OpenID Connect Core §3.3.2.10: who mixes a code with another's token means harm, or has a fault that they should see.
    case refused = "refuse"
    case ignored = "ignore"
}

package enum PresentedCode: Sendable {
    /// To be exchanged after the answer.
    case presented(AuthorizationCode)
    /// It is not the token's.
    case dropped
}
