internal import JOSE

/// `/`: for people. Who there is, what is registered, what came; and a form that sends a notification, one that invents a
/// person.
struct HomeEndpoint: Endpoint {
    let path = "/"
    let methods = ["GET", "POST"]
    let standIn: StandIn
    let log: RequestLog
    let bell: Bell

    func reply(to request: HTTPRequest) throws -> Reply {
        let page = try Page(for: request, using: standIn.cryptography)
        guard request.method == "POST" else {
            return .now(try home(page, given: Form(parsing: request.query ?? ""), mistake: nil))
        }
        guard let form = request.form else { throw ControlError("send a form") }
        do {
            return form["action"] == "invent" ? .now(try invent(form, page)) : try notify(form, page)
        } catch let error as ControlError {
            return .now(try home(page, given: form, mistake: page.language(error.spanish, error.reason)))
        }
    }

    private func home(_ page: Page, given: Form?, mistake: String?) throws -> HTTPResponse {
        try standIn.memory.use { memory in
            HomePage(page: page, standIn: standIn, memory: memory, log: log, given: given, mistake: mistake).response()
        }
    }

    private func invent(_ form: Form, _ page: Page) throws -> HTTPResponse {
        _ = try standIn.memory.use {
            try standIn.invent(
                firstName: form["first_name"], lastName: form["last_name"], email: form["email"], in: &$0)
        }
        return HTTPResponse(status: 303, headers: [("Location", "/")], body: [], outcome: "invented")
    }

    private func notify(_ form: Form, _ page: Page) throws -> Reply {
        guard let kind = form["type"].flatMap(Notification.Kind.init) else {
            throw ControlError("Choose a notification.", spanish: "Falta elegir la notificación.")
        }
        guard let person = form["person"] else {
            throw ControlError("Choose a person.", spanish: "Falta elegir a la persona.")
        }
        let url = form["url"]
        let delivery = try Delivery(to: url)
        let token = try standIn.memory.use { memory in
            let occasion = try standIn.occasion(
                kind, subject: nil, person: .string(person), client: form["client_id"], in: &memory)
            return try standIn.notify(occasion, in: &memory)
        }
        let back = "/?url=\(Form.encode(url ?? ""))&client_id=\(Form.encode(form["client_id"] ?? ""))"
        return .whenDone(
            try Errand.begin(ringing: bell) { Self.result(delivery.send(token), of: kind, back: back, on: page) })
    }

    private static func result(
        _ outcome: Delivery.Outcome, of kind: Notification.Kind, back: String, on page: Page
    ) -> HTTPResponse {
        let say = page.language
        let words: HTML
        switch outcome {
        case .answered(200): words = "<p>\(say("El servidor la recibió: 200.", "The server took it: 200."))</p>"
        case .answered(let status):
            words = """
                <p class="error">\(say("El servidor respondió", "The server answered")) \(Int64(status)).
                \(say("Apple la enviaría de nuevo.", "Apple would send it again."))</p>
                """
        case .failed(let reason):
            words = "<p class=\"error\">\(say("No llegó:", "It did not arrive:")) \(reason)</p>"
        }
        return page.response(
            title: say("Notificación (simulador)", "Notification (simulator)"),
            """
            <h1><code>\(kind.rawValue)</code></h1>
            \(words)
            <p><a href="\(back)">\(say("Volver", "Back"))</a></p>
            """, outcome: outcome.words)
    }
}
