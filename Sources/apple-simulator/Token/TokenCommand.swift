internal import JOSE
internal import OpenSSLCrypto

/// `apple-simulator token`: one identity token, good unless asked otherwise.
struct TokenCommand: Command {
    static let name = "token"
    static let options: [Options.Option] = [
        .value("subject"), .value("audience"), .value("email"), .flag("relay"), .value("email-verified"),
        .value("private-email"), .value("nonce"), .flag("nonce-verbatim"), .value("issued-at"), .value("expires-in"),
        .value("transfer-subject"), .value("code"), .values("claim"), .values("without"), .value("key"), .value("bad"),
    ]
    static let help = """
        apple-simulator token [OPTION]... [--bad KIND]

        Prints a signed identity token as a native iOS app gets it. Without options: always the same person, no e-mail.

          --subject S            sub
          --audience A           aud, a Bundle ID or Services ID (else APPLE_SIMULATOR_AUDIENCE, else com.example.app)
          --email E              the person shares this address
          --relay                the person hides it: an alias of Hide My Email
          --email-verified V     email_verified; true or false, or "true" in quotes of its own for the older form
          --private-email V      is_private_email, likewise
          --nonce RAW            the claim is the SHA-256 of RAW in hex, as iOS apps send it; with --nonce-verbatim RAW itself
          --issued-at TIME       iat in seconds of 1970, or +N or -N seconds from now
          --expires-in N         seconds from iat to exp (86400)
          --transfer-subject S   transfer_sub
          --code C               the authorization code that c_hash is of
          --claim NAME=JSON      any claim; may be repeated
          --without NAME         leave a claim out; may be repeated
          --key N                which of the keys signs, 1 to 3 (1)
          --bad KIND             make it bad in one way; --bad list lists the kinds
          --key-file PATH        where the private keys are; made if absent
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
            Descriptor.print(BadToken.list(BadToken.all))
            return
        }
        let bad = try options.bad(among: BadToken.all)
        let now = System.now().seconds
        let token = try identityToken(now: now)
        let changes = try claimChanges()
        let number = try options.integer("key", in: 1...Int64(SimulatedKeys.count)) ?? 1

        let keys = try file.keys()
        var draft = TokenDraft(claims: try token.claims(using: cryptography), key: keys.all[Int(number) - 1])
        for (name, value) in changes { draft.claims[name] = value }
        try bad?.spoil(&draft, BadToken.Setting(keys: keys, now: now, cryptography: cryptography))
        Descriptor.print(try draft.signed(using: cryptography))
    }

    private func identityToken(now: Int64) throws(UsageError) -> IdentityToken {
        var token = IdentityToken(issuedAt: try issuedAt(now: now))
        if let subject = options.value("subject") { token.subject = subject }
        token.audience = options.audience
        if let seconds = try options.integer("expires-in", in: -4_000_000_000...4_000_000_000) {
            token.expiresIn = seconds
        }
        switch (options.value("email"), options.has("relay")) {
        case (let address?, false): token.email = .address(address)
        case (nil, true): token.email = .relay
        case (nil, false): break
        case (_?, true): throw UsageError(reason: "--email and --relay exclude each other")
        }
        token.emailVerified = options.value("email-verified").map(Options.json)
        token.isPrivateEmail = options.value("private-email").map(Options.json)
        token.transferSubject = options.value("transfer-subject")
        token.code = options.value("code")
        if let raw = options.value("nonce") {
            token.nonce =
                options.has("nonce-verbatim") ? raw : Hexadecimal.text(cryptography.sha256(Array(raw.utf8)[...])[...])
        } else if options.has("nonce-verbatim") {
            throw UsageError(reason: "--nonce-verbatim goes with --nonce")
        }
        return token
    }

    private func issuedAt(now: Int64) throws(UsageError) -> Int64 {
        guard let text = options.value("issued-at") else { return now }
        guard let number = try options.integer("issued-at", in: -4_000_000_000...4_000_000_000) else { return now }
        return text.hasPrefix("+") || text.hasPrefix("-") ? now + number : number
    }

    private func claimChanges() throws(UsageError) -> [(name: String, value: JSON?)] {
        var changes: [(String, JSON?)] = []
        for text in options.values("claim") {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { throw UsageError(reason: "--claim wants NAME=JSON") }
            changes.append((String(parts[0]), Options.json(String(parts[1]))))
        }
        return changes + options.values("without").map { ($0, nil) }
    }
}
