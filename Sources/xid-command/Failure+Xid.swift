internal import Xid

extension Failure {
    /// What went wrong in the words of the command line: Xid's own speak to who writes an app.
    ///
    /// Of what the provider said only its registered error code is repeated; its sentence may hold anything.
    init(_ error: XidError) {
        let said = error.providerError.map { " (\($0))" } ?? ""
        switch error.code {
        case .noSession:
            self.init(reason: "nobody is signed in. Run: xid login", status: .notSignedIn)
        case .reauthorizationRequired:
            self.init(
                reason: "the session has ended and cannot be renewed\(said). Run: xid login", status: .notSignedIn)
        case .network:
            self.init(
                reason: "the provider cannot be reached. Check --issuer, or try again later", status: .unavailable)
        case .timeout:
            self.init(reason: "the provider took too long to answer. Try again later", status: .unavailable)
        case .userCancelled, .cancelled:
            self.init(reason: "cancelled; nobody was signed in")
        case .offlineAccessNeedsDPoP:
            self.init(reason: "the scope offline_access is refused without --dpop", status: .usage)
        case .authorizationDenied:
            self.init(reason: "access was denied on the provider's page. To try again: xid login")
        case .authorizationFailed, .tokenRefused:
            if ["temporarily_unavailable", "server_error"].contains(error.providerError) {
                self.init(reason: "the provider cannot do it now\(said). Try again later", status: .unavailable)
                return
            }
            self.init(
                reason:
                    "the provider refused the request\(said). Check that the client is registered as a public one, with "
                    + "this redirect URI and these scopes")
        case .flowExpired:
            self.init(reason: "no answer came from the browser within ten minutes. To try again: xid login")
        case .cannotStartBrowser:
            self.init(
                reason:
                    "nothing can listen for the redirect. --redirect-uri must be http://127.0.0.1/… with a port that is "
                    + "free, or none")
        case .metadataIssuerMismatch:
            self.init(
                reason:
                    "the provider calls itself otherwise. Give --issuer exactly as its discovery document has it: a "
                    + "slash at the end counts")
        case .endSessionUnsupported:
            self.init(reason: "signed out here, but the provider has no page for signing out. Leave out --end-session")
        case .tokenTypeMismatch:
            self.init(
                reason:
                    "the provider gave another kind of token than was asked for. Check whether it does DPoP, and --dpop"
            )
        case .dpopRefused where said.isEmpty:
            // Not by an answer: its metadata rules it out.
            self.init(reason: "\(error.message) Leave out --dpop")
        case .idTokenAuthTime, .idTokenExpired, .idTokenNonce, .idTokenNotYetValid, .idTokenSubject, .issuerMismatch,
            .stateMismatch, .noPendingFlow, .dpopRefused, .malformedRedirect, .redirectMismatch, .userInfoSubject:
            self.init(
                reason: "the provider's answer is not to be trusted: \(error.code.rawValue)\(said). Check this "
                    + "machine's clock; to try again: xid login")
        case .httpStatus:
            let status = error.httpStatus ?? 0
            guard status < 500, status != 429 else {
                self.init(reason: "the provider answers with HTTP \(status). Try again later", status: .unavailable)
                return
            }
            self.init(reason: "the provider answers with HTTP \(status), which is of no use here. Check --issuer")
        case .storageUnavailable, .storageFailed:
            let number = error.systemCode.map { ": " + Terminal.reason(Int32(truncatingIfNeeded: $0)) }
            self.init(
                reason: number.map {
                    "the tokens cannot be kept or looked at in $XDG_STATE_HOME/xid (~/.local/state/xid)\($0)"
                } ?? error.message)
        case .notConfigured, .configurationInvalid:
            self.init(reason: error.message, status: .usage)
        case .flowInProgress, .presentationContext, .tls, .responseTooLarge, .metadataInvalid,
            .pkceUnsupported, .keysInvalid, .tokenResponseInvalid, .idTokenMissing, .idTokenMalformed,
            .idTokenAlgorithm, .idTokenKeyUnknown, .ambiguousKey, .idTokenSignature, .idTokenIssuer, .idTokenAudience,
            .idTokenAuthorizedParty, .idTokenHash, .userInfoInvalid, .storageCorrupt, .cryptography:
            let number = error.httpStatus.map { " (HTTP \($0))" } ?? said
            self.init(reason: "\(error.message)\(number)")
        }
    }
}
