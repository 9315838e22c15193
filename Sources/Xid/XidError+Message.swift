extension XidError.Code {
    /// What happened, and what to do.
    var message: String {
        switch self {
        case .notConfigured: "Call Xid.shared.configure(options:) before anything else, say in the app's initialiser."
        case .configurationInvalid: "A member of XidConfiguration or XidSignInOptions cannot be used."
        case .offlineAccessNeedsDPoP:
            "offline_access is refused without DPoP. Set dpop: .required in XidConfiguration, or drop the scope."
        case .flowInProgress: "A sign-in is open already. Wait for it, or call cancelSignIn()."
        case .noPendingFlow: "No sign-in waits for this redirect. Ignore it, or call signIn() again."
        case .flowExpired: "The redirect came more than ten minutes after the sign-in began. Call signIn() again."
        case .redirectMismatch: "The URL is not the configured redirectUri. Pass on only URLs that are."
        case .malformedRedirect:
            "The redirect is not an answer to response_type=code in the query. Check the client's registration: fragment and JARM "
                + "answers are not read."
        case .stateMismatch: "The redirect does not answer the sign-in that is open, which stays open. Ignore the URL."
        case .issuerMismatch:
            "The redirect was sent by another issuer, or does not name its issuer as this provider promises to (RFC 9207). Do not "
                + "go on; call signIn() again."
        case .authorizationDenied: "Access was denied. Let the person decide whether to try again."
        case .authorizationFailed:
            "The provider refused the request; providerError says why. Check the client's registration."
        case .userCancelled: "The person closed the browser window. Nothing is wrong; offer the button again."
        case .cancelled: "The sign-in was cancelled by the app, or the app signed out meanwhile."
        case .cannotStartBrowser:
            "The browser could not be opened, or nothing can listen for the redirect. On Linux redirectUri must be "
                + "http://127.0.0.1/… with a port that is free, or none, and xdg-utils must be installed; on Apple's systems it must "
                + "not be http."
        case .presentationContext:
            "There is no window to show the browser over. Call signIn() when a window is on screen."
        case .network: "The provider cannot be reached. The session is kept; try again later."
        case .timeout: "The provider took too long to answer. The session is kept; try again later."
        case .tls:
            "The provider did not prove who it is by TLS 1.2 or newer. Check its certificate and the device's clock."
        case .responseTooLarge: "The provider's answer is larger than allowed. Ask its operator."
        case .httpStatus:
            "The provider answered with a status that is of no use here. Try again later, or ask its operator."
        case .metadataInvalid:
            "The discovery document lacks a usable issuer, authorization_endpoint, token_endpoint or jwks_uri. Check the issuer."
        case .metadataIssuerMismatch:
            "The discovery document names another issuer. Configure the issuer exactly as the document has it: a slash at the "
                + "end counts."
        case .pkceUnsupported: "The provider does not offer PKCE with S256, and plain is never used. Ask its operator."
        case .keysInvalid: "The provider's key set cannot be read. Ask its operator."
        case .tokenRefused: "The token endpoint refused the request; providerError says why. Call signIn() again."
        case .tokenResponseInvalid: "The token endpoint's answer is malformed. Ask the provider's operator."
        case .tokenTypeMismatch:
            "The provider gave another kind of token than was asked for. Check whether it does DPoP, and the configuration."
        case .dpopRefused: "The provider refused the DPoP proof. Check the device's clock; then call signIn() again."
        case .idTokenMissing: "The provider gave no ID token. Check that the client may use the scope openid."
        case .idTokenMalformed: "The ID token is malformed. Ask the provider's operator."
        case .idTokenAlgorithm: "The ID token must be signed with RS256 or ES256. Change the client's registration."
        case .idTokenKeyUnknown: "The ID token's key is not in the issuer's key set. Try again in a minute."
        case .ambiguousKey:
            "Several keys of the issuer could have signed the ID token, as it names none. Ask its operator."
        case .idTokenSignature: "The ID token's signature is not the issuer's. Do not trust this answer."
        case .idTokenIssuer: "The ID token was issued by another issuer than the configured one. Check the issuer."
        case .idTokenSubject: "The ID token names nobody, or somebody else than before. Call signIn() again."
        case .idTokenAudience: "The ID token is meant for another client. Check the clientId."
        case .idTokenAuthorizedParty: "The ID token was issued to another client (azp). Check the clientId."
        case .idTokenExpired: "The ID token has expired. Check the device's clock; then call signIn() again."
        case .idTokenNotYetValid: "The ID token is from the future. Check the device's clock; then call signIn() again."
        case .idTokenNonce: "The ID token answers another sign-in. Call signIn() again."
        case .idTokenHash: "The ID token belongs to another access token or code. Do not trust this answer."
        case .idTokenAuthTime: "The login is older than was asked for, or another one. Call signIn() again."
        case .userInfoInvalid: "The UserInfo answer cannot be used. Ask the provider's operator."
        case .userInfoSubject: "The UserInfo answer is about somebody else, and was thrown away."
        case .noSession: "Nobody is signed in. Call signIn()."
        case .reauthorizationRequired: "The session cannot be renewed without the person. Call signIn()."
        case .endSessionUnsupported:
            "The session is erased here, but the provider has no end_session_endpoint. Call signOut(callEndSession: false)."
        case .storageUnavailable:
            "The token storage cannot be read or written now. Try again when the device is unlocked."
        case .storageFailed: "The token storage failed. Check the TokenStorageAdapter; what it held is not touched."
        case .storageCorrupt:
            "The token storage holds something that Xid did not put there. Sign out, or sign in again."
        case .cryptography: "The cryptographic library failed, which should not happen. Restart the app."
        }
    }
}
