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
        let metadata = try await provider.currentMetadata()
        let response = try await connection.post(
            [
                ("grant_type", "refresh_token"), ("refresh_token", refreshToken.text),
                ("client_id", client.clientID),
            ], to: metadata.tokenEndpoint, provingBy: record.key)
        guard epoch == self.epoch else { return try await discard(response, record) }
        let tokens: TokenResponse
        do throws(XidError) {
            tokens = try TokenResponse(response, isBound: true)
        } catch {
            guard error.providerError == "invalid_grant" else { throw error }
            return try endOrAdopt(record, after: error)
        }
        var renewed = record
        let now = platform.now()
        renewed.accessToken = tokens.accessToken
        renewed.expiresAt = tokens.expiresIn.map { now.adding(seconds: $0) }
        if let scope = tokens.scope { renewed.scope = scope }
        if let token = tokens.refreshToken { renewed.refreshToken = token }
        if let idToken = tokens.idToken {
            let token = try await provider.verified(idToken)
            let expectation = IDTokenExpectation(
                issuer: client.issuer, clientID: client.clientID, nonce: record.nonce, former: record,
                accessToken: tokens.accessToken)
            _ = try expectation.check(token, at: platform.now(), using: platform.cryptography)
            (renewed.idToken, renewed.claims) = (idToken, XidClaims(token.claims))
            guard epoch == self.epoch else { return try await discard(response, record) }
        }
        try keep(renewed)
        return renewed
    }

    /// The refresh token is of no use. Another process that shares the storage may have been faster: then its session is the one.
    private func endOrAdopt(_ record: SessionRecord, after error: XidError) throws -> SessionRecord {
        if unsaved == nil, let stored = try vault.session(), stored.refreshToken != record.refreshToken {
            guard !stored.isExpired(at: platform.now()) else { throw XidError(.network) }
            return stored
        }
        try erase()
        throw XidError(
            .reauthorizationRequired, providerError: error.providerError,
            providerDescription: error.providerDescription, httpStatus: error.httpStatus)
    }

    /// The app has signed out while the provider was asked: what came is revoked and not kept.
    private func discard(_ response: TransportResponse, _ record: SessionRecord) async throws -> SessionRecord {
        if let tokens = try? TokenResponse(response, isBound: true) {
            var orphan = record
            orphan.accessToken = tokens.accessToken
            orphan.refreshToken = tokens.refreshToken ?? record.refreshToken
            await revokeTokens(of: orphan)
        }
        throw XidError(.noSession)
    }
}
