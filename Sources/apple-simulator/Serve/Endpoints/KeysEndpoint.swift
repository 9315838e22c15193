internal import JOSE

/// `GET /auth/keys`: the public key set, with what a cache goes by. The file is read anew each time, so that a rotation
/// shows at once.
struct KeysEndpoint: PromptEndpoint {
    let path = "/auth/keys"
    let methods = ["GET"]
    let file: KeyFile
    let maximumAge: Int64

    func respond(to request: HTTPRequest) throws -> HTTPResponse {
        let body = try file.keys().publicKeys.json.serialized()
        let tag = "\"\(Base64URL.encode(file.cryptography.sha256(body[...]).prefix(12)))\""
        let headers = [
            (name: "Content-Type", value: "application/json;charset=UTF-8"),
            (name: "Cache-Control", value: "public, max-age=\(maximumAge)"), (name: "ETag", value: tag),
        ]
        let isKnown = request.headers["if-none-match"].map { Self.names(in: $0).contains { $0 == tag || $0 == "*" } }
        return HTTPResponse(status: isKnown == true ? 304 : 200, headers: headers, body: body)
    }

    /// The tags of If-None-Match, weak ones as strong: for this field they are compared weakly (RFC 9110 §13.1.2).
    private static func names(in field: String) -> [Substring] {
        field.split(separator: ",").map { part in
            let name = part.drop { $0 == " " }
            let tag = name.hasPrefix("W/") ? name.dropFirst(2) : name
            return tag.last == " " ? tag.dropLast() : tag
        }
    }
}
