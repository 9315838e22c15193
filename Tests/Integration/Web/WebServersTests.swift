// Each request is a process, so the accounts must outlive one.
#if SQLite
import Foundation
import TestSupport
import Testing

/// The web flow through each web server: cookies and Apple's form reach the function, and what it sets and where it sends the
/// browser, an address with a scheme of the app's own among it, reach the browser.
@Suite struct WebServersTests {
    /// RFC 7636, appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let start =
        "/auth/apple/authorize?return_url=com.example.app%3A%2Fsigned-in&state=xyz&code_challenge_method=S256"
        + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    @Test(arguments: WebServer.Kind.allCases)
    func aFlowGoesThrough(kind: WebServer.Kind) throws {
        try WebServer.run(kind, try CGISite()) { server in
            let start = try server.send("GET", Self.start)
            #expect(start.status == 303)
            let page = try parameters(of: start)
            let cookie = try #require(start[field: "set-cookie"]?.split(separator: ";").first)

            let form = form([
                ("state", page["state"] ?? ""), ("code", "apple-code"),
                ("id_token", try token(nonce: page["nonce"] ?? "")),
                ("user", #"{"name":{"firstName":"Ana","lastName":"Ruiz"},"email":"ana@example.com"}"#),
            ])
            let headers = ["Content-Type: application/x-www-form-urlencoded", "Cookie: theme=dark; \(cookie); a=b"]
            let finish = try server.send("POST", "/auth/apple/callback", headers: headers, body: form)
            #expect(finish.status == 303, "\(finish.text) \(server.log().suffix(500))")
            #expect(finish[field: "location"]?.hasPrefix("com.example.app:/signed-in?code=") == true)
            #expect(finish.body.isEmpty || kind.isApache, "Apache writes a page of its own for people")
            let landing = try parameters(of: finish)
            #expect(landing["state"] == "xyz")

            let body: [String: Any] = [
                "code": landing["code"] ?? "", "code_verifier": Self.verifier, "deviceInfo": ["platform": "Android"],
            ]
            let signedIn = try server.send(
                "POST", "/auth/apple/exchange", headers: ["Content-Type: application/json"],
                body: JSONSerialization.data(withJSONObject: body))
            #expect(signedIn.status == 201, "\(signedIn.text)")
            #expect((signedIn.json["user"] as? [String: Any])?["full_name"] as? String == "Ana Ruiz")

            // The page for people comes whole, with its policy, and without the cookie nobody goes anywhere.
            let foreign = try server.send(
                "POST", "/auth/apple/callback", headers: [headers[0], "Accept: text/html"], body: form)
            #expect(foreign.status == 400)
            #expect(foreign[field: "location"] == nil)
            #expect(foreign[field: "content-type"] == "text/html; charset=utf-8")
            #expect(
                foreign[field: "content-security-policy"]?.hasPrefix("default-src 'none'; style-src 'sha256-") == true)
            #expect(foreign.text.hasSuffix("</html>\n"))
        }
    }

    private func token(nonce: String) throws -> String {
        let folder = Installed.shared.folder
        let ran = try Ran(
            folder.appending(path: "apple-simulator").path(), "token", "--audience", "com.example.web", "--nonce",
            nonce,
            "--nonce-verbatim", "--code", "apple-code", "--relay",
            environment: ["APPLE_SIMULATOR_KEYS": folder.appending(path: "simulator/keys.json").path()])
        return String(decoding: ran.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func parameters(of answer: HTTPAnswer) throws -> [String: String] {
        let query = try #require(answer[field: "location"]?.split(separator: "?").last)
        return Dictionary(
            query.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? "" }
                return (parts[0], parts.count == 2 ? parts[1] : "")
            }
        ) { $1 }
    }

    private func form(_ fields: [(String, String)]) -> Data {
        let allowed = CharacterSet.alphanumerics
        let pairs = fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
        return Data(pairs.joined(separator: "&").utf8)
    }
}
#endif
