internal import Accounts
internal import AppleID
internal import JOSE

/// `POST /auth/apple`: body → use case → response. What a sign-in answers, a refresh answers too.
enum SignInEndpoint {
    /// Reads the body. Every field that is wrong is named, all of them at once.
    ///
    /// - Parameter readsCode: whether an authorization code is wanted; else whatever is in its place is passed over.
    static func request(
        from body: JSON.Object, idempotencyKey: String?, userAgent: String?, readsCode: Bool
    ) throws(Failure) -> SignIn.Request {
        var reader = BodyReader(body)
        let token = reader.text("identity_token", "identityToken")
        let concernsToken = !reader.errors.isEmpty
        let deviceInfo = reader.deviceInfo()

        var nonce: String?
        switch reader.member("nonce") {
        case .string(let text)? where !text.isEmpty && text.utf8.count <= 512: nonce = text
        case nil: break
        default: reader.refuse("nonce", "not_a_string_of_1_to_512_bytes")
        }
        var code: SecretBytes?
        if readsCode {
            switch reader.member("authorization_code", "authorizationCode") {
            case .string(let text)? where (1...1024).contains(text.utf8.count): code = SecretBytes(Array(text.utf8))
            case nil: break
            default: reader.refuse("authorization_code", "not_a_string_of_1_to_1024_bytes")
            }
        }
        let key = reader.idempotencyKey(idempotencyKey)

        // Neither ever fails a login, not even in both spellings.
        let name = PersonName.fullName(body["full_name"]) ?? PersonName.fullName(body["fullName"])
        let email = contactEmail(body["email"]?.string ?? "")

        guard reader.errors.isEmpty, let token, let deviceInfo else {
            throw .invalidRequest(reader.errors, concernsToken: concernsToken)
        }
        return SignIn.Request(
            identityToken: Array(token.utf8)[...], nonce: nonce, code: code,
            client: SignIn.Client(
                deviceInfo: deviceInfo, fullName: name, email: email, idempotencyKey: key,
                userAgent: cleaned(userAgent: userAgent)))
    }

    static func cleaned(userAgent: String?) -> String? {
        userAgent.flatMap { Text.cleaned($0, maximumScalars: 256) }
    }

    /// Whole or not at all: an address that was cut is another one's.
    private static func contactEmail(_ text: String) -> String? {
        text.utf8.count <= 320 ? Text.cleaned(text, maximumScalars: 320) : nil
    }

    static func response(to signedIn: SignedIn) -> Response {
        Response(
            status: signedIn.isNew ? 201 : 200, json: json(of: signedIn), headers: ["cache-control": "no-store"])
    }

    private static func json(of signedIn: SignedIn) -> JSON {
        [
            "access_token": .string(signedIn.tokens.accessToken), "token_type": "Bearer",
            "expires_in": .integer(signedIn.tokens.accessExpiresIn),
            "refresh_token": .string(signedIn.tokens.refreshToken),
            "refresh_expires_in": .integer(signedIn.tokens.refreshExpiresIn), "is_new": .bool(signedIn.isNew),
            "user": user(signedIn.account), "session": ["id": .string(signedIn.sessionID.description)],
        ]
    }

    /// The account as its owner sees it: null when unknown, never missing.
    static func user(_ account: Account) -> JSON {
        let profile = account.profile
        return [
            "id": .string(account.id.description), "full_name": .string(orNull: profile.fullName),
            "email": .string(orNull: profile.email?.address),
            "email_verified": .bool(profile.email?.isVerified ?? false),
            "is_private_email": .bool(profile.email?.isPrivate ?? false),
        ]
    }
}
