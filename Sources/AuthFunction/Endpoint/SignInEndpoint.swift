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
        var errors: [Failure.FieldError] = []

        /// A member under either of its spellings: apps encode in camelCase or in snake_case. Null is absent.
        func member(_ name: String, _ otherName: String? = nil) -> JSON? {
            let values = [name, otherName].compactMap { $0 }.compactMap { body[$0] }.filter { $0 != .null }
            if values.count > 1 { errors.append(.init(name, "duplicate")) }
            return values.first
        }

        var token: [UInt8] = []
        switch member("identity_token", "identityToken") {
        case .string(let text)? where !text.isEmpty: token = Array(text.utf8)
        case .string?, nil: errors.append(.init("identity_token", "required"))
        default: errors.append(.init("identity_token", "not_a_string"))
        }
        let concernsToken = !errors.isEmpty

        var deviceInfo: DeviceInfo?
        if let json = member("deviceInfo", "device_info") {
            do throws(DeviceInfo.Refusal) {
                deviceInfo = try DeviceInfo(json)
            } catch {
                errors.append(.init("deviceInfo", error.rawValue))
            }
        } else {
            errors.append(.init("deviceInfo", "required"))
        }

        var nonce: String?
        switch member("nonce") {
        case .string(let text)? where !text.isEmpty && text.utf8.count <= 512: nonce = text
        case nil: break
        default: errors.append(.init("nonce", "not_a_string_of_1_to_512_bytes"))
        }

        var code: SecretBytes?
        if readsCode {
            switch member("authorization_code", "authorizationCode") {
            case .string(let text)? where (1...1024).contains(text.utf8.count): code = SecretBytes(Array(text.utf8))
            case nil: break
            default: errors.append(.init("authorization_code", "not_a_string_of_1_to_1024_bytes"))
            }
        }

        // draft-ietf-httpapi-idempotency-key-header: a string in quotes; most clients leave the quotes out.
        let key = idempotencyKey.map { String(decoding: $0.utf8.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self) }
        if let key, !(1...255).contains(key.utf8.count) {
            errors.append(.init("Idempotency-Key", "not_a_string_of_1_to_255_bytes"))
        }

        // Neither ever fails a login, not even in both spellings.
        let name = PersonName.fullName(body["full_name"]) ?? PersonName.fullName(body["fullName"])
        let email = contactEmail(body["email"]?.string ?? "")

        guard errors.isEmpty, let deviceInfo else { throw .invalidRequest(errors, concernsToken: concernsToken) }
        return SignIn.Request(
            identityToken: token[...], nonce: nonce, code: code,
            client: SignIn.Client(
                deviceInfo: deviceInfo, fullName: name, email: email, idempotencyKey: key,
                userAgent: userAgent.flatMap { Text.cleaned($0, maximumScalars: 256) }))
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
