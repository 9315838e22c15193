/// The page on which a person signs in: who they are, whether the app may know their address, and whether they want to at all.
struct AuthorizePage {
    let page: Page
    let request: AuthorizeRequest
    let people: [Person]
    /// By person, what they chose when they let the app in.
    let consents: [String: Consent]
    /// What was chosen and written before something was wrong with it.
    var given: Form?
    var isWrong = false

    func response(outcome: String) -> HTTPResponse {
        let say = page.language
        let title = say("Iniciar sesión con Apple", "Sign in with Apple")
        return page.response(
            isWrong ? 400 : 200, title: "\(title) (\(say("simulador", "simulator")))",
            """
            <h1>\(title)</h1>
            <p>\(say("La app", "The app")) <code>\(request.client.id)</code> \(asks)</p>
            \(isWrong ? mistake : nil)
            <form method="post" action="/auth/authorize" autocomplete="off">
            \(request.hiddenFields)
            <fieldset>
            <legend>\(say("¿Quién eres?", "Who are you?"))</legend>
            \(people.enumerated().map { card($1, isFirst: $0 == 0) })
            \(invention)
            </fieldset>
            \(request.wantsEmail ? emailChoice : nil)
            <button name="action" value="continue">\(say("Continuar", "Continue"))</button>
            <button class="second" name="action" value="cancel" formnovalidate>\(say("Cancelar", "Cancel"))</button>
            </form>
            <p class="soft">\(say("La respuesta irá a", "The answer will go to")) <code>\(request.redirectURI)</code></p>
            """, outcome: outcome)
    }

    private var asks: String {
        let say = page.language
        return switch (request.wantsName, request.wantsEmail) {
        case (true, true): say("pide tu nombre y tu correo.", "asks for your name and your e-mail address.")
        case (true, false): say("pide tu nombre.", "asks for your name.")
        case (false, true): say("pide tu correo.", "asks for your e-mail address.")
        case (false, false): say("no pide tu nombre ni tu correo.", "asks for neither name nor e-mail address.")
        }
    }

    private var mistake: HTML {
        """
        <p class="error" role="alert">\(page.language(
            "Elige a una persona. Una nueva necesita un nombre; su correo, si tiene, lleva una sola @.",
            "Choose a person. A new one needs a name; the e-mail address, if any, has one @."))</p>
        """
    }

    private func card(_ person: Person, isFirst: Bool) -> HTML {
        let isChosen = given.map { $0["person"] == person.id } ?? isFirst
        return """
            <label class="card"><input type="radio" name="person" value="\(person.id)"\(isChosen ? " checked" : "" as HTML)>
            <span><b>\(person.name)</b><small>\(person.email ?? page.language(
                "Sin correo: solo número de teléfono", "No e-mail address: phone number only"))</small>
            \(consents[person.id].map { note(on: $0, of: person) })</span></label>
            """
    }

    /// Name and choice are given once.
    private func note(on consent: Consent, of person: Person) -> HTML {
        let say = page.language
        let choice =
            person.email == nil
            ? ""
            : consent.hidesEmail
                ? say(", con el correo oculto", ", hiding the address")
                : say(", con el correo", ", sharing the address")
        return "<small>\(say("Ya usa esta app", "Uses this app already"))\(choice)</small>"
    }

    private var invention: HTML {
        let say = page.language
        let isChosen = given.map { $0["person"] == "new" } ?? people.isEmpty
        return """
            <label class="card"><input type="radio" name="person" value="new" id="new"\(isChosen ? " checked" : "" as HTML)>
            <span><b>\(say("Otra persona", "Another person"))</b><small>\(say(
                "Inventa su nombre y su correo", "Invent a name and an address"))</small></span></label>
            <div class="invent">
            \(field("first_name", say("Nombre", "First name"), type: "text"))
            \(field("last_name", say("Apellidos", "Last name"), type: "text"))
            \(field("email", say("Correo (puede faltar)", "E-mail address (optional)"), type: "email"))
            </div>
            """
    }

    private func field(_ name: String, _ label: String, type: String) -> HTML {
        """
        <label class="field">\(label)<input type="\(type)" name="\(name)" maxlength="100" value="\(given?[name] ?? "")"></label>
        """
    }

    private var emailChoice: HTML {
        let say = page.language
        let hides = given?["email_choice"] == "hide"
        let checked = { (isChecked: Bool) -> HTML in isChecked ? " checked" : "" }
        return """
            <fieldset>
            <legend>\(say("Tu correo", "Your e-mail address"))</legend>
            <label class="card"><input type="radio" name="email_choice" value="share"\(checked(!hides))>
            <span><b>\(say("Compartir mi correo", "Share my e-mail"))</b></span></label>
            <label class="card"><input type="radio" name="email_choice" value="hide"\(checked(hides))>
            <span><b>\(say("Ocultar mi correo", "Hide my e-mail"))</b><small>\(say(
                "La app recibe un alias @privaterelay.appleid.com", "The app gets an alias @privaterelay.appleid.com"))</small></span></label>
            </fieldset>
            <p class="soft">\(say(
                "Quien ya usa la app conserva lo que eligió la primera vez.",
                "Who uses the app already keeps the first choice."))</p>
            """
    }
}
