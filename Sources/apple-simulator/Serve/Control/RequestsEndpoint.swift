internal import JOSE

/// `/simulator/requests`: what came to Apple's endpoints since the start, the oldest first. DELETE forgets it.
struct RequestsEndpoint: PromptEndpoint {
    let path = "/simulator/requests"
    let methods = ["GET", "DELETE"]
    let log: RequestLog

    func respond(to request: HTTPRequest) -> HTTPResponse {
        if request.method == "DELETE" { log.clear() }
        return .json(200, ["requests": log.json])
    }
}
