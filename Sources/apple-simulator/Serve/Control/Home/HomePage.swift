internal import JOSE

/// The page at `/`.
struct HomePage {
    let page: Page
    let standIn: StandIn
    let memory: Memory
    let log: RequestLog
    let given: Form?
    let mistake: String?

    func response() -> HTTPResponse {
        let say = page.language
        return page.response(
            mistake == nil ? 200 : 400, title: say("Simulador de Apple", "Apple simulator"),
            """
            <h1>\(say("Simulador de Iniciar sesión con Apple", "Sign in with Apple simulator"))</h1>
            \(mistake.map { "<p class=\"error\" role=\"alert\">\($0)</p>" })
            <h2>\(say("Personas", "People"))</h2>
            <ul class="list">\(memory.people.map(row))</ul>
            \(invention)
            <h2>\(say("Enviar una notificación", "Send a notification"))</h2>
            \(notification)
            <h2>\(say("Registrado", "Registered"))</h2>
            \(registered)
            <h2>\(say("Últimas solicitudes", "Latest requests"))</h2>
            \(requests)
            """, outcome: "page shown")
    }

    private func row(_ person: Person) -> HTML {
        let say = page.language
        let apps = memory.consents.filter { $0.person == person.id }.map { consent -> HTML in
            let team = standIn.registry.client(consent.client).map { standIn.owner(of: $0, in: memory) } ?? ""
            let address = standIn.address(of: person, consent: consent, team: team)
            return """
                <small><code>\(consent.client)</code> · sub <code>\(standIn.subject(of: person.id, for: team))</code>
                \(address.map { "· \($0)" as HTML })
                \(consent.isForwarding ? "" : say("· sin reenvío", "· not forwarded"))</small><br>
                """
        }
        return """
            <li><b>\(person.name)</b><br>
            <small>\(person.email ?? say("Sin correo", "No e-mail address")) · id <code>\(person.id)</code></small><br>\(apps)</li>
            """
    }

    private var invention: HTML {
        let say = page.language
        return """
            <details><summary>\(say("Inventar a una persona", "Invent a person"))</summary>
            <form method="post" action="/" autocomplete="off">
            <label class="field">\(say("Nombre", "First name"))<input name="first_name" maxlength="100"></label>
            <label class="field">\(say("Apellidos", "Last name"))<input name="last_name" maxlength="100"></label>
            <label class="field">\(say("Correo (puede faltar)", "E-mail address (optional)"))<input type="email" name="email"></label>
            <button class="second" name="action" value="invent">\(say("Inventar", "Invent"))</button>
            </form></details>
            """
    }

    private var notification: HTML {
        let say = page.language
        let people = memory.people.map { person -> HTML in
            let isChosen = given?["person"] == person.id
            return "<option value=\"\(person.id)\"\(isChosen ? " selected" : "" as HTML)>\(person.name)</option>"
        }
        let kinds = Notification.Kind.allCases.map { kind -> HTML in
            let isChosen = given?["type"].map { $0 == kind.rawValue } ?? (kind == .consentRevoked)
            return """
                <label class="card"><input type="radio" name="type" value="\(kind.rawValue)"\(isChosen ? " checked" : "" as HTML)>
                <span><b>\(kind.rawValue)</b><small>\(summary(of: kind))</small></span></label>
                """
        }
        return """
            <form method="post" action="/" autocomplete="off">
            <label class="field">\(say("Persona", "Person"))<select name="person">\(people)</select></label>
            <fieldset><legend>\(say("Qué ocurre", "What happens"))</legend>\(kinds)</fieldset>
            <label class="field">\(say("App (client_id); si falta, la última que usó", "App (client_id); without one, the latest used"))
            <input name="client_id" value="\(given?["client_id"] ?? "")"></label>
            <label class="field">\(say("Dirección de tu servidor", "Address of your server"))
            <input type="url" name="url" required placeholder="http://localhost:8080/auth/apple/notifications" value="\(given?["url"] ?? "")"></label>
            <button name="action" value="notify">\(say("Enviar", "Send"))</button>
            </form>
            """
    }

    private func summary(of kind: Notification.Kind) -> String {
        let say = page.language
        return switch kind {
        case .consentRevoked:
            say("La persona deja de usar Apple en la app.", "The person stops using Apple with the app.")
        case .accountDelete: say("La cuenta de Apple desaparece.", "The Apple Account is gone.")
        case .accountDeleted: say("Lo mismo, con el nombre más nuevo.", "The same under its newer name.")
        case .emailDisabled: say("El alias ya no reenvía correo.", "The alias no longer passes mail on.")
        case .emailEnabled: say("El alias vuelve a reenviar.", "The alias passes mail on again.")
        }
    }

    private var registered: HTML {
        let say = page.language
        let teams = standIn.registry.keys.map { key -> HTML in
            "<li>\(say("Equipo", "Team")) <code>\(key.team)</code> · \(say("clave", "key")) <code>\(key.keyID)</code></li>"
        }
        let clients = standIn.registry.clients.map { client -> HTML in
            """
            <li>App <code>\(client.id)</code> · \(say("equipo", "team")) <code>\(standIn.owner(of: client, in: memory))</code>
            \(client.redirectURIs.map { "<br><small><code>\($0)</code></small>" })</li>
            """
        }
        let notes = standIn.registry.notes(in: say).map { "<li class=\"soft\">\($0)</li>" as HTML }
        return "<ul class=\"list\">\(teams)\(clients)\(notes)</ul>"
    }

    private var requests: HTML {
        let say = page.language
        let latest = log.json.array?.suffix(15).reversed() ?? []
        guard !latest.isEmpty else { return "<p class=\"soft\">\(say("Ninguna todavía.", "None yet."))</p>" }
        return "<ul class=\"list\">\(latest.map(Self.row))</ul>"
    }

    private static func row(_ entry: JSON) -> HTML {
        """
        <li><code>\(entry["method"]?.string ?? "") \(entry["endpoint"]?.string ?? "")</code>
        <b>\(entry["status"]?.integer.map { String($0) } ?? "–")</b><br><small>\(entry["outcome"]?.string ?? "")</small></li>
        """
    }
}
