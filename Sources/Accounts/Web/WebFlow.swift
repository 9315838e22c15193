internal import JOSE

/// One walk through Apple's page, from its start to Apple's answer: what the sealed `state` holds.
struct WebFlow {
    /// Seconds that a person has for it.
    static let seconds: Int64 = 600

    let id: [UInt8]
    /// What Apple puts into the identity token, so that no token of another request fits.
    let nonce: String
    let returnURL: String
    let challenge: CodeChallenge
    /// The app's own state, which it gets back.
    let appState: String?
    /// Digest of the `BrowserBinding`.
    let browser: [UInt8]
    let expiresAt: UnixTime

    init(
        _ request: WebSignIn.Request, browser: BrowserBinding, using cryptography: any Cryptography, at now: UnixTime
    ) throws(CryptographyError) {
        let random = try cryptography.randomBytes(16 + 16)
        id = Array(random[..<16])
        nonce = Base64URL.encode(random[16...])
        returnURL = request.returnURL.text
        challenge = request.challenge
        appState = request.appState
        self.browser = browser.digest(using: cryptography)
        expiresAt = now.adding(seconds: Self.seconds)
    }

    var json: JSON {
        [
            "flow": .string(Base64URL.encode(id)), "nonce": .string(nonce), "return_url": .string(returnURL),
            "challenge": .string(challenge.text), "state": .string(orNull: appState),
            "browser": .string(Base64URL.encode(browser)), "expires": .integer(expiresAt.milliseconds),
        ]
    }

    init?(_ json: JSON) {
        guard let id = json["flow"]?.string.flatMap({ Base64URL.decode($0) }), let nonce = json["nonce"]?.string,
            let returnURL = json["return_url"]?.string,
            let challenge = json["challenge"]?.string.flatMap(CodeChallenge.init),
            let browser = json["browser"]?.string.flatMap({ Base64URL.decode($0) }),
            let expiry = json["expires"]?.integer
        else { return nil }
        self.id = id
        self.nonce = nonce
        self.returnURL = returnURL
        self.challenge = challenge
        appState = json["state"]?.string
        self.browser = browser
        expiresAt = UnixTime(milliseconds: expiry)
    }

    /// Names the flow without telling anything of it: it opens one session, whatever codes were made of it. Kept as long as any
    /// of them could be good.
    func mark(using cryptography: any Cryptography) -> Mark {
        Mark(
            name: cryptography.sha256((Array("auth-apple web flow ".utf8) + id)[...]),
            expiresAt: expiresAt.adding(seconds: WebCode.seconds))
    }
}
