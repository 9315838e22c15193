internal import JOSE

/// The request that the browser carries to the provider (OpenID Connect Core §3.1.2.1, RFC 7636 §4.3).
struct AuthorizationRequest {
    /// What this file says itself, or what would make the answer another one. Whoever could set them could undo the checks.
    private static let reserved: Set<String> = [
        "response_type", "response_mode", "client_id", "client_secret", "redirect_uri", "scope", "state", "nonce",
        "prompt",
        "login_hint", "ui_locales", "max_age", "code_challenge", "code_challenge_method", "dpop_jkt", "request",
        "request_uri", "registration", "claims_locales_supported", "id_token_hint",
    ]

    let fields: [(String, String)]

    init(
        _ flow: PendingFlow, client: Client, options: XidSignInOptions, using cryptography: any TokenCryptography
    ) throws(XidError) {
        var fields = [
            ("response_type", "code"), ("client_id", client.clientID), ("redirect_uri", flow.redirectURI),
            ("scope", client.scope), ("state", flow.state.text), ("nonce", flow.nonce.text),
            ("code_challenge", Self.challenge(for: flow.verifier, using: cryptography)),
            ("code_challenge_method", "S256"),
        ]
        // The code is bound to the key as well (RFC 9449 §10).
        if let key = flow.key {
            fields.append(("dpop_jkt", key.privateKey.publicKey.thumbprint(using: cryptography)))
        }
        if let prompt = options.prompt { fields.append(("prompt", prompt)) }
        if let hint = options.loginHint { fields.append(("login_hint", hint)) }
        if !options.uiLocales.isEmpty { fields.append(("ui_locales", options.uiLocales.joined(separator: " "))) }
        if let maxAge = flow.maxAge { fields.append(("max_age", String(maxAge))) }
        for (name, value) in options.additionalParameters.sorted(by: { $0.key < $1.key }) {
            fields.append((name, value))
        }
        self.fields = fields
    }

    /// Before anything is made or asked.
    static func check(_ options: XidSignInOptions) throws(XidError) {
        for name in options.additionalParameters.keys where name.isEmpty || reserved.contains(name.lowercased()) {
            throw XidError(
                .configurationInvalid,
                message: "additionalParameters holds a parameter that is not the app's to set. Use the members of "
                    + "XidSignInOptions and XidConfiguration.")
        }
        guard options.maxAge.map({ $0 >= 0 }) ?? true else {
            throw XidError(.configurationInvalid, message: "maxAge must not be negative.")
        }
    }

    /// S256 and nothing else: there is no code here that could send `plain`.
    static func challenge(for verifier: SecretText, using cryptography: any TokenCryptography) -> String {
        Base64URL.encode(cryptography.sha256(Array(verifier.text.utf8)[...]))
    }
}
