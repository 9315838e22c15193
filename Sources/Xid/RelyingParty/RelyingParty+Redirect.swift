internal import JOSE

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension RelyingParty {
    /// Takes one redirect: once. Up to the exchange nothing waits, so two calls with one URL meet in one exchange.
    func handleRedirect(_ url: URL) async throws -> XidSession {
        let digest = platform.cryptography.sha256(Array(url.absoluteString.utf8)[...])
        if let redemption, redemption.redirect == digest { return try await redemption.task.value }
        let flow = try openFlow()
        let redirect = try Redirect(url, callback: flow.redirectURI)
        let isOurs = redirect.answers(flow, using: platform.cryptography)
        guard redirect.names(client.issuer, isRequired: flow.mustNameIssuer) else {
            if isOurs { try consume(flow) }
            throw XidError(.issuerMismatch)
        }
        // A redirect that does not answer the flow leaves it alone, or any app could end a sign-in by opening a URL.
        guard isOurs else { throw XidError(.stateMismatch) }
        try consume(flow)
        if let error = redirect.error {
            throw XidError(
                error == "access_denied" ? .authorizationDenied : .authorizationFailed,
                providerError: XidError.errorCode(error), providerDescription: redirect.errorDescription)
        }
        guard let code = redirect.code, !code.text.isEmpty else { throw XidError(.malformedRedirect) }

        let epoch = self.epoch
        let resumed = resume(flow)
        defer { if let resumed { close(resumed) } }
        let attempt = attempt.flatMap { $0.state == flow.state ? $0 : nil }
        let task = Task {
            try await self.redeem(code, of: flow) { epoch != self.epoch || attempt?.isCancelled == true }
        }
        redemption = (digest, task)
        attempt?.redemption = task
        attempt?.visit?.cancel()
        do {
            return try await task.value
        } catch {
            if redemption?.task == task { redemption = nil }
            throw error
        }
    }

    /// The flow that waits for a redirect, from memory or, after the app was started anew, from the storage.
    private func openFlow() throws -> PendingFlow {
        guard let flow = try flow ?? vault.flow() else { throw XidError(.noPendingFlow) }
        guard !flow.isExpired(at: platform.now()) else {
            try consume(flow)
            throw XidError(.flowExpired)
        }
        return flow
    }

    /// A sign-in whose browser an earlier run of the app has opened is open until its end, too. Nil where there is another.
    private func resume(_ flow: PendingFlow) -> Attempt? {
        guard attempt?.isCancelled ?? true else { return nil }
        attempts += 1
        let resumed = Attempt(number: attempts)
        resumed.state = flow.state
        attempt = resumed
        return resumed
    }

    /// The flow is over, and its verifier erased, before the network hears of it. When it cannot be erased, the code is not spent.
    private func consume(_ flow: PendingFlow) throws {
        self.flow = nil
        try vault.eraseFlow()
    }

    /// Exchanges the code (RFC 6749 §4.1.3) and believes the answer only when its ID token does.
    ///
    /// - Parameter isVoid: whether the app has cancelled or signed out meanwhile; asked at the end.
    private func redeem(
        _ code: SecretText, of flow: PendingFlow, isVoid: () -> Bool
    ) async throws -> XidSession {
        let metadata = try await provider.currentMetadata()
        let response = try await connection.post(
            [
                ("grant_type", "authorization_code"), ("code", code.text), ("redirect_uri", flow.redirectURI),
                ("client_id", client.clientID), ("code_verifier", flow.verifier.text),
            ], to: metadata.tokenEndpoint, provingBy: flow.key)
        let tokens = try TokenResponse(response, isBound: flow.key != nil)
        guard let idToken = tokens.idToken else { throw XidError(.idTokenMissing) }
        let now = platform.now()
        let token = try await provider.verified(idToken)
        let expectation = IDTokenExpectation(
            issuer: client.issuer, clientID: client.clientID, nonce: flow.nonce, accessToken: tokens.accessToken,
            code: code, maxAge: flow.maxAge)
        let subject = try expectation.check(token, at: platform.now(), using: platform.cryptography)
        let record = SessionRecord(
            issuer: client.issuer, clientID: client.clientID, subject: subject, accessToken: tokens.accessToken,
            tokenType: tokens.tokenType, expiresAt: tokens.expiresIn.map { now.adding(seconds: $0) },
            scope: tokens.scope ?? client.scope, idToken: idToken, claims: XidClaims(token.claims), nonce: flow.nonce,
            // Without a key it would be a bearer secret of long life: it is dropped.
            refreshToken: flow.key == nil ? nil : tokens.refreshToken, key: flow.key)
        guard !isVoid() else {
            await revokeTokens(of: record)
            throw XidError(.cancelled)
        }
        // One that is under way is the former session's: who asks from now on does not wait for it.
        renewal = nil
        try keep(record)
        return record.session(issuer: client.issuerURL)
    }
}

extension Redirect {
    /// Whether `state` is the flow's, in constant time.
    func answers(_ flow: PendingFlow, using cryptography: any TokenCryptography) -> Bool {
        guard let state else { return false }
        return cryptography.areEqual(Array(state.utf8)[...], Array(flow.state.text.utf8)[...])
    }

    /// RFC 9207 §2.4: where promised it must be there, on errors as well; where it is there it must be the issuer to the byte.
    func names(_ issuer: String, isRequired: Bool) -> Bool {
        self.issuer.map { $0.isIdentical(to: issuer) } ?? !isRequired
    }
}
