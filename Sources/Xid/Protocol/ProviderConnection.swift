internal import JOSE

/// Talks to the provider's endpoints: plainly, or with a DPoP proof for each request (RFC 9449).
struct ProviderConnection: Sendable {
    let platform: Platform
    /// The last `DPoP-Nonce` of each origin (RFC 9449 §8.2).
    private let nonces = Guarded<[String: String]>([:])

    init(platform: Platform) {
        self.platform = platform
    }

    func get(_ endpoint: Endpoint, accept: String) async throws -> TransportResponse {
        try await send(TransportRequest(url: endpoint.text, headers: [.init("Accept", accept)]))
    }

    /// - Parameter key: what to prove the possession of; nil for none.
    func post(
        _ fields: [(String, String)], to endpoint: Endpoint, provingBy key: SigningKey?
    ) async throws -> TransportResponse {
        let request = TransportRequest(
            url: endpoint.text,
            headers: [
                .init("Content-Type", "application/x-www-form-urlencoded"), .init("Accept", "application/json"),
            ], body: FormURLEncoded.encode(fields))
        guard let key else { return try await send(request) }
        return try await send(request, to: endpoint, provingBy: key, accessToken: nil)
    }

    /// A request for something that the access token opens. The token goes into the header and nowhere else (RFC 6750 §2.1).
    func get(_ endpoint: Endpoint, authorizedBy record: SessionRecord) async throws -> TransportResponse {
        let request = TransportRequest(
            url: endpoint.text,
            headers: [
                .init("Accept", "application/json"),
                .init("Authorization", "\(record.tokenType.rawValue) \(record.accessToken.text)"),
            ])
        guard let key = record.key, record.tokenType == .dpop else { return try await send(request) }
        return try await send(request, to: endpoint, provingBy: key, accessToken: record.accessToken)
    }

    /// Sends with a proof. Asked for another nonce, it sends once more, and only if the nonce is indeed another.
    private func send(
        _ request: TransportRequest, to endpoint: Endpoint, provingBy key: SigningKey, accessToken: SecretText?
    ) async throws -> TransportResponse {
        let proof = { (nonce: String?) throws(XidError) -> TransportRequest in
            var proven = request
            let proof = DPoPProof(
                method: request.body == nil ? "GET" : "POST", address: endpoint.withoutQuery, nonce: nonce,
                accessToken: accessToken, time: platform.now())
            proven.headers.append(.init("DPoP", try proof.signed(by: key, using: platform.cryptography)))
            return proven
        }
        let used = nonces.withLock { $0[endpoint.origin] }
        let response = try await send(proof(used))
        let offered = note(response, from: endpoint.origin)
        guard Self.wantsNonce(response), let offered, offered != used else { return response }
        let second = try await send(proof(offered))
        _ = note(second, from: endpoint.origin)
        return second
    }

    private func send(_ request: TransportRequest) async throws -> TransportResponse {
        do throws(TransportError) {
            return try await platform.transport.send(request)
        } catch {
            throw XidError(transport: error)
        }
    }

    /// Remembers what the server wants to see next, if it is a nonce at all (RFC 9449 §8.1).
    private func note(_ response: TransportResponse, from origin: String) -> String? {
        guard let nonce = response[field: "dpop-nonce"], (1...512).contains(nonce.utf8.count),
            nonce.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else { return nil }
        nonces.withLock { nonces in
            if nonces[origin] == nil, nonces.count >= 16 { nonces.removeAll() }
            nonces[origin] = nonce
        }
        return nonce
    }

    /// `use_dpop_nonce`, as a token endpoint (RFC 9449 §8) and a resource (§9) say it.
    private static func wantsNonce(_ response: TransportResponse) -> Bool {
        guard response.status == 400 || response.status == 401 else { return false }
        if JSON(object: response.body)?["error"]?.string == "use_dpop_nonce" { return true }
        return response[field: "www-authenticate"].map { field in
            field.lowercased().contains("dpop") && field.contains("use_dpop_nonce")
        } ?? false
    }
}

extension XidError {
    init(transport error: TransportError) {
        let code: Code =
            switch error {
            case .network: .network
            case .timeout: .timeout
            case .tls: .tls
            case .tooLarge: .responseTooLarge
            case .cancelled: .cancelled
            }
        self.init(code)
    }

    /// A refusal by the provider (RFC 6749 §5.2), or, where there is no such answer, its status.
    init(_ code: Code, refusal response: TransportResponse) {
        let json = JSON(object: response.body)
        guard let error = json?["error"]?.string.flatMap(Self.errorCode) else {
            self.init(.httpStatus, httpStatus: response.status)
            return
        }
        self.init(
            code, providerError: error, providerDescription: json?["error_description"]?.string,
            httpStatus: response.status)
    }

    /// An error code as registered ones are spelt; anything else might be somebody's secret, echoed.
    static func errorCode(_ text: String) -> String? {
        let isCode =
            (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }
        return isCode ? text : nil
    }
}
