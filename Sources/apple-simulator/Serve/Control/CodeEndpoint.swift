internal import JOSE

/// `POST /simulator/code`: a sign-in as a native app makes it, without a page. The code has no redirect_uri.
struct CodeEndpoint: PromptEndpoint {
    let path = "/simulator/code"
    let methods = ["POST"]
    let standIn: StandIn

    func respond(to request: HTTPRequest) throws -> HTTPResponse {
        let body = try request.controlBody(members: ["client_id", "person", "scope", "nonce", "hide_email"])
        guard let id = try body.text("client_id") else { throw ControlError("client_id is missing") }
        guard let client = standIn.registry.client(id) else { throw ControlError("client_id is not registered") }
        let scopes = (try body.text("scope") ?? "name email").split(separator: " ")
        guard scopes.allSatisfy({ $0 == "name" || $0 == "email" }) else {
            throw ControlError("scope has more than name and email")
        }
        let asked = SignInRequest(
            client: client, wantsName: scopes.contains("name"), wantsEmail: scopes.contains("email"),
            nonce: try body.text("nonce"))
        let hides = try body.flag("hide_email") ?? false
        let (person, signIn) = try standIn.memory.use { memory in
            let person = try standIn.person(body["person"], in: &memory)
            return (person, try standIn.signIn(person, to: asked, hidingEmail: hides, in: &memory))
        }
        return .json(
            200,
            [
                "code": .string(signIn.code), "identity_token": .string(signIn.identityToken),
                "user": signIn.user ?? .null, "sub": .string(signIn.subject), "person": .string(person.id),
            ])
    }
}
