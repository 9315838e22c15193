internal import Accounts
internal import JOSE

/// The web flow, where it is configured; without that its routes are none.
extension Endpoints {
    func providers(_ request: Request) throws(Failure) -> Response {
        try ProvidersEndpoint.response(to: request.query, web: web?.client)
    }

    func authorize(_ request: Request, at now: UnixTime) throws(Failure) -> Response {
        let web = try configuredWeb()
        let asked = try WebEndpoint.request(from: request.query, for: web.client)
        do throws(CryptographyError) {
            let (location, browser) = try web.begin(asked, browser: BrowserCookie.binding(of: request), at: now)
            return WebEndpoint.redirect(to: location, headers: ["set-cookie": BrowserCookie.setting(browser)])
        } catch {
            throw .cryptography(reason: error.reason)
        }
    }

    /// What is wrong with Apple's answer is told to the app, by the redirect, and to the log as any failure is.
    func finish(_ request: Request, at now: UnixTime, log: inout LogLine) throws(Failure) -> Response {
        let web = try configuredWeb()
        let (state, answer) = try WebEndpoint.answer(from: request)
        do throws(WebSignInFailure) {
            let departure = try web.finish(
                state: state, browser: BrowserCookie.binding(of: request), answer: answer, at: now)
            if let failure = departure.failure {
                log.outcome = failure.error.rawValue
                log.reason = Failure(failure.reason).logReason
            }
            return WebEndpoint.redirect(to: departure.location)
        } catch {
            throw Failure(error)
        }
    }

    func exchange(
        _ request: Request, origin: AuditEntry.Origin, at now: UnixTime, log: inout LogLine, errands: inout [Errand]
    ) throws(Failure) -> Response {
        let web = try configuredWeb()
        let input = try WebEndpoint.exchange(
            from: try request.jsonBody(), idempotencyKey: request.headers["idempotency-key"],
            userAgent: request.userAgent)
        do throws(WebSignInFailure) {
            let (signedIn, appleCode) = try web.exchange(
                input.code, verifier: input.verifier, client: input.client, origin: origin, at: now)
            if let appleCode, life.exchangesCodes { errands.append(.exchange(appleCode)) }
            log.accountCreated = signedIn.isNew
            log.setSubject(signedIn.account, using: cryptography)
            return SignInEndpoint.response(to: signedIn)
        } catch {
            throw Failure(error)
        }
    }

    private func configuredWeb() throws(Failure) -> WebSignIn {
        guard let web else { throw .notFound }
        return web
    }
}

extension Failure {
    init(_ failure: WebSignInFailure) {
        self =
            switch failure {
            case .refused(let refusal): .webRefused(refusal)
            case .signIn(let failure): Failure(failure)
            }
    }
}
