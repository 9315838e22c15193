internal import JOSE

/// What is known of the provider: its metadata and its keys, each fetched once at a time however many ask, and remembered.
actor Provider {
    /// Seconds for which the discovery document is believed.
    private static let metadataLifetime: Int64 = 3600
    /// Seconds for which keys are believed, so that one that the provider withdraws does not live here for ever.
    private static let keysLifetime: Int64 = 900
    /// Seconds between fetches that an unknown key causes, so that forged tokens cannot make us hammer the provider.
    private static let cooldown: Int64 = 60

    private let client: Client
    private let connection: ProviderConnection
    private let platform: Platform
    private var metadata = Remembered<Metadata>(lifetime: metadataLifetime)
    private var keys = Remembered<KeySet>(lifetime: keysLifetime)
    private var lastRefetch: UnixTime?

    init(client: Client, connection: ProviderConnection) {
        self.client = client
        self.connection = connection
        platform = connection.platform
    }

    func currentMetadata() async throws -> Metadata {
        if let known = metadata.value(at: platform.now()) { return known }
        if let task = metadata.fetch { return try await task.value }
        let task = Task { try await self.fetchMetadata() }
        metadata.fetch = task
        defer { metadata.fetch = nil }
        let fetched = try await task.value
        metadata.remember(fetched, at: platform.now())
        return fetched
    }

    /// A token that one of the provider's keys has signed.
    func verified(_ token: SecretText) async throws -> SignedIDToken {
        let jws: CompactJWS
        do throws(JOSEError) {
            // Providers name their keys as they like: WSO2 in 92 characters, RFC 9278 in 91.
            jws = try CompactJWS(
                parsing: Array(token.text.utf8)[...], allowing: [.rs256, .es256], keyIDLimit: CompactJWS.maximumSize)
        } catch {
            throw XidError(idToken: error)
        }
        let isKnown = keys.value(at: platform.now()) != nil
        let known = try await currentKeys()
        do throws(JOSEError) {
            return try verified(jws, by: known)
        } catch {
            // The provider may have changed its keys since: then those at hand lack the name, or, where there are no names, do not
            // fit. Keys that were fetched just now are not fetched again.
            let mayBeOld = error == .keyUnknown || (jws.header.keyID == nil && error == .signature)
            guard isKnown, mayBeOld, let fresh = try await refetchedKeys() else { throw XidError(idToken: error) }
            do throws(JOSEError) {
                return try verified(jws, by: fresh)
            } catch {
                throw XidError(idToken: error)
            }
        }
    }

    private func verified(_ jws: CompactJWS, by keys: KeySet) throws(JOSEError) -> SignedIDToken {
        let claims = try jws.verified(by: try keys.candidate(for: jws.header), using: platform.cryptography).claims()
        return SignedIDToken(claims: claims, algorithm: jws.header.algorithm)
    }

    func currentKeys() async throws -> KeySet {
        if let known = keys.value(at: platform.now()) { return known }
        return try await fetchedKeys()
    }

    /// Nil within the cooldown.
    private func refetchedKeys() async throws -> KeySet? {
        if let task = keys.fetch { return try await task.value }
        let now = platform.now()
        if let last = lastRefetch, (last..<last.adding(seconds: Self.cooldown)).contains(now) { return nil }
        lastRefetch = now
        return try await fetchedKeys()
    }

    private func fetchedKeys() async throws -> KeySet {
        if let task = keys.fetch { return try await task.value }
        let task = Task { try await self.fetchKeys() }
        keys.fetch = task
        defer { keys.fetch = nil }
        let fetched = try await task.value
        keys.remember(fetched, at: platform.now())
        return fetched
    }

    private func fetchMetadata() async throws -> Metadata {
        guard let address = Metadata.address(of: client) else { throw XidError(.metadataInvalid) }
        let response = try await connection.get(address, accept: "application/json")
        guard response.status == 200 else { throw XidError(.httpStatus, httpStatus: response.status) }
        return try Metadata(parsing: response.body, for: client)
    }

    private func fetchKeys() async throws -> KeySet {
        let address = try await currentMetadata().keySet
        let response = try await connection.get(address, accept: "application/jwk-set+json, application/json")
        guard response.status == 200 else { throw XidError(.httpStatus, httpStatus: response.status) }
        do throws(JOSEError) {
            return try KeySet(parsing: response.body[...])
        } catch {
            throw XidError(.keysInvalid)
        }
    }
}

/// A value that was fetched, for as long as it is believed, and the fetch that is under way.
private struct Remembered<Value: Sendable> {
    let lifetime: Int64
    var fetch: Task<Value, any Error>?
    private var known: (value: Value, time: UnixTime)?

    init(lifetime: Int64) {
        self.lifetime = lifetime
    }

    func value(at now: UnixTime) -> Value? {
        guard let known, (known.time...known.time.adding(seconds: lifetime)).contains(now) else { return nil }
        return known.value
    }

    mutating func remember(_ value: Value, at now: UnixTime) {
        known = (value, now)
    }
}
