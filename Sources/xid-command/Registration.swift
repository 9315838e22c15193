internal import FoundationEssentials
internal import JOSE
internal import Xid

/// Which provider, and as which client: by option, else by environment, else as at the last login, which is remembered in a
/// file. None of it is a secret; the tokens are elsewhere (`FileTokenStorage`).
struct Registration {
    static let options: [Options.Option] = [
        .value("issuer"), .value("client-id"), .values("scope"), .value("redirect-uri"),
        .value("post-logout-redirect-uri"), .flag("dpop"),
    ]

    static let help = """
          --issuer URL      the provider, exactly as it names itself         (XID_ISSUER)
          --client-id ID    the name under which it knows this client        (XID_CLIENT_ID)
        """

    var issuer: String
    var clientID: String
    var scopes: [String]
    var redirectURI: String
    var postLogoutRedirectURI: String?
    var isBound: Bool

    init(_ options: Options, remembered: Registration?) throws(UsageError) {
        let given = { (option: String, variable: String) in options.value(option) ?? Terminal.environment(variable) }
        let issuer = given("issuer", "XID_ISSUER") ?? remembered?.issuer
        let clientID = given("client-id", "XID_CLIENT_ID") ?? remembered?.clientID
        guard let issuer, let clientID else {
            throw UsageError(
                reason:
                    "name the provider and the client by --issuer and --client-id (or XID_ISSUER and XID_CLIENT_ID); "
                    + "later they are remembered")
        }
        // The rest belongs to that client and to no other.
        let former = remembered.flatMap {
            $0.issuer.isIdentical(to: issuer) && $0.clientID.isIdentical(to: clientID) ? $0 : nil
        }
        self.issuer = issuer
        self.clientID = clientID
        let scopes = options.values("scope")
        let variable = Terminal.environment("XID_SCOPE").map { $0.split(separator: " ").map(String.init) }
        self.scopes = scopes.isEmpty ? variable ?? former?.scopes ?? ["openid", "profile", "email"] : scopes
        redirectURI = given("redirect-uri", "XID_REDIRECT_URI") ?? former?.redirectURI ?? "http://127.0.0.1/callback"
        postLogoutRedirectURI =
            given("post-logout-redirect-uri", "XID_POST_LOGOUT_REDIRECT_URI") ?? former?.postLogoutRedirectURI
        isBound = options.has("dpop") || Terminal.environment("XID_DPOP") == "1" || former?.isBound == true
    }

    func configuration() throws(UsageError) -> XidConfiguration {
        XidConfiguration(
            issuer: try Self.url(issuer, "issuer"), clientId: clientID,
            redirectUri: try Self.url(redirectURI, "redirect-uri"), scopes: scopes,
            postLogoutRedirectUri: try postLogoutRedirectURI.map { text throws(UsageError) in
                try Self.url(text, "post-logout-redirect-uri")
            },
            dpop: isBound ? .required : .off)
    }

    private static func url(_ text: String, _ name: String) throws(UsageError) -> URL {
        guard let url = URL(string: text), url.absoluteString == text else {
            throw UsageError(reason: "--\(name) is no URL")
        }
        return url
    }
}

extension Registration {
    private static let file = "client.json"

    /// Closed to others and replaced at once, as the tokens' files are.
    private static func folder() throws -> FileTokenStorage {
        if let folder = Terminal.environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return try FileTokenStorage(folder: folder + "/xid")
        }
        guard let home = Terminal.environment("HOME"), home.hasPrefix("/") else {
            throw XidError(.storageUnavailable)
        }
        return try FileTokenStorage(folder: home + "/.config/xid")
    }

    /// As at the last login; nil when there was none. What cannot be read counts as none only where nothing need be remembered:
    /// "nobody is signed in" would be untrue, and a logout would forget nothing.
    static func remembered(_ options: Options) throws(Failure) -> Registration? {
        do {
            return try folder().load(key: file).map(Registration.init(parsing:))
        } catch {
            let isNamed = { options.has($0) || Terminal.environment($1) != nil }
            if isNamed("issuer", "XID_ISSUER"), isNamed("client-id", "XID_CLIENT_ID") { return nil }
            throw Failure(
                reason:
                    "which provider the last login was at cannot be read from $XDG_CONFIG_HOME/xid/client.json "
                    + "(~/.config/xid). Make it a file of this user alone (chmod 600), or name the provider and the "
                    + "client by --issuer and --client-id")
        }
    }

    private init(parsing text: String) throws {
        let json = try JSON(parsing: Array(text.utf8), limits: .init(bytes: 16_384))
        guard let issuer = json["issuer"]?.string, let clientID = json["client_id"]?.string,
            let redirectURI = json["redirect_uri"]?.string, let isBound = json["dpop"]?.bool
        else { throw XidError(.storageCorrupt) }
        self.init(
            issuer: issuer, clientID: clientID, scopes: json["scopes"]?.array?.compactMap(\.string) ?? [],
            redirectURI: redirectURI, postLogoutRedirectURI: json["post_logout_redirect_uri"]?.string, isBound: isBound)
    }

    /// False when it cannot be kept: then it must be given each time.
    func remember() -> Bool {
        var object: JSON.Object = [
            "issuer": .string(issuer), "client_id": .string(clientID), "scopes": .array(scopes.map { .string($0) }),
            "redirect_uri": .string(redirectURI), "dpop": .bool(isBound),
        ]
        object["post_logout_redirect_uri"] = postLogoutRedirectURI.map { .string($0) }
        do {
            try Self.folder().save(key: Self.file, value: JSON.object(object).text + "\n")
            return true
        } catch {
            return false
        }
    }

    private init(
        issuer: String, clientID: String, scopes: [String], redirectURI: String, postLogoutRedirectURI: String?,
        isBound: Bool
    ) {
        self.issuer = issuer
        self.clientID = clientID
        self.scopes = scopes
        self.redirectURI = redirectURI
        self.postLogoutRedirectURI = postLogoutRedirectURI
        self.isBound = isBound
    }
}
