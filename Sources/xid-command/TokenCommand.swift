internal import FoundationEssentials
internal import JOSE
internal import Xid

/// `xid token`: the one command that prints a secret, on standard output and nowhere else.
struct TokenCommand: Command {
    static let name = "token"
    static let options: [Options.Option] = [
        .value("issuer"), .value("client-id"), .flag("refresh"), .value("url"), .value("method"), .value("nonce"),
    ]
    static let help = """
        xid token [--refresh] [--json]
        xid token --url URL [--method GET] [--nonce N]

        Prints the access token, renewed when it has expired and can be. With --url it prints the header fields of one request
        to that address, which a token of the kind DPoP needs:

          xid token --url https://api.example.com/me | curl -H @- https://api.example.com/me

        \(Registration.help)
          --refresh         renew it even if it has not expired
          --url URL         print Authorization, and DPoP where the token is bound, for a request to URL
          --method WORD     of that request; GET if not given
          --nonce N         what the service has sent as DPoP-Nonce
          --json            print access_token, token_type and expires_at as JSON
        """

    private let registration: Registration?
    private let request: (url: URL, method: String, nonce: String?)?
    private let isRefreshing: Bool
    private let isJSON: Bool

    init(_ options: Options) throws {
        registration = try Registration(signedInBy: options)
        if let text = options.value("url") {
            guard let url = URL(string: text), url.host != nil else { throw UsageError(reason: "--url is no URL") }
            request = (url, options.value("method") ?? "GET", options.value("nonce"))
        } else {
            guard !options.has("method"), !options.has("nonce") else {
                throw UsageError(reason: "--method and --nonce go with --url")
            }
            request = nil
        }
        isRefreshing = options.has("refresh")
        isJSON = options.has("json")
    }

    func run() async throws -> ExitStatus {
        guard let xid = try registration?.xid() else { throw Failure(XidError(.noSession)) }
        let token = try await xid.getAccessToken(forceRefresh: isRefreshing)
        if let request {
            let fields = try await xid.authorizationHeaders(
                method: request.method, url: request.url, nonce: request.nonce)
            let sorted = fields.sorted { $0.key < $1.key }
            if isJSON {
                var object = JSON.Object()
                for (name, value) in sorted { object[name] = .string(value) }
                try Terminal.print(JSON.object(object).text)
            } else {
                try Terminal.print(sorted.map { "\($0.key): \($0.value)" }.joined(separator: "\n"))
            }
        } else if isJSON, let session = try await xid.getSession() {
            let expiry = SessionText.seconds(session.expiresAt).map { JSON.integer($0) } ?? .null
            try Terminal.print(
                JSON.object([
                    "access_token": .string(session.accessToken), "token_type": .string(session.tokenType),
                    "expires_at": expiry,
                ]).text)
        } else {
            try Terminal.print(token)
        }
        return .success
    }
}
