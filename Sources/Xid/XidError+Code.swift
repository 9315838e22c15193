extension XidError {
    /// What kind of thing went wrong. The raw values are stable.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// `configure(options:)` has not been called.
        case notConfigured = "not_configured"
        /// The configuration or the options contradict the protocol; the message names the member.
        case configurationInvalid = "configuration_invalid"
        /// `offline_access` without DPoP.
        case offlineAccessNeedsDPoP = "offline_access_needs_dpop"

        /// A sign-in is open already.
        case flowInProgress = "flow_in_progress"
        /// No sign-in waits for a redirect.
        case noPendingFlow = "no_pending_flow"
        /// The redirect came too late.
        case flowExpired = "flow_expired"
        /// The URL is not the configured redirect URI.
        case redirectMismatch = "redirect_mismatch"
        /// The redirect does not have the shape of RFC 6749 §4.1.2.
        case malformedRedirect = "malformed_redirect"
        /// The redirect is not the answer to this sign-in.
        case stateMismatch = "state_mismatch"
        /// The redirect is not this provider's (RFC 9207).
        case issuerMismatch = "issuer_mismatch"
        /// The person, or the provider for them, said no.
        case authorizationDenied = "authorization_denied"
        /// The provider refused the request.
        case authorizationFailed = "authorization_failed"

        /// The person closed the browser window.
        case userCancelled = "user_cancelled"
        /// The app cancelled, or signed out meanwhile.
        case cancelled
        /// The browser could not be opened.
        case cannotStartBrowser = "cannot_start_browser"
        /// There is no window to show the browser over.
        case presentationContext = "presentation_context"

        /// Nobody answers, or the exchange broke off.
        case network
        /// The answer took too long.
        case timeout
        /// No secure connection to the provider.
        case tls
        /// The answer was larger than allowed.
        case responseTooLarge = "response_too_large"
        /// An answer with a status that is of no use here.
        case httpStatus = "http_status"

        /// The discovery document lacks something, or holds something that may not be used.
        case metadataInvalid = "metadata_invalid"
        /// The discovery document is another issuer's.
        case metadataIssuerMismatch = "metadata_issuer_mismatch"
        /// The provider does not do PKCE with S256.
        case pkceUnsupported = "pkce_unsupported"
        /// The key set cannot be read.
        case keysInvalid = "keys_invalid"

        /// The token endpoint refused.
        case tokenRefused = "token_refused"
        /// The token endpoint's answer does not have the shape of RFC 6749 §5.1.
        case tokenResponseInvalid = "token_response_invalid"
        /// A token of another kind than was asked for.
        case tokenTypeMismatch = "token_type_mismatch"
        /// DPoP was refused.
        case dpopRefused = "dpop_refused"

        /// The ID token is missing.
        case idTokenMissing = "id_token_missing"
        /// The ID token is not a JWT, or a claim has another type than it must have.
        case idTokenMalformed = "id_token_malformed"
        /// The ID token is signed by an algorithm other than RS256 and ES256, or not at all.
        case idTokenAlgorithm = "id_token_algorithm"
        /// No key of the issuer has the ID token's `kid`.
        case idTokenKeyUnknown = "id_token_key_unknown"
        /// Several keys of the issuer could have signed.
        case ambiguousKey = "ambiguous_key"
        /// The signature is not the issuer's.
        case idTokenSignature = "id_token_signature"
        /// `iss` is another issuer.
        case idTokenIssuer = "id_token_issuer"
        /// `sub` is missing, or another person's.
        case idTokenSubject = "id_token_subject"
        /// `aud` is another client.
        case idTokenAudience = "id_token_audience"
        /// `azp` is another client, or missing where there are several audiences.
        case idTokenAuthorizedParty = "id_token_authorized_party"
        /// `exp` is past.
        case idTokenExpired = "id_token_expired"
        /// `iat` or `nbf` lies in the future.
        case idTokenNotYetValid = "id_token_not_yet_valid"
        /// `nonce` is not the one of this sign-in.
        case idTokenNonce = "id_token_nonce"
        /// `at_hash` or `c_hash` belongs to another token or code.
        case idTokenHash = "id_token_hash"
        /// The login is older than `maxAge` allows, or another one than before.
        case idTokenAuthTime = "id_token_auth_time"

        /// The UserInfo answer cannot be used.
        case userInfoInvalid = "userinfo_invalid"
        /// The UserInfo answer is about somebody else.
        case userInfoSubject = "userinfo_subject"

        /// Nobody is signed in.
        case noSession = "no_session"
        /// The session can no longer be renewed.
        case reauthorizationRequired = "reauthorization_required"
        /// The provider has no address for signing out.
        case endSessionUnsupported = "end_session_unsupported"

        /// The storage cannot be looked into now, for instance because the device is locked. The session is not lost.
        case storageUnavailable = "storage_unavailable"
        /// The storage failed.
        case storageFailed = "storage_failed"
        /// What the storage holds is not what was put there.
        case storageCorrupt = "storage_corrupt"

        /// The cryptographic library failed.
        case cryptography
    }
}
