internal import JOSE
internal import OpenSSLCrypto

/// `apple-simulator notification`: what Apple posts to an app's server when a person changes something, good unless asked
/// otherwise.
struct NotificationCommand: Command {
    static let name = "notification"
    static let options: [Options.Option] = [
        .value("type"), .value("sub"), .value("audience"), .value("email"), .value("private-email"), .value("jti"),
        .value("event-time"), .value("key"), .value("bad"),
    ]
    static let help = """
        apple-simulator notification --type TYPE --sub S [OPTION]... [--bad KIND]

        Prints {"payload":"..."} as Apple posts it: a signed token whose events is the JSON text of one event.

          --type TYPE        consent-revoked, account-delete, account-deleted, email-disabled, email-enabled
          --sub S            the person's sub
          --audience A       aud, a Bundle ID or Services ID (else APPLE_SIMULATOR_AUDIENCE, else com.example.app)
          --email E          for the types about e-mail; without it the alias of this sub
          --private-email V  is_private_email, for them; true or false, or "true" in quotes of its own ("true")
          --jti ID           its name; the same again is the same notification (a new one each time)
          --event-time MS    when it happened, in milliseconds of 1970 (now)
          --key N            which of the keys signs, 1 to 3 (1)
          --bad KIND         make it bad in one way; --bad list lists the kinds
          --key-file PATH    where the private keys are; made if absent
        """

    private let options: Options
    private let cryptography: any Cryptography
    private let file: KeyFile

    init(_ options: Options) throws {
        self.options = options
        cryptography = OpenSSLCryptography()
        file = try KeyFile(options, cryptography: cryptography)
    }

    func run() throws {
        if options.value("bad") == "list" {
            Descriptor.print(BadToken.list(BadToken.notifications))
            return
        }
        let bad = try options.bad(among: BadToken.notifications)
        let now = System.now()
        let notification = try notification(at: now)
        let number = try options.integer("key", in: 1...Int64(SimulatedKeys.count)) ?? 1

        let keys = try file.keys()
        var draft = TokenDraft(claims: notification.claims, key: keys.all[Int(number) - 1])
        if let time = try options.integer("event-time", in: 0...9_999_999_999_999) {
            var event = notification.event
            event["event_time"] = .integer(time)
            draft.claims["events"] = .string(JSON.object(event).text)
        }
        try bad?.spoil(&draft, BadToken.Setting(keys: keys, now: now.seconds, cryptography: cryptography))
        Descriptor.print(Notification.body(try draft.signed(using: cryptography)).text)
    }

    private func notification(at now: UnixTime) throws -> Notification {
        guard let kind = options.value("type").flatMap(Notification.Kind.init) else {
            throw UsageError(reason: "--type wants one of \(Notification.Kind.list)")
        }
        guard let subject = options.value("sub"), !subject.isEmpty else { throw UsageError(reason: "--sub is missing") }
        var notification = Notification(
            type: kind.rawValue, subject: subject, audience: options.audience, time: now,
            id: try options.value("jti") ?? Notification.newID(using: cryptography))
        if kind.isAboutEmail {
            notification.email =
                options.value("email") ?? IdentityToken.relayAddress(of: subject, using: cryptography)
            notification.isPrivateEmail = options.value("private-email").map(Options.json)
        } else if options.has("email") || options.has("private-email") {
            throw UsageError(reason: "--email and --private-email go with the types about e-mail")
        }
        return notification
    }
}
