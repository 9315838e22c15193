import AppleID
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

/// Apple's server as these tests want it: it says what it is told to, and remembers what it was asked.
final class AppleServerBench {
    static let clientID = TokenForge.audience
    static let key = TokenForge.newKey("ABC123DEFG", for: .es256)

    var answer: Result<AppleServerAnswer, NoAppleServerAnswer>
    private(set) var requests: [AppleServerRequest] = []

    init(_ status: Int = 200, _ body: String = "") {
        answer = .success(AppleServerAnswer(status: status, body: Array(body.utf8)))
    }

    init(_ failure: NoAppleServerAnswer) {
        answer = .failure(failure)
    }

    func server(cryptography: any Cryptography = TokenForge.cryptography) throws -> AppleServer {
        let credentials = try #require(
            AppleCredentials(teamID: "TEAM123456", keyID: Self.key.keyID, privateKey: Self.key.privateKey))
        return AppleServer(credentials: credentials, cryptography: cryptography) {
            request throws(NoAppleServerAnswer) in
            self.requests.append(request)
            return try self.answer.get()
        }
    }

    func exchange(code: String = "c0de.0.x", redirectURI: String? = nil) throws -> AppleTokens {
        try server().exchange(code: code, clientID: Self.clientID, redirectURI: redirectURI, at: TokenForge.now)
    }

    func revoke() throws {
        try server().revoke(refreshToken: "r0.token", clientID: Self.clientID, at: TokenForge.now)
    }

    /// The fields of the only request, after its client secret was verified as Apple would.
    func fields() throws -> [String] {
        #expect(requests.count == 1)
        let request = try #require(requests.first)
        let form = try #require(FormURLEncoded(parsing: request.form[...], maximumFields: 16))
        let jws = try CompactJWS(parsing: Array(try #require(form["client_secret"]).utf8)[...], allowing: [.es256])
        let claims = try jws.verified(by: Self.key.jwk, using: TokenForge.cryptography).claims()
        #expect(claims["sub"]?.string == Self.clientID && claims["iss"] == "TEAM123456")
        return form.fields.filter { $0.name != "client_secret" }.map { "\($0.name)=\($0.value)" }
    }

    /// What Apple answers to a code, with an identity token of the forge's.
    static func tokens(_ forge: TokenForge = TokenForge(), _ changes: [String: JSON?] = [:]) -> String {
        var object: JSON.Object = [
            "access_token": "a0.canary-access", "token_type": "Bearer", "expires_in": .integer(3600),
            "refresh_token": "r0.canary-refresh", "id_token": .string(forge.token),
        ]
        for (name, value) in changes { object[name] = value }
        return JSON.object(object).text
    }
}
