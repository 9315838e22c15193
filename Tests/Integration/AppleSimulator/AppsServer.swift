import CurlHTTP
import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport

/// An app's server as it speaks to Apple: with a team, a key, a client id, and client secrets of its own make.
struct AppsServer {
    static let cryptography = OpenSSLCryptography()
    static let clientID = "com.example.app"

    let team: String
    let key: SigningKey

    init(team: String, keyID: String) throws {
        self.team = team
        key = SigningKey(keyID: keyID, privateKey: try Self.cryptography.generateKey(for: .es256))
    }

    /// Good, but for what is changed; nil takes a member away.
    func secret(
        claims changes: [String: JSON?] = [:], header headerChanges: [String: JSON?] = [:], by other: SigningKey? = nil
    ) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        var header: JSON.Object = ["alg": "ES256", "kid": .string(key.keyID)]
        var claims: JSON.Object = [
            "iss": .string(team), "iat": .integer(now), "exp": .integer(now + 300),
            "aud": "https://appleid.apple.com", "sub": .string(Self.clientID),
        ]
        for (name, value) in headerChanges { header[name] = value }
        for (name, value) in changes { claims[name] = value }
        let input = [header, claims].map { Base64URL.encode(JSON.object($0).serialized()) }.joined(separator: ".")
        let signature = try Self.cryptography.sign(Array(input.utf8)[...], with: (other ?? key).privateKey)
        return "\(input).\(Base64URL.encode(signature))"
    }

    /// A request with the credentials in its form.
    func credentials(_ fields: [String: String]) throws -> [String: String] {
        try fields.merging(["client_id": Self.clientID, "client_secret": secret()]) { given, _ in given }
    }

    /// The public key as SubjectPublicKeyInfo in PEM.
    var publicPEM: String {
        let prefix: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
            0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
        ]
        return Self.pem("PUBLIC KEY", prefix + point)
    }

    /// The private key in the form of RFC 5915, from which `openssl` makes the others.
    var privatePEM: String {
        guard case .p256(let scalar) = key.privateKey.parts else { return "" }
        let curve: [UInt8] = [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        return Self.pem(
            "EC PRIVATE KEY",
            [0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20] + scalar.bytes + curve + [0xA1, 0x44, 0x03, 0x42, 0x00] + point)
    }

    private var point: [UInt8] {
        guard case .p256(let key) = key.privateKey.publicKey else { return [] }
        return key.uncompressed
    }

    private static func pem(_ name: String, _ der: [UInt8]) -> String {
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(name)-----\n\(body)\n-----END \(name)-----\n"
    }
}

/// An answer of the simulator.
struct SimulatorAnswer {
    let status: Int
    let headers: [String: String]
    let text: String

    var json: JSON { (try? JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 1_000_000, depth: 8))) ?? .null }

    var error: String? { json["error"]?.string }

    /// The claims of a token in it; what signed them is shown elsewhere.
    func claims(_ member: String) throws -> JSON {
        try Self.claims(of: json[member]?.string ?? "")
    }

    static func claims(of token: String) throws -> JSON {
        let parts = token.split(separator: ".").map(String.init)
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { throw CocoaError(.coderInvalidValue) }
        return try JSON(parsing: payload, limits: JSON.Limits(bytes: 8192, depth: 8))
    }
}

extension SimulatorAddress {
    private func send(
        _ method: CurlHTTP.HTTPRequest.Method, _ path: String, _ headers: [(String, String)], _ body: String?
    ) throws -> SimulatorAnswer {
        var request = HTTPRequest(
            method, try HTTPURL(url + path, allowing: .loopback), headers: headers.map { .init($0.0, $0.1) },
            body: body.map { Array($0.utf8) })
        request.limits.total = .seconds(30)
        request.limits.bodyBytes = 1_000_000
        let response = try HTTPClient(userAgent: "test").send(request)
        return SimulatorAnswer(
            status: response.status,
            headers: Dictionary(response.headers.map { ($0.name, $0.value) }) { first, _ in first },
            text: String(decoding: response.body, as: UTF8.self))
    }

    static func encode(_ fields: [(String, String)]) -> String {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let encode = { (text: String) in text.addingPercentEncoding(withAllowedCharacters: allowed) ?? "" }
        return fields.map { "\(encode($0.0))=\(encode($0.1))" }.joined(separator: "&")
    }

    func read(_ path: String, _ query: [String: String] = [:], headers: [(String, String)] = []) throws
        -> SimulatorAnswer
    {
        let fields = Self.encode(query.sorted { $0.key < $1.key })
        return try send(.get, fields.isEmpty ? path : "\(path)?\(fields)", headers, nil)
    }

    func form(_ path: String, _ fields: [String: String], headers: [(String, String)] = []) throws -> SimulatorAnswer {
        try send(
            .post, path, [("Content-Type", "application/x-www-form-urlencoded")] + headers,
            Self.encode(fields.sorted { $0.key < $1.key }))
    }

    func control(_ path: String, _ body: JSON, headers: [(String, String)] = []) throws -> SimulatorAnswer {
        try send(.post, path, [("Content-Type", "application/json")] + headers, body.text)
    }

    func delete(_ path: String) throws -> SimulatorAnswer { try send(.delete, path, [], nil) }

    /// A native sign-in of Ana's, or of whom is named.
    func code(_ more: JSON.Object = [:]) throws -> SimulatorAnswer {
        var body: JSON.Object = ["client_id": .string(AppsServer.clientID)]
        for member in more.members { body[member.name] = member.value }
        return try control("/simulator/code", .object(body))
    }

    func exchange(_ code: String, by server: AppsServer, _ more: [String: String] = [:]) throws -> SimulatorAnswer {
        let fields = ["grant_type": "authorization_code", "code": code].merging(more) { $1 }
        return try form("/auth/token", try server.credentials(fields))
    }
}

extension AppleSimulator {
    /// Registers the teams with their keys, the client with the first of them, and serves.
    @discardableResult
    func serving(
        _ servers: [AppsServer], redirectURIs: String = "", options: [String] = [],
        body: (SimulatorAddress) throws -> Void
    ) throws -> Result {
        var arguments = options
        for server in servers {
            let file = folder.appending(path: "\(UUID().uuidString).pem")
            try Data(server.publicPEM.utf8).write(to: file)
            arguments += ["--team", "\(server.team):\(server.key.keyID)=\(file.path())"]
        }
        for (index, server) in servers.enumerated() {
            arguments += ["--client", "\(AppsServer.clientID)=\(server.team)\(index == 0 ? redirectURIs : "")"]
        }
        return try serving(arguments: arguments, body: body)
    }

    /// Options that must keep it from serving; if it serves all the same it is stopped, and its status tells.
    func failingToServe(_ options: [String]) throws -> Result {
        let (process, output, errors) = try start(["serve", "--port", "0"] + options)
        if process.firstLine(in: output) != nil { process.kill(SIGTERM) }
        return try Result(
            exitStatus: process.wait(), output: String(contentsOf: output, encoding: .utf8),
            errors: String(contentsOf: errors, encoding: .utf8))
    }
}
