#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension RelyingParty {
    /// Whether there is something to erase. What cannot be read is.
    var keepsSession: Bool {
        do { return try currentRecord() != nil } catch { return true }
    }

    /// Erases here first, whatever the provider will say; then revokes, and shows the provider's own sign-out.
    func signOut(callEndSession: Bool) async throws {
        epoch += 1
        cancelSignIn()
        redemption = nil
        renewal = nil
        // A record that cannot be read can still be erased; then there is nothing to revoke it by.
        let record = unsaved ?? (try? vault.session())
        unsaved = nil
        try vault.eraseSession()
        if let record { await revokeTokens(of: record) }
        if callEndSession { try await endSession(idTokenHint: record?.idToken) }
    }

    /// RFC 7009, as far as the provider can be reached: the session is gone here in any case.
    func revokeTokens(of record: SessionRecord) async {
        guard let endpoint = try? await provider.currentMetadata().revocationEndpoint else { return }
        var tokens = [(record.accessToken, "access_token")]
        // First, because with it a provider revokes the others of the grant.
        if let refreshToken = record.refreshToken { tokens.insert((refreshToken, "refresh_token"), at: 0) }
        for (token, hint) in tokens {
            let fields = [("token", token.text), ("token_type_hint", hint), ("client_id", client.clientID)]
            _ = try? await connection.post(fields, to: endpoint, provingBy: nil)
        }
    }

    /// OpenID Connect RP-Initiated Logout §2. The hint comes from the storage and is never another token.
    private func endSession(idTokenHint: SecretText?) async throws {
        guard let endpoint = try await provider.currentMetadata().endSessionEndpoint else {
            throw XidError(.endSessionUnsupported)
        }
        let visit = try await visit(to: client.postLogoutRedirectURI, isEphemeral: nil)
        var fields = [("client_id", client.clientID)]
        if let idTokenHint { fields.insert(("id_token_hint", idTokenHint.text), at: 0) }
        if let callback = visit.callback {
            fields.append(("post_logout_redirect_uri", callback.absoluteString))
            fields.append(("state", try platform.cryptography.randomText().text))
        }
        guard let url = URL(string: endpoint.adding(fields)) else { throw XidError(.metadataInvalid) }
        do {
            // Whatever comes back, the person is signed out: `state` protects nothing here.
            _ = try await withTaskCancellationHandler {
                try await visit.run(url) { _ in true }
            } onCancel: {
                visit.cancel()
            }
        } catch BrowserFailure.closedByUser {
            return
        } catch BrowserFailure.timeout {
            // On loopback nobody says that the window was closed.
            return
        } catch let failure as BrowserFailure {
            throw XidError(browser: failure)
        }
    }
}
