/// `POST /auth/usermigrationinfo`: what an account of one team is called in another.
struct MigrationEndpoint: PromptEndpoint {
    let path = "/auth/usermigrationinfo"
    let methods = ["POST"]
    let standIn: StandIn

    func respond(to request: HTTPRequest) throws -> HTTPResponse {
        guard let form = request.form else {
            throw OAuthError(.invalidRequest, "the body is no form, or says a parameter twice")
        }
        let scheme = "bearer "
        let bearer = request.headers["authorization"].flatMap { field in
            field.lowercased().hasPrefix(scheme) ? String(field.dropFirst(scheme.count)) : nil
        }
        let answer = try standIn.memory.use { memory in
            let caller = try standIn.authenticate(form, forMigration: true, in: memory)
            return try standIn.migrate(form, bearer: bearer, for: caller, in: &memory)
        }
        return .json(200, answer, outcome: form["transfer_sub"] == nil ? "transfer_sub given" : "sub given")
    }
}
