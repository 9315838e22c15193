#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension RelyingParty {
    /// Opens the browser, waits for the redirect, and feeds it to the same one-shot function as `handleRedirect`.
    func signIn(_ options: XidSignInOptions) async throws -> XidSession {
        // One that was cancelled takes its time to end, and is in nobody's way.
        guard attempt?.isCancelled ?? true else { throw XidError(.flowInProgress) }
        try AuthorizationRequest.check(options)
        attempts += 1
        let attempt = Attempt(number: attempts)
        self.attempt = attempt
        defer { close(attempt) }
        let number = attempt.number
        return try await withTaskCancellationHandler {
            try await run(attempt, options)
        } onCancel: {
            Task { await self.cancelAttempt(number) }
        }
    }

    /// Another may have begun since.
    func close(_ attempt: Attempt) {
        if self.attempt === attempt { self.attempt = nil }
    }

    private func run(_ attempt: Attempt, _ options: XidSignInOptions) async throws -> XidSession {
        let metadata = try await provider.currentMetadata()
        try attempt.check()
        let visit = try await visit(to: client.redirectURI, isEphemeral: options.prefersEphemeralWebBrowserSession)
        attempt.visit = visit
        try attempt.check()
        let (flow, url) = try begin(visit, metadata, options)
        attempt.state = flow.state
        // Whatever happens, no verifier stays behind.
        defer { abandon(flow) }
        let cryptography = platform.cryptography
        let redirect: URL?
        do throws(BrowserFailure) {
            redirect = try await visit.run(url) { url in
                guard let redirect = try? Redirect(url, callback: flow.redirectURI) else { return false }
                return redirect.answers(flow, using: cryptography)
            }
        } catch {
            // The redirect may have come by way of `handleRedirect`, which closes the browser.
            if let redemption = attempt.redemption { return try await redemption.value }
            try attempt.check()
            throw XidError(browser: error)
        }
        if let redemption = attempt.redemption { return try await redemption.value }
        try attempt.check()
        guard let redirect else { throw XidError(.userCancelled) }
        return try await handleRedirect(redirect)
    }

    func visit(to callback: URL?, isEphemeral: Bool?) async throws -> any BrowserVisit {
        do throws(BrowserFailure) {
            return try await platform.agent.prepare(callback: callback, isEphemeral: isEphemeral ?? client.isEphemeral)
        } catch {
            throw XidError(browser: error)
        }
    }

    /// Makes the flow and keeps it. That the storage takes it is known before there is a code to spend.
    private func begin(
        _ visit: any BrowserVisit, _ metadata: Metadata, _ options: XidSignInOptions
    ) throws -> (PendingFlow, URL) {
        do {
            let flow = try PendingFlow(
                redirectURI: (visit.callback ?? client.redirectURI).absoluteString,
                mustNameIssuer: metadata.namesIssuer, maxAge: options.maxAge.map(Int64.init), isBound: client.isBound,
                at: platform.now(), using: platform.cryptography)
            let request = try AuthorizationRequest(flow, client: client, options: options, using: platform.cryptography)
            guard let url = URL(string: metadata.authorizationEndpoint.adding(request.fields)) else {
                throw XidError(.metadataInvalid)
            }
            self.flow = flow
            do {
                try vault.save(flow)
            } catch {
                abandon(flow)
                throw error
            }
            return (flow, url)
        } catch {
            visit.cancel()
            throw error
        }
    }

    /// Forgets the flow if it is still open.
    func abandon(_ flow: PendingFlow) {
        guard self.flow?.state == flow.state else { return }
        self.flow = nil
        // Should the storage refuse even this, the record is void in ten minutes.
        try? vault.eraseFlow()
    }

    /// Ends the sign-in that is open, and voids a redirect that is being exchanged.
    func cancelSignIn() {
        if let attempt { return cancelAttempt(attempt.number) }
        // One of a former run of the app.
        flow = nil
        try? vault.eraseFlow()
    }

    /// By number, as a later one may have begun since.
    private func cancelAttempt(_ number: Int) {
        guard let attempt, attempt.number == number else { return }
        attempt.isCancelled = true
        if let flow, flow.state == attempt.state { abandon(flow) }
        attempt.visit?.cancel()
    }
}

extension XidError {
    init(browser failure: BrowserFailure) {
        let code: Code =
            switch failure {
            case .closedByUser: .userCancelled
            case .cancelled: .cancelled
            case .cannotStart: .cannotStartBrowser
            case .presentationContext: .presentationContext
            case .timeout: .flowExpired
            }
        self.init(code)
    }
}
