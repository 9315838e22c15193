/// `POST /auth/revoke` (RFC 7009): a token and the consent that it stands for. 200 without a body, also for a token that is
/// unknown or was revoked before.
struct RevokeEndpoint: PromptEndpoint {
    let path = "/auth/revoke"
    let methods = ["POST"]
    let standIn: StandIn

    func respond(to request: HTTPRequest) throws -> HTTPResponse {
        guard let form = request.form else {
            throw OAuthError(.invalidRequest, "the body is no form, or says a parameter twice")
        }
        let isKnown = try standIn.memory.use { memory in
            let caller = try standIn.authenticate(form, forMigration: false, in: memory)
            return try standIn.revoke(form, for: caller, in: &memory)
        }
        return HTTPResponse(
            status: 200, headers: [("Cache-Control", "no-store")], body: [],
            outcome: isKnown ? "revoked" : "nothing to revoke")
    }
}
