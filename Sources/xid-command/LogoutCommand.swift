internal import JOSE
internal import Xid

/// `xid logout`: forgets the session here first, whatever the provider says.
struct LogoutCommand: Command {
    static let name = "logout"
    static let options: [Options.Option] = [
        .value("issuer"), .value("client-id"), .flag("end-session"), .value("post-logout-redirect-uri"),
        .flag("no-browser"),
    ]
    static let help = """
        xid logout [--end-session [--no-browser]] [--json]

        Forgets the session, and asks the provider to revoke its tokens, as far as it can be reached. That nobody was signed
        in is no error.

        \(Registration.help)
          --end-session     also end the person's session at the provider, in the browser
          --post-logout-redirect-uri U  where the provider sends the browser then, http://127.0.0.1/…; without one xid
                            does not wait for it                             (XID_POST_LOGOUT_REDIRECT_URI)
          --no-browser      only print the address to open                   (XID_NO_BROWSER=1)
          --json            print {"signed_in":false,"was_signed_in":…}
        """

    private let registration: Registration?
    private let browser: Browser
    private let endsSession: Bool
    private let isJSON: Bool

    init(_ options: Options) throws {
        registration = try Registration(signedInBy: options)
        browser = Browser(options)
        endsSession = options.has("end-session")
        isJSON = options.has("json")
    }

    func run() async throws -> ExitStatus {
        var wasSignedIn = false
        if let xid = try registration?.xid(browser.platform) {
            let endsSession = endsSession
            wasSignedIn = try await Waiting.wait("Waiting for the provider; Ctrl-C cancels") {
                // One that has expired here is not over at the provider, and is the hint to whom to sign out there.
                let keepsSession = try await xid.keepsSession()
                try await xid.signOut(callEndSession: endsSession && keepsSession)
                return keepsSession
            }
        }
        if isJSON {
            try Terminal.print(JSON.object(["signed_in": .bool(false), "was_signed_in": .bool(wasSignedIn)]).text)
        } else {
            try Terminal.print(wasSignedIn ? "Signed out" : "Nobody was signed in")
        }
        return .success
    }
}
