internal import JOSE

/// What goes back to the app, in the way that it asked for.
struct AuthorizeAnswer {
    let request: AuthorizeRequest
    let parameters: [(name: String, value: String)]

    init(_ request: AuthorizeRequest, _ signIn: SignIn) {
        self.request = request
        var parameters = [(name: "code", value: signIn.code)]
        if request.wantsIdentityToken { parameters.append(("id_token", signIn.identityToken)) }
        if let state = request.state { parameters.append(("state", state)) }
        if let user = signIn.user { parameters.append(("user", user.text)) }
        self.parameters = parameters
    }

    /// The person does not want to.
    init(cancelling request: AuthorizeRequest) {
        self.request = request
        parameters =
            [("error", "user_cancelled_authorize")] + (request.state.map { [(name: "state", value: $0)] } ?? [])
    }

    func response(on page: Page, outcome: String) -> HTTPResponse {
        switch request.mode {
        case .formPost: return formPost(on: page, outcome: outcome)
        case .query: return redirect(after: request.redirectURI.contains("?") ? "&" : "?", outcome: outcome)
        case .fragment: return redirect(after: "#", outcome: outcome)
        }
    }

    /// 303: what was a POST here is a GET there.
    private func redirect(after mark: String, outcome: String) -> HTTPResponse {
        let list = parameters.map { "\($0.name)=\(Form.encode($0.value))" }.joined(separator: "&")
        return HTTPResponse(
            status: 303,
            headers: [
                ("Location", request.redirectURI + mark + list), ("Cache-Control", "no-store"),
                ("Referrer-Policy", "no-referrer"),
            ], body: [], outcome: outcome)
    }

    /// A form that sends itself, or by its button where there is no JavaScript.
    private func formPost(on page: Page, outcome: String) -> HTTPResponse {
        let say = page.language
        let fields = parameters.map { HTML.hidden($0.name, $0.value) }
        return page.response(
            title: say("Volviendo a la app", "Going back to the app"),
            """
            <h1>\(say("Volviendo a la app", "Going back to the app"))</h1>
            <p>\(say("Si no ocurre nada, toca el botón.", "If nothing happens, press the button."))</p>
            <form method="post" action="\(request.redirectURI)">
            \(fields)
            <button>\(say("Continuar", "Continue"))</button>
            </form>
            """, script: "document.forms[0].submit()", referrer: "origin", outcome: outcome)
    }
}
