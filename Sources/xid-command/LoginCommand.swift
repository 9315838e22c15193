internal import Xid

/// `xid login`: authorization code with PKCE, the redirect on loopback (RFC 8252 §7.3).
struct LoginCommand: Command {
    static let name = "login"
    static let options = Registration.options + [.flag("no-browser"), .value("prompt"), .value("login-hint")]
    static let help = """
        xid login --issuer URL --client-id ID [--scope SCOPE]… [--dpop] [--no-browser] [--json]

        Opens the provider's page in the browser, waits for the person to sign in there, and keeps the session. The next time
        what was given is remembered.

        \(Registration.help)
          --scope SCOPE     what to ask for; may be repeated, in place of openid profile email  (XID_SCOPE, with spaces)
          --dpop            bind the tokens to a key of this machine (RFC 9449), so that they can be renewed with the
                            scope offline_access                             (XID_DPOP=1)
          --redirect-uri U  when the provider knows another than http://127.0.0.1/callback, or wants a fixed port
                                                                             (XID_REDIRECT_URI)
          --post-logout-redirect-uri U  the same for xid logout --end-session  (XID_POST_LOGOUT_REDIRECT_URI)
          --prompt WORD     login, consent, select_account, none
          --login-hint H    who is expected to sign in
          --no-browser      only print the address to open                   (XID_NO_BROWSER=1)
          --json            print the session as JSON, without its tokens
        """

    private let registration: Registration
    private let configuration: XidConfiguration
    private let browser: Browser
    private let signInOptions: XidSignInOptions
    private let isJSON: Bool

    init(_ options: Options) throws {
        registration = try Registration(options, remembered: Registration.remembered(options))
        configuration = try registration.configuration()
        browser = Browser(options)
        signInOptions = XidSignInOptions(prompt: options.value("prompt"), loginHint: options.value("login-hint"))
        isJSON = options.has("json")
    }

    func run() async throws -> ExitStatus {
        let xid = Xid(platform: browser.platform)
        xid.configure(options: configuration)
        let options = signInOptions
        let session = try await Waiting.wait("Waiting for the browser; Ctrl-C cancels") {
            try await xid.signIn(options: options)
        }
        if !registration.remember() {
            Terminal.say("xid: the provider could not be remembered; name it again with the next command")
        }
        let text = SessionText(session: session, clientID: registration.clientID)
        try Terminal.print(isJSON ? text.json : "Signed in as \(text.person)")
        return .success
    }
}
