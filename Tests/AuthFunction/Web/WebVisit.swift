import Accounts
import AppleID
import AuthFunction
import JOSE
import TestSupport
import UserStores

/// The three who take part in a web flow beside the function: an app, a browser with its cookie, and Apple's page.
struct WebVisit {
    static let client = WebClient(
        id: "com.finnova.web", callbackURL: "https://auth.finnova.example/auth/apple/callback",
        authorizeURL: "https://appleid.apple.com/auth/authorize", returnURLs: [appURL, siteURL])
    static let appURL = "com.finnova.app:/signed-in"
    static let siteURL = "https://finnova.example/signed-in?from=apple"
    /// RFC 7636, appendix B.
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    static let otherVerifier = String(repeating: "x", count: 43)
    static let appleCode = "c0ffee.0.abcd.from-apple"

    let doorway: Doorway
    /// What the browser holds after the start.
    var cookie: String?

    init(_ doorway: Doorway = Doorway(web: WebVisit.client)) {
        self.doorway = doorway
    }

    /// The query of a start, with some parameters changed; nil removes one.
    static func query(_ changes: [String: String?] = [:]) -> String {
        var parameters: [String: String?] = [
            "return_url": appURL, "code_challenge": challenge, "code_challenge_method": "S256", "state": "app state/1",
        ]
        for (name, value) in changes { parameters[name] = value }
        let fields = parameters.compactMap { name, value in value.map { (name, $0) } }.sorted { $0.0 < $1.0 }
        return String(decoding: FormURLEncoded.encode(fields), as: UTF8.self)
    }

    /// The app sends the browser to the function.
    func start(query: String, headers: JSON.Object = [:]) throws -> Answer {
        var headers = headers
        if let cookie { headers["cookie"] = .string(cookie) }
        return try doorway.answer("GET", "/auth/apple/authorize?\(query)", headers: .object(headers))
    }

    /// The same, followed to Apple's page.
    mutating func start(_ changes: [String: String?] = [:]) throws -> ApplePage {
        let answer = try start(query: Self.query(changes))
        guard answer.status == 303, let location = answer.headers["location"]?.string,
            let set = answer.headers["set-cookie"]?.string
        else { throw Unexpected(answer: answer) }
        cookie = String(set.prefix { $0 != ";" })
        return try ApplePage(location)
    }

    struct Unexpected: Error {
        let answer: Answer
    }

    /// Apple's page sends the browser back with a form.
    func finish(_ fields: [(String, String)], headers changes: [String: JSON?] = [:]) throws -> Answer {
        try finish(body: String(decoding: FormURLEncoded.encode(fields), as: UTF8.self), headers: changes)
    }

    func finish(body: String, headers changes: [String: JSON?] = [:]) throws -> Answer {
        var headers: JSON.Object = ["content-type": "application/x-www-form-urlencoded"]
        if let cookie { headers["cookie"] = .string(cookie) }
        for (name, value) in changes { headers[name] = value }
        return try doorway.answer("POST", "/auth/apple/callback", headers: .object(headers), body: body)
    }

    /// The app exchanges what came to its address.
    func exchange(
        _ code: String, verifier: String? = WebVisit.verifier, changes: [String: JSON?] = [:], key: String? = nil
    ) throws -> Answer {
        var body: JSON.Object = ["code": .string(code), "deviceInfo": ["model": "Pixel"]]
        body["code_verifier"] = verifier.map { .string($0) }
        for (name, value) in changes { body[name] = value }
        var headers: JSON.Object = ["content-type": "application/json"]
        headers["idempotency-key"] = key.map { .string($0) }
        return try doorway.answer(
            "POST", "/auth/apple/exchange", headers: .object(headers), body: JSON.object(body).text)
    }

    /// From the start to the code that came to the app.
    mutating func code(_ changes: [String: String?] = [:], subject: String = TokenForge.subject) throws -> String {
        let page = try start(changes)
        return try Landing(try finish(page.answer(subject: subject))).require("code")
    }
}

/// What Apple's page was asked for, and what it answers.
struct ApplePage {
    let address: String
    let parameters: FormURLEncoded

    init(_ location: String) throws {
        let parts = location.split(separator: "?", maxSplits: 1).map(String.init)
        guard parts.count == 2, let form = FormURLEncoded(parsing: Array(parts[1].utf8)[...], maximumFields: 16) else {
            throw JOSEError.malformed
        }
        address = parts[0]
        parameters = form
    }

    var state: String { parameters["state"] ?? "" }
    var nonce: String { parameters["nonce"] ?? "" }

    /// A good identity token for this request, to be made bad at will.
    func forge(
        subject: String = TokenForge.subject, code: String = WebVisit.appleCode, at now: UnixTime = TokenForge.now
    ) -> TokenForge {
        let hash = TokenHash.text(of: code, algorithm: .rs256, using: TokenForge.cryptography)
        return TokenForge(subject: subject, audience: WebVisit.client.id, at: now).with([
            "nonce": .string(nonce), "c_hash": .string(hash), "real_user_status": JSON?.none,
        ])
    }

    /// The fields of Apple's form, with some changed; nil removes one.
    func answer(
        subject: String = TokenForge.subject, token: String? = nil, _ changes: [String: String?] = [:]
    ) -> [(String, String)] {
        var fields: [String: String?] = [
            "state": state, "code": WebVisit.appleCode, "id_token": token ?? forge(subject: subject).token,
        ]
        for (name, value) in changes { fields[name] = value }
        return fields.compactMap { name, value in value.map { (name, $0) } }.sorted { $0.0 < $1.0 }
    }
}

/// Where the browser went in the end.
struct Landing {
    let address: String
    let parameters: FormURLEncoded

    init(_ answer: Answer) throws {
        guard answer.status == 303, let location = answer.headers["location"]?.string else {
            throw WebVisit.Unexpected(answer: answer)
        }
        let page = try ApplePage(location)
        (address, parameters) = (page.address, page.parameters)
    }

    func require(_ name: String) throws -> String {
        guard let value = parameters[name] else { throw JOSEError.malformed }
        return value
    }
}
