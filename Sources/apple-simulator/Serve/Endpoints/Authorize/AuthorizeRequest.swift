internal import JOSE

/// What an app asks of the authorize endpoint, once it is as Apple wants it (RFC 6749 §4.1.1, OAuth 2.0 Multiple Response Types
/// and Form Post Response Mode).
struct AuthorizeRequest {
    enum Mode: String {
        case query, fragment
        case formPost = "form_post"
    }

    /// A parameter that is wrong, and why.
    struct Problem {
        var parameter: String
        var spanish: String
        var english: String

        init(_ parameter: String, _ spanish: String, _ english: String) {
            self.parameter = parameter
            self.spanish = spanish
            self.english = english
        }
    }

    struct Refusal: Error {
        var problems: [Problem]
    }

    static let parameters = [
        "client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce",
    ]

    let client: Registry.Client
    let redirectURI: String
    let wantsIdentityToken: Bool
    let mode: Mode
    let wantsName: Bool
    let wantsEmail: Bool
    let state: String?
    let nonce: String?

    /// All that is wrong is said at once.
    init(checking form: Form, registry: Registry) throws(Refusal) {
        var problems: [Problem] = []
        let client = form["client_id"].flatMap(registry.client)
        if form["client_id"] == nil {
            problems.append(Problem("client_id", "Falta.", "It is missing."))
        } else if client == nil {
            problems.append(Problem("client_id", "No está registrado (--client).", "It is not registered (--client)."))
        }
        if let problem = Self.problem(withRedirectURI: form["redirect_uri"], of: client) { problems.append(problem) }

        let types = Set(form["response_type"]?.split(separator: " ").map(String.init) ?? [])
        wantsIdentityToken = types.contains("id_token")
        if !types.contains("code") || !types.isSubset(of: ["code", "id_token"]) {
            problems.append(
                Problem(
                    "response_type", "Debe ser \"code\" o \"code id_token\".",
                    "It must be \"code\" or \"code id_token\"."))
        }
        let scopes = Set(form["scope"]?.split(separator: " ").map(String.init) ?? [])
        (wantsName, wantsEmail) = (scopes.contains("name"), scopes.contains("email"))
        // Libraries of OpenID Connect send openid always, and Apple lets them.
        if !scopes.isSubset(of: ["name", "email", "openid"]) {
            problems.append(Problem("scope", "Solo existen name y email.", "There are only name and email."))
        }
        let mode =
            form["response_mode"].map(Mode.init(rawValue:)) ?? (wantsIdentityToken ? .fragment : .query)
        if let problem = Self.problem(
            withMode: mode, needsFormPost: wantsName || wantsEmail, hasIdentityToken: wantsIdentityToken)
        {
            problems.append(problem)
        }
        (state, nonce) = (form["state"], form["nonce"])
        for (name, value) in [("state", state), ("nonce", nonce)] {
            // A browser would send a line end back as another one.
            if let value, value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
                problems.append(
                    Problem(name, "Tiene caracteres de control.", "It has control characters."))
            }
        }
        guard problems.isEmpty, let client, let redirectURI = form["redirect_uri"], let mode else {
            throw Refusal(problems: problems)
        }
        (self.client, self.redirectURI, self.mode) = (client, redirectURI, mode)
    }

    private static func problem(withRedirectURI text: String?, of client: Registry.Client?) -> Problem? {
        guard let text else { return Problem("redirect_uri", "Falta.", "It is missing.") }
        guard RedirectURI.isAllowed(text) else {
            return Problem(
                "redirect_uri", "Debe ser \(RedirectURI.regla).", "It must be \(RedirectURI.rule).")
        }
        guard let client, !client.redirectURIs.isEmpty,
            !client.redirectURIs.contains(where: { $0.isIdentical(to: text) })
        else { return nil }
        return Problem(
            "redirect_uri", "No está registrada para este client_id (--client); debe ser idéntica.",
            "It is not registered for this client_id (--client); it must be identical.")
    }

    private static func problem(withMode mode: Mode?, needsFormPost: Bool, hasIdentityToken: Bool) -> Problem? {
        switch mode {
        case nil:
            Problem(
                "response_mode", "Debe ser form_post, query o fragment.", "It must be form_post, query or fragment.")
        case .formPost: nil
        case .query, .fragment:
            if needsFormPost {
                Problem(
                    "response_mode", "Debe ser form_post cuando scope pide name o email.",
                    "It must be form_post when scope asks for name or email.")
            } else if mode == .query, hasIdentityToken {
                Problem(
                    "response_mode", "Debe ser form_post o fragment cuando response_type tiene id_token.",
                    "It must be form_post or fragment when response_type has id_token.")
            } else {
                nil
            }
        }
    }

    /// Twice the same question: the form of the page says everything again, and it is checked again.
    var hiddenFields: [HTML] {
        let types = wantsIdentityToken ? "code id_token" : "code"
        let scope = [wantsName ? "name" : nil, wantsEmail ? "email" : nil].compactMap(\.self).joined(separator: " ")
        return [
            .hidden("client_id", client.id), .hidden("redirect_uri", redirectURI), .hidden("response_type", types),
            .hidden("response_mode", mode.rawValue), .hidden("scope", scope.isEmpty ? nil : scope),
            .hidden("state", state), .hidden("nonce", nonce),
        ]
    }
}
