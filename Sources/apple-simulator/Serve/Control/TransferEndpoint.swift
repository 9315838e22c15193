internal import JOSE

/// `POST /simulator/transfer`: an app goes to another team, as an App Store transfer does it. From now on its tokens have that
/// team's subjects, and `transfer_sub` for those who had let it in before.
struct TransferEndpoint: PromptEndpoint {
    let path = "/simulator/transfer"
    let methods = ["POST"]
    let standIn: StandIn

    func respond(to request: HTTPRequest) throws -> HTTPResponse {
        let body = try request.controlBody(members: ["client_id", "team"])
        guard let client = try body.text("client_id").flatMap(standIn.registry.client) else {
            throw ControlError("client_id is missing or not registered")
        }
        guard let team = try body.text("team"), standIn.registry.keys.isEmpty || standIn.registry.teams.contains(team)
        else { throw ControlError("team is missing or not registered") }
        try standIn.memory.use { standIn.move(client, to: team, in: &$0) }
        return .json(200, ["client_id": .string(client.id), "team": .string(team)])
    }
}
