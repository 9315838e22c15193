/// `GET /auth/authorize` shows the page; `POST` is its form. Wrong parameters are never sent on to the return address: a page
/// says which they are.
struct AuthorizeEndpoint: PromptEndpoint {
    let path = "/auth/authorize"
    let methods = ["GET", "POST"]
    let standIn: StandIn

    func respond(to request: HTTPRequest) throws -> HTTPResponse {
        let page = try Page(for: request, using: standIn.cryptography)
        let form = request.method == "POST" ? request.form : Form(parsing: request.query ?? "")
        guard let form else {
            let problem = AuthorizeRequest.Problem(
                page.language("La solicitud", "The request"), "No es un formulario, o dice un parámetro dos veces.",
                "It is no form, or says a parameter twice.")
            return refusal([problem], on: page)
        }
        let asked: AuthorizeRequest
        do throws(AuthorizeRequest.Refusal) {
            asked = try AuthorizeRequest(checking: form, registry: standIn.registry)
        } catch {
            return refusal(error.problems, on: page)
        }
        guard request.method == "POST" else {
            return try standIn.memory.use { choice(asked, on: page, in: $0) }.response(outcome: "page shown")
        }
        guard form["action"] != "cancel" else {
            return AuthorizeAnswer(cancelling: asked).response(on: page, outcome: "cancelled")
        }
        return try standIn.memory.use { memory in
            guard let person = try chosen(form, in: &memory) else {
                var choice = choice(asked, on: page, in: memory)
                (choice.given, choice.isWrong) = (form, true)
                return choice.response(outcome: "page shown again")
            }
            let signIn = try standIn.signIn(
                person,
                to: SignInRequest(
                    client: asked.client, redirectURI: asked.redirectURI, wantsName: asked.wantsName,
                    wantsEmail: asked.wantsEmail, nonce: asked.nonce),
                hidingEmail: form["email_choice"] == "hide", in: &memory)
            return AuthorizeAnswer(asked, signIn).response(on: page, outcome: "code given")
        }
    }

    private func choice(_ asked: AuthorizeRequest, on page: Page, in memory: Memory) -> AuthorizePage {
        let consents = memory.consents.filter { $0.client == asked.client.id }.map { ($0.person, $0) }
        return AuthorizePage(
            page: page, request: asked, people: memory.people, consents: Dictionary(consents) { $1 })
    }

    /// Nil when nobody is, or the one who was invented is none.
    private func chosen(_ form: Form, in memory: inout Memory) throws -> Person? {
        guard form["person"] == "new" else { return form["person"].flatMap(memory.person) }
        do {
            return try standIn.invent(
                firstName: form["first_name"], lastName: form["last_name"], email: form["email"], in: &memory)
        } catch is ControlError {
            return nil
        }
    }

    private func refusal(_ problems: [AuthorizeRequest.Problem], on page: Page) -> HTTPResponse {
        let say = page.language
        let list = problems.map { problem -> HTML in
            "<div><dt><code>\(problem.parameter)</code></dt><dd>\(say(problem.spanish, problem.english))</dd></div>"
        }
        return page.response(
            400, title: say("Solicitud incorrecta (simulador)", "Wrong request (simulator)"),
            """
            <h1>\(say("La app pidió algo incorrecto", "The app asked for something wrong"))</h1>
            <p>\(say(
                "Apple tampoco lo aceptaría. Nada se envió a la app.", "Apple would not take it either. Nothing was sent to the app."))</p>
            <dl class="list">\(list)</dl>
            """, outcome: "refused: \(problems.map(\.parameter).joined(separator: ", "))")
    }
}
