internal import JOSE

/// `POST /auth/token`: a code or a refresh token becomes tokens; a team gets leave to migrate accounts.
struct TokenEndpoint: PromptEndpoint {
    let path = "/auth/token"
    let methods = ["POST"]
    let standIn: StandIn

    func respond(to request: HTTPRequest) throws -> HTTPResponse {
        guard let form = request.form else {
            throw OAuthError(.invalidRequest, "the body is no form, or says a parameter twice")
        }
        return .json(200, try standIn.memory.use { try answer(form, in: &$0) }, outcome: form["grant_type"])
    }

    private func answer(_ form: Form, in memory: inout Memory) throws -> JSON {
        switch form["grant_type"] {
        case nil: throw OAuthError(.invalidRequest, "grant_type is missing")
        case "authorization_code":
            let caller = try standIn.authenticate(form, forMigration: false, in: memory)
            return try standIn.exchangeCode(form, for: caller, in: &memory)
        case "refresh_token":
            let caller = try standIn.authenticate(form, forMigration: false, in: memory)
            return try standIn.refresh(form, for: caller, in: &memory)
        case "client_credentials":
            let caller = try standIn.authenticate(form, forMigration: true, in: memory)
            return try standIn.migrationToken(form, for: caller, in: &memory)
        case _?:
            throw OAuthError(
                .unsupportedGrantType, "grant_type is not authorization_code, refresh_token or client_credentials")
        }
    }
}
