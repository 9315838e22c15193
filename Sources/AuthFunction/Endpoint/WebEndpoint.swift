internal import Accounts
internal import JOSE

/// What the routes of the web flow read: a query, a form of Apple's, and the body of an exchange.
enum WebEndpoint {
    /// Far more fields than anybody sends.
    private static let maximumFields = 32

    /// The query of `GET /auth/apple/authorize`. Parameters that are not known are passed over (RFC 6749 §3.1).
    static func request(from query: String, for client: WebClient) throws(Failure) -> WebSignIn.Request {
        let form = try parameters(of: Array(query.utf8), as: "query")
        var errors: [Failure.FieldError] = []
        let returnURL = one("return_url", of: form, &errors)
        let challenge = one("code_challenge", of: form, &errors)
        let method = one("code_challenge_method", of: form, &errors)
        let state = one("state", of: form, isRequired: false, &errors)

        let known = returnURL.flatMap(client.returnURL)
        if returnURL != nil, known == nil { errors.append(.init("return_url", "not_registered")) }
        let digest = challenge.flatMap(CodeChallenge.init)
        if challenge != nil, digest == nil { errors.append(.init("code_challenge", "not_43_base64url_characters")) }
        if let method, !method.isIdentical(to: "S256") { errors.append(.init("code_challenge_method", "not_S256")) }
        if let state, state.utf8.count > 512 || !state.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            errors.append(.init("state", "not_printable_ascii_of_at_most_512_bytes"))
        }
        guard errors.isEmpty, let known, let digest else { throw .invalidRequest(errors) }
        return WebSignIn.Request(returnURL: known, challenge: digest, appState: state)
    }

    /// Apple's form. None of its fields may come twice.
    static func answer(from request: Request) throws(Failure) -> (state: String, answer: WebSignIn.Answer) {
        let form = try parameters(of: try request.formBody(), as: "body")
        var errors: [Failure.FieldError] = []
        let state = one("state", of: form, &errors)
        let answer = WebSignIn.Answer(
            identityToken: one("id_token", of: form, isRequired: false, &errors),
            code: one("code", of: form, isRequired: false, &errors),
            error: one("error", of: form, isRequired: false, &errors),
            user: one("user", of: form, isRequired: false, &errors))
        guard errors.isEmpty, let state else { throw .invalidRequest(errors, concernsToken: true) }
        return (state, answer)
    }

    /// The body of `POST /auth/apple/exchange`. A name and an address are not taken from it: Apple's answer had them.
    static func exchange(
        from body: JSON.Object, idempotencyKey: String?, userAgent: String?
    ) throws(Failure) -> Exchange {
        var reader = BodyReader(body)
        let code = reader.text("code")
        let text = reader.text("code_verifier", "codeVerifier")
        let verifier = text.flatMap(CodeVerifier.init)
        if text != nil, verifier == nil { reader.refuse("code_verifier", "not_43_to_128_unreserved_characters") }
        let concernsToken = !reader.errors.isEmpty
        let deviceInfo = reader.deviceInfo()
        let key = reader.idempotencyKey(idempotencyKey)
        guard reader.errors.isEmpty, let code, let verifier, let deviceInfo else {
            throw .invalidRequest(reader.errors, concernsToken: concernsToken)
        }
        return Exchange(
            code: code, verifier: verifier,
            client: SignIn.Client(
                deviceInfo: deviceInfo, idempotencyKey: key,
                userAgent: SignInEndpoint.cleaned(userAgent: userAgent)))
    }

    struct Exchange {
        let code: String
        let verifier: CodeVerifier
        let client: SignIn.Client
    }

    /// The browser is sent on. No cache keeps where, and no page learns where it came from.
    static func redirect(to location: String, headers: Headers = [:]) -> Response {
        var response = Response(
            status: 303,
            headers: ["location": location, "cache-control": "no-store", "referrer-policy": "no-referrer"])
        for field in headers.fields { response.headers.append(field.name, field.value) }
        return response
    }

    static func parameters(of bytes: [UInt8], as name: String) throws(Failure) -> FormURLEncoded {
        guard let form = FormURLEncoded(parsing: bytes[...], maximumFields: maximumFields) else {
            throw .invalidRequest([.init(name, "not_a_form")])
        }
        return form
    }

    /// A parameter without a value counts as left out (RFC 6749 §3.1).
    static func one(
        _ name: String, of form: FormURLEncoded, isRequired: Bool = true, _ errors: inout [Failure.FieldError]
    ) -> String? {
        switch form.occurrence(of: name) {
        case .once(let value) where !value.isEmpty: return value
        case .once, .absent: if isRequired { errors.append(.init(name, "required")) }
        case .repeated: errors.append(.init(name, "duplicate"))
        }
        return nil
    }
}

extension Request {
    /// The body as a form; its type is checked before it is read. A charset is passed over: a form is UTF-8.
    fileprivate func formBody() throws(Failure) -> [UInt8] {
        guard body.count <= AuthFunction.maximumBodySize else { throw .contentTooLarge }
        guard hasType("application/x-www-form-urlencoded") else { throw .formExpected }
        return body
    }
}
