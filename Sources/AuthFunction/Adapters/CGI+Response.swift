extension CGI {
    /// The response as the server wants it (RFC 3875 §6): header fields, an empty line, the body.
    ///
    /// `Status` comes first and with its phrase, since nginx passes it on as it is. There is no `Content-Length`: two servers
    /// believe it, and the length is theirs to count. HEAD, 204 and 304 have no body (RFC 3875 §4.3.3, RFC 9110 §15).
    package func bytes(of response: Response) -> [UInt8] {
        let hasBody = !isHead && response.status != 204 && response.status != 304
        var head = "Status: \(response.status) \(Problem.title(response.status))\r\n"
        var hasType = false
        for field in response.headers.fields where Self.isSafe(field) {
            switch field.name {
            case "status", "content-length", "transfer-encoding", "connection": continue
            case "content-type":
                // Exactly one (§6.2.1), of a body or of the one that HEAD leaves out.
                guard !hasType, hasBody || isHead else { continue }
                hasType = true
            // With the status 200 it asks the server to run the request again elsewhere (§6.2.2).
            case "location" where response.status == 200: continue
            default: break
            }
            head += "\(Self.capitalized(field.name)): \(field.value)\r\n"
        }
        if hasBody, !hasType, !response.body.isEmpty { head += "Content-Type: application/octet-stream\r\n" }
        return Array(head.utf8) + [0x0D, 0x0A] + (hasBody ? response.body : [])
    }

    /// A line break in a field would make another field, or the body, of what follows.
    private static func isSafe(_ field: Headers.Field) -> Bool {
        !field.name.isEmpty
            && field.name.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") }
            && field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }

    /// `www-authenticate` → `WWW-Authenticate`. Clients do not care; people who read the answer do.
    private static func capitalized(_ name: String) -> String {
        name.split(separator: "-", omittingEmptySubsequences: false).map { part in
            part == "www" ? "WWW" : part.prefix(1).uppercased() + part.dropFirst()
        }.joined(separator: "-")
    }
}
