internal import AppleID
internal import JOSE

/// What the one-time code holds that the browser takes to the app: all that was verified, so that whichever process exchanges
/// it needs to ask nobody. The identity token itself is not in it.
struct WebCode {
    /// Seconds from Apple's answer to the exchange. Long enough for the question whether the browser may open the app, and for
    /// one more try where the network is bad; Apple's own code lives five minutes.
    static let seconds: Int64 = 120

    let identity: AppleIdentity
    let fullName: String?
    /// Apple's authorization code.
    let appleCode: String
    let challenge: CodeChallenge
    /// The flow's.
    let mark: Mark
    let expiresAt: UnixTime

    init(
        identity: AppleIdentity, fullName: String?, appleCode: String, flow: WebFlow,
        using cryptography: any Cryptography, at now: UnixTime
    ) {
        self.identity = identity
        self.fullName = fullName
        self.appleCode = appleCode
        challenge = flow.challenge
        mark = flow.mark(using: cryptography)
        expiresAt = now.adding(seconds: Self.seconds)
    }

    var json: JSON {
        [
            "identity": identity.sealable, "name": .string(orNull: fullName), "apple_code": .string(appleCode),
            "challenge": .string(challenge.text), "mark": .string(Base64URL.encode(mark.name)),
            "mark_expires": .integer(mark.expiresAt.milliseconds), "expires": .integer(expiresAt.milliseconds),
        ]
    }

    init?(_ json: JSON) {
        guard let identity = json["identity"].flatMap(AppleIdentity.init(sealed:)),
            let appleCode = json["apple_code"]?.string,
            let challenge = json["challenge"]?.string.flatMap(CodeChallenge.init),
            let mark = json["mark"]?.string.flatMap({ Base64URL.decode($0) }), mark.count == 32,
            let markExpiry = json["mark_expires"]?.integer, let expiry = json["expires"]?.integer
        else { return nil }
        self.identity = identity
        fullName = json["name"]?.string
        self.appleCode = appleCode
        self.challenge = challenge
        self.mark = Mark(name: mark, expiresAt: UnixTime(milliseconds: markExpiry))
        expiresAt = UnixTime(milliseconds: expiry)
    }
}
