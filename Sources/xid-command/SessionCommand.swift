internal import Xid

/// `xid session`: who is signed in.
struct SessionCommand: Command {
    static let name = "session"
    static let options: [Options.Option] = [.value("issuer"), .value("client-id")]
    static let help = """
        xid session [--json]

        Shows who is signed in. A session that has expired is renewed when it can be, else forgotten. No token is shown.

        \(Registration.help)
          --json            print it as JSON: signed_in, issuer, client_id, subject, name, email, email_verified, scopes,
                            token_type, expires_at (seconds since 1970, or null)
        """

    private let registration: Registration?
    private let isJSON: Bool

    init(_ options: Options) throws {
        registration = try Registration(signedInBy: options)
        isJSON = options.has("json")
    }

    func run() async throws -> ExitStatus {
        guard let registration, let session = try await registration.xid().getSession() else {
            if isJSON { try Terminal.print(SessionText.noneJSON) }
            throw Failure(XidError(.noSession))
        }
        let text = SessionText(session: session, clientID: registration.clientID)
        try Terminal.print(isJSON ? text.json : text.lines)
        return .success
    }
}

extension Registration {
    /// Nil when none is named and none remembered: then nobody is signed in.
    init?(signedInBy options: Options) throws {
        let remembered = try Self.remembered(options)
        let isNamed = options.has("issuer") || options.has("client-id")
        if remembered == nil, !isNamed, Terminal.environment("XID_ISSUER") == nil { return nil }
        try self.init(options, remembered: remembered)
    }

    func xid(_ platform: Platform = .current) throws(UsageError) -> Xid {
        let xid = Xid(platform: platform)
        xid.configure(options: try configuration())
        return xid
    }
}
