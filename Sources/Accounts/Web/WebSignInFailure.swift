/// Why the web flow did not go on.
package enum WebSignInFailure: Error, Hashable {
    case refused(WebRefusal)
    case signIn(SignInFailure)
}

/// What was refused in the web flow, beside the identity token: for our log. The caller learns only that it was.
package enum WebRefusal: String, Error, Hashable, Sendable, CaseIterable {
    /// Not a state that we sealed, or the key that sealed it is gone.
    case state
    case stateExpired = "state_expired"
    /// Another browser began the flow.
    case stateForeign = "state_of_another_browser"
    /// The address has been taken off the list since the flow began.
    case returnURL = "return_url"
    /// The person does not want to.
    case cancelled
    /// Apple answered with another error.
    case appleError = "apple_error"
    /// Apple's answer lacks the identity token or the code.
    case incomplete
    /// The identity token does not belong to the code that came with it.
    case codeHash = "c_hash"
    /// Not a code that we sealed, or the key that sealed it is gone.
    case code
    case codeExpired = "code_expired"
    /// Not the verifier of the challenge with which the flow began.
    case codeVerifier = "code_verifier"
}
