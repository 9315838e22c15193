internal import JOSE

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension RelyingParty {
    func getSession() async throws -> XidSession? {
        guard let record = try currentRecord() else { return nil }
        guard record.isExpired(at: platform.now()) else { return record.session(issuer: client.issuerURL) }
        do {
            return try await renewed(record).session(issuer: client.issuerURL)
        } catch let error as XidError where error.code == .reauthorizationRequired || error.code == .noSession {
            return nil
        }
    }

    func getAccessToken(forceRefresh: Bool) async throws -> String {
        try await usableRecord(forceRefresh: forceRefresh).accessToken.text
    }

    /// A session whose access token is good now.
    private func usableRecord(forceRefresh: Bool = false) async throws -> SessionRecord {
        guard let record = try currentRecord() else { throw XidError(.noSession) }
        guard forceRefresh || record.isExpired(at: platform.now()) else { return record }
        return try await renewed(record)
    }

    func authorizationHeaders(method: String, url: URL, nonce: String?) async throws -> [String: String] {
        let record = try await usableRecord()
        var headers = ["Authorization": "\(record.tokenType.rawValue) \(record.accessToken.text)"]
        guard let key = record.key, record.tokenType == .dpop else { return headers }
        let address = String(url.absoluteString.prefix { $0 != "?" && $0 != "#" })
        let proof = DPoPProof(
            method: method, address: address, nonce: nonce, accessToken: record.accessToken, time: platform.now())
        headers["DPoP"] = try proof.signed(by: key, using: platform.cryptography)
        return headers
    }

    func getUserInfo() async throws -> XidClaims {
        let record = try await usableRecord()
        guard let endpoint = try await provider.currentMetadata().userInfoEndpoint else {
            throw XidError(
                .userInfoInvalid, message: "The provider has no userinfo_endpoint. Use the session's claims.")
        }
        let response = try await connection.get(endpoint, authorizedBy: record)
        guard response.status == 200 else { throw XidError(.userInfoInvalid, refusal: response) }
        guard let claims = JSON(object: response.body)?.object else { throw XidError(.userInfoInvalid) }
        // OpenID Connect Core §5.3.2: without this, an access token that was put in its place would tell of another person.
        guard let subject = claims["sub"]?.string, subject.isIdentical(to: record.subject) else {
            throw XidError(.userInfoSubject)
        }
        return XidClaims(claims)
    }

    /// The session with new tokens. However many ask, there is one request; its failure is shared, and the next call tries again.
    private func renewed(_ record: SessionRecord) async throws -> SessionRecord {
        if let renewal { return try await renewal.value }
        guard record.isRenewable else {
            if record.isExpired(at: platform.now()) { try erase() }
            throw XidError(.reauthorizationRequired)
        }
        let epoch = self.epoch
        let task = Task { try await self.renew(record, epoch: epoch) }
        renewal = task
        defer { if renewal == task { renewal = nil } }
        return try await task.value
    }

    private func erase() throws {
        unsaved = nil
        redemption = nil
        try vault.eraseSession()
    }

    /// RFC 6749 §6, with rotation. Only `invalid_grant` ends the session; whatever may pass by itself does not.
    private func renew(_ record: SessionRecord, epoch: Int) async throws -> SessionRecord {
        guard let refreshToken = record.refreshToken else { throw XidError(.reauthorizationRequired) }
        // A refresh token is good once: of two processes that sent it, the provider would believe neither.
        let turn = try await vault.turnToRenew()
        defer { withExtendedLifetime(turn) {} }
        if turn != nil {
            switch try standing(of: record, since: epoch) {
            case .unchanged: break
            case .replaced(let successor): return try adopt(successor)
            case .ended: throw XidError(.noSession)
            }
        }
        let metadata = try await provider.currentMetadata()
        // First, so that nothing is fetched between the answer, which spends the refresh token, and its being kept: the app may be
        // ended there. Where there are no keys now, the answer may need none.
        _ = try? await provider.currentKeys()
        let response = try await connection.post(
            [
                ("grant_type", "refresh_token"), ("refresh_token", refreshToken.text),
                ("client_id", client.clientID),
            ], to: metadata.tokenEndpoint, provingBy: record.key)
        let tokens: TokenResponse
        do throws(XidError) {
            tokens = try TokenResponse(response, isBound: true)
        } catch {
            guard error.providerError == "invalid_grant" else { throw error }
            return try end(record, of: epoch, after: error)
        }
        var renewed = record
        if let token = tokens.refreshToken { renewed.refreshToken = token }
        if let idToken = tokens.idToken {
            let expectation = IDTokenExpectation(
                issuer: client.issuer, clientID: client.clientID, nonce: record.nonce, former: record,
                accessToken: tokens.accessToken)
            var isVerified = false
            do {
                let token = try await provider.verified(idToken)
                isVerified = true
                _ = try expectation.check(token, at: platform.now(), using: platform.cryptography)
                (renewed.idToken, renewed.claims) = (idToken, XidClaims(token.claims))
            } catch {
                // Nothing of the answer is believed; but it has spent the former refresh token, so the next try needs the new one.
                // Not if that may be another's: whom the token names is looked at before the times, at which a wrong clock fails.
                let code = (error as? XidError)?.code
                if !isVerified || code == .idTokenExpired || code == .idTokenNotYetValid {
                    _ = try await replace(record, of: epoch, by: renewed)
                }
                throw error
            }
        }
        let now = platform.now()
        renewed.accessToken = tokens.accessToken
        renewed.expiresAt = tokens.expiresIn.map { now.adding(seconds: $0) }
        if let scope = tokens.scope { renewed.scope = scope }
        return try await replace(record, of: epoch, by: renewed)
    }

    /// What has become of a session while the provider was asked.
    private enum Standing {
        case unchanged
        /// Somebody has signed in, or another process that shares the storage was faster: then that session is the one.
        case replaced(SessionRecord)
        /// Signed out, here or in another process.
        case ended
    }

    private func standing(of record: SessionRecord, since epoch: Int) throws -> Standing {
        guard epoch == self.epoch, let kept = try currentRecord() else { return .ended }
        return kept.refreshToken == record.refreshToken ? .unchanged : .replaced(kept)
    }

    /// Keeps a renewed session, if the former is still the one. What came after a sign-out is revoked.
    private func replace(
        _ record: SessionRecord, of epoch: Int, by renewed: SessionRecord
    ) async throws -> SessionRecord {
        // While the storage cannot be looked into, nothing is thrown away.
        switch (try? standing(of: record, since: epoch)) ?? .unchanged {
        case .unchanged:
            try keep(renewed)
            return renewed
        case .replaced(let successor): return try adopt(successor)
        case .ended:
            await revokeTokens(of: renewed)
            throw XidError(.noSession)
        }
    }

    /// The refresh token is of no use.
    private func end(_ record: SessionRecord, of epoch: Int, after error: XidError) throws -> SessionRecord {
        switch try standing(of: record, since: epoch) {
        case .unchanged:
            try erase()
            throw XidError(
                .reauthorizationRequired, providerError: error.providerError,
                providerDescription: error.providerDescription, httpStatus: error.httpStatus)
        case .replaced(let successor): return try adopt(successor)
        case .ended: throw XidError(.noSession)
        }
    }

    private func adopt(_ successor: SessionRecord) throws -> SessionRecord {
        guard !successor.isExpired(at: platform.now()) else { throw XidError(.network) }
        return successor
    }
}
