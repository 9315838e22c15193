import Foundation
import JOSE
import OpenSSLCrypto

/// An OpenID provider inside the test: it keeps the rules of a good one (PKCE, one use a code, rotation with reuse detection, DPoP),
/// is wrong where a test says so, and remembers every request.
final class OpenIDProvider: @unchecked Sendable {
    struct Request: Sendable {
        var method: String
        var path: String
        var query: [String: String]
        var headers: [String: String]
        var body: String
        var form: [String: String]
    }

    struct Response: Sendable {
        var status = 200
        var headers: [(String, String)] = [("Content-Type", "application/json")]
        var body = ""

        static func json(_ json: JSON, status: Int = 200) -> Response { Response(status: status, body: json.text) }
        static func error(_ code: String, status: Int = 400) -> Response {
            json(["error": .string(code)], status: status)
        }
    }

    struct Grant: Sendable {
        var clientID: String
        var redirectURI: String
        var challenge: String
        var nonce: String
        var scope: String
        var thumbprint: String?
        var isSpent = false
    }

    static let cryptography = OpenSSLCryptography()
    static let clientID = "client"
    static let subject = "person-1"
    static let rsaKeys = (1...3).map { key("rsa\($0)", .rs256) }
    static let ecKeys = (1...3).map { key("ec\($0)", .es256) }

    static func key(_ name: String, _ algorithm: SignatureAlgorithm) -> SigningKey {
        do {
            return SigningKey(keyID: name, privateKey: try cryptography.generateKey(for: algorithm))
        } catch {
            fatalError("no key: \(error)")
        }
    }

    let lock = NSRecursiveLock()
    var issuer = "http://127.0.0.1:1"
    var now: @Sendable () -> UnixTime
    var mutations: [Mutation] = []
    var log: [Request] = []
    var generation = 0
    var grants: [String: Grant] = [:]
    var accessTokens: [String: (thumbprint: String?, isGood: Bool)] = [:]
    /// By token; a spent one stays, to be recognised.
    var refreshTokens: [String: (grant: Grant, isSpent: Bool)] = [:]
    var isFamilyRevoked = false
    var proofs: Set<String> = []
    /// How far the time of a proof may be off, in seconds.
    var proofAge: Int64 = 60
    var secrets: [String] = []
    var supportsDPoP = true
    /// Called for each token request, outside the lock.
    var beforeTokenAnswer: (@Sendable () -> Void)?

    init(now: @escaping @Sendable () -> UnixTime) {
        self.now = now
    }

    func locked<Result>(_ work: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try work()
    }

    func set(_ mutations: [Mutation]) {
        locked { self.mutations = mutations }
    }

    /// The paths that were asked, in order.
    var paths: [String] { locked { log.map(\.path) } }

    func count(_ path: String) -> Int { paths.filter { $0 == path }.count }

    func requests(_ path: String) -> [Request] { locked { log.filter { $0.path == path } } }

    func secret(_ kind: String) -> String {
        let secret = "\(kind)-\(UUID().uuidString)"
        locked { secrets.append(secret) }
        return secret
    }

    func has(_ mutation: Mutation) -> Bool { locked { mutations.contains(mutation) } }

    func answer(_ request: Request) -> Response {
        locked { log.append(request) }
        if request.path == "/token" { locked { beforeTokenAnswer }?() }
        return locked {
            for case .answer(let path, let status, let body) in mutations where path == request.path {
                return Response(status: status, body: body)
            }
            for case .redirects(let path) in mutations where path == request.path {
                return Response(status: 307, headers: [("Location", "\(issuer)/elsewhere")])
            }
            var response: Response =
                switch request.path {
                case "/.well-known/openid-configuration": .json(discovery)
                case "/keys": keysAnswer()
                case "/authorize": authorize(request)
                case "/token": token(request)
                case "/userinfo": userInfo(request)
                case "/revoke": Response()
                case "/logout": logout(request)
                default: Response(status: 404)
                }
            for case .contentType(let path, let type) in mutations where path == request.path {
                response.headers.removeAll { $0.0 == "Content-Type" }
                if let type { response.headers.append(("Content-Type", type)) }
            }
            return response
        }
    }

    private var discovery: JSON {
        var object: JSON.Object = [
            "issuer": .string(issuer), "authorization_endpoint": .string("\(issuer)/authorize"),
            "token_endpoint": .string("\(issuer)/token"), "jwks_uri": .string("\(issuer)/keys"),
            "userinfo_endpoint": .string("\(issuer)/userinfo"), "revocation_endpoint": .string("\(issuer)/revoke"),
            "end_session_endpoint": .string("\(issuer)/logout"),
            "code_challenge_methods_supported": .array(["S256"]),
            "id_token_signing_alg_values_supported": .array(["RS256", "ES256"]),
        ]
        for mutation in mutations {
            switch mutation {
            case .discovery(let name, let value): object[name] = value
            case .discoveryIssuer(let suffix): object["issuer"] = .string(issuer + suffix)
            case .advertisesIssuer: object["authorization_response_iss_parameter_supported"] = .bool(true)
            default: break
            }
        }
        return .object(object)
    }

    /// The key that signs now.
    func signingKey(_ algorithm: SignatureAlgorithm) -> SigningKey {
        let key = (algorithm == .rs256 ? Self.rsaKeys : Self.ecKeys)[generation % 3]
        for case .keysNamed(let name) in mutations { return SigningKey(keyID: name, privateKey: key.privateKey) }
        return key
    }

    private func keysAnswer() -> Response {
        var keys: [JSON] = [signingKey(.rs256).jwk.json, signingKey(.es256).jwk.json]
        for mutation in mutations {
            switch mutation {
            case .unnamedKeys(let count):
                keys = (Self.rsaKeys.prefix(count) + Self.ecKeys.prefix(count)).map { key in
                    JSON.object(key.privateKey.publicKey.members)
                }
                keys += [Self.secp256k1, Self.okp]
            case .unknownKeyTypes:
                keys = [["kty": "AKP", "alg": "ML-DSA-44", "kid": "pq"], Self.okp, Self.secp256k1] + keys
            default: break
            }
        }
        return .json(["keys": .array(keys)])
    }

    private static let secp256k1: JSON = [
        "kty": "EC", "crv": "secp256k1", "x": "ilATo9Z50I-p-hqLeqkSmmsuxO9oS0uxKLNOMZLTXvs",
        "y": "AJ-0oQ96Fh8TF_mxMZwH3zX9fDEPQ9Sn0fyrCtVVxkk",
    ]
    private static let okp: JSON = [
        "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    ]

    private func authorize(_ request: Request) -> Response {
        let query = request.query
        guard query["response_type"] == "code", query["client_id"] == Self.clientID,
            query["code_challenge_method"] == "S256", let challenge = query["code_challenge"],
            let redirectURI = query["redirect_uri"], let state = query["state"], let nonce = query["nonce"],
            query["scope"]?.split(separator: " ").contains("openid") == true
        else { return Response(status: 400, body: "not a request of this client") }
        let code = secret("code")
        grants[code] = Grant(
            clientID: Self.clientID, redirectURI: redirectURI, challenge: challenge, nonce: nonce,
            scope: query["scope"] ?? "", thumbprint: query["dpop_jkt"])
        var fields = [("code", code), ("state", state)]
        var mark = "?"
        if mutations.contains(.advertisesIssuer) { fields.append(("iss", issuer)) }
        for mutation in mutations {
            switch mutation {
            case .redirectIssuer(let issuer):
                fields.removeAll { $0.0 == "iss" }
                if let issuer { fields.append(("iss", issuer.replacingOccurrences(of: "ISSUER", with: self.issuer))) }
            case .redirectState(let suffix):
                fields.removeAll { $0.0 == "state" }
                if let suffix { fields.append(("state", state + suffix)) }
            case .redirectError(let error):
                fields.removeAll { $0.0 == "code" }
                fields += [("error", error), ("error_description", "No + 100%")]
            case .redirectInFragment: mark = "#"
            case .redirectExtra(let name, let value): fields.append((name, value))
            default: break
            }
        }
        let encoded = fields.map { "\(Self.escaped($0.0))=\(Self.escaped($0.1))" }.joined(separator: "&")
        return Response(status: 302, headers: [("Location", "\(redirectURI)\(mark)\(encoded)")])
    }

    static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-._~"))) ?? ""
    }

    private func logout(_ request: Request) -> Response {
        guard let callback = request.query["post_logout_redirect_uri"] else { return Response(body: "signed out") }
        var location = callback
        if let state = request.query["state"] {
            var answered: String? = state
            for case .redirectState(let suffix) in mutations { answered = suffix.map { state + $0 } }
            if let answered { location += "?state=\(answered)" }
        }
        return Response(status: 302, headers: [("Location", location)])
    }
}
