import Foundation
import JOSE
import OpenSSLCrypto
import Testing

@testable import Xid

/// An app with Xid, a provider, a browser and a storage, all of this process.
struct Trial: Sendable {
    /// Seconds that a test waits for what must come. Tests that block share the pool's few threads with these, so on a small
    /// machine it may take minutes.
    static let patience = 300

    let provider: OpenIDProvider
    let site: LoopbackSite?
    let clock: TestClock
    let storage: MemoryStorage
    let browser: ScriptedBrowser
    let xid: Xid
    let configuration: XidConfiguration

    /// - Parameter isLocal: over a real socket, or by a call, which is quicker.
    init(
        dpop: XidConfiguration.DPoP = .off, isLocal: Bool = false, scopes: [String] = ["openid", "email"],
        mutations: [Mutation] = [], change: (inout XidConfiguration) -> Void = { _ in }
    ) throws {
        let clock = TestClock()
        let provider = OpenIDProvider(now: { clock.now })
        provider.mutations = mutations
        self.clock = clock
        self.provider = provider
        site = isLocal ? nil : try LoopbackSite(provider)
        storage = MemoryStorage()
        browser = ScriptedBrowser(provider)
        var configuration = XidConfiguration(
            issuer: try #require(URL(string: provider.issuer)), clientId: OpenIDProvider.clientID,
            redirectUri: try #require(URL(string: "com.example.app://auth/callback")), scopes: scopes, dpop: dpop)
        change(&configuration)
        self.configuration = configuration
        let storage = storage
        let platform = Platform(
            transport: isLocal ? DirectTransport(provider: provider) : CurlTransport(seconds: Self.patience),
            cryptography: OpenSSLCryptography(), agent: browser, defaultStorage: { storage },
            now: { clock.now })
        xid = Xid(platform: platform)
        xid.configure(options: configuration)
    }

    /// The same app, started anew: what was not stored is gone.
    func restarted() -> Trial {
        Trial(restarting: self)
    }

    private init(restarting former: Trial) {
        provider = former.provider
        site = former.site
        clock = former.clock
        storage = former.storage
        browser = ScriptedBrowser(former.provider)
        configuration = former.configuration
        let (storage, clock) = (storage, clock)
        xid = Xid(
            platform: Platform(
                transport: former.site == nil
                    ? DirectTransport(provider: provider) : CurlTransport(seconds: Self.patience),
                cryptography: OpenSSLCryptography(), agent: browser, defaultStorage: { storage },
                now: { clock.now }))
        xid.configure(options: configuration)
    }

    /// The code of the error that is thrown; nil when none is.
    static func code(_ work: () async throws -> Void) async -> XidError.Code? {
        do {
            try await work()
            return nil
        } catch let error as XidError {
            return error.code
        } catch {
            Issue.record("not an XidError: \(type(of: error))")
            return nil
        }
    }
}

final class TestClock: Sendable {
    private let time = Guarded(UnixTime(seconds: 1_800_000_000))

    var now: UnixTime { time.withLock { $0 } }

    func advance(_ seconds: Int64) {
        time.withLock { $0 = $0.adding(seconds: seconds) }
    }
}

/// A storage that fails when it is told to.
final class MemoryStorage: TokenStorageAdapter {
    enum Operation: Hashable, Sendable {
        case save, load, delete
    }

    struct Broken: Error {}

    private struct State: Sendable {
        var values: [String: String] = [:]
        var count = 0
        var failing: Int?
        var failsAll: Set<Operation> = []
        var isLocked = false
        var operations: [Operation] = []
        var everSaved: [String] = []
    }

    private let state = Guarded(State())

    func save(key: String, value: String) throws {
        try state.withLock { state in
            try Self.count(.save, &state)
            state.values[key] = value
            state.everSaved.append(value)
        }
    }

    func load(key: String) throws -> String? {
        try state.withLock { state in
            try Self.count(.load, &state)
            return state.values[key]
        }
    }

    func delete(key: String) throws {
        try state.withLock { state in
            try Self.count(.delete, &state)
            state.values[key] = nil
        }
    }

    private static func count(_ operation: Operation, _ state: inout State) throws {
        if state.isLocked { throw XidError(.storageUnavailable, systemCode: -25308) }
        state.operations.append(operation)
        state.count += 1
        if state.count == state.failing || state.failsAll.contains(operation) { throw Broken() }
    }

    var values: [String: String] { state.withLock { $0.values } }
    var operations: [Operation] { state.withLock { $0.operations } }
    var everSaved: [String] { state.withLock { $0.everSaved } }
    /// What is kept of open sign-ins, verifiers among it.
    var flows: [String] { values.filter { $0.key.hasPrefix("xid.flow") && $0.value != "" }.map(\.value) }
    var sessions: [String] { values.filter { $0.key.hasPrefix("xid.session") && $0.value != "" }.map(\.value) }

    func lock(_ isLocked: Bool) {
        state.withLock { $0.isLocked = isLocked }
    }

    /// The operation of that number from now fails, and no other.
    func fail(at number: Int?) {
        state.withLock { state in
            state.count = 0
            state.failing = number
            state.operations = []
        }
    }

    func failAll(_ operations: Set<Operation>) {
        state.withLock { $0.failsAll = operations }
    }

    func put(_ values: [String: String]) {
        state.withLock { $0.values = values }
    }
}

/// The provider, without a wire.
struct DirectTransport: HTTPTransport {
    let provider: OpenIDProvider

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        await Task.yield()
        let target = String(request.url.dropFirst(provider.issuer.count))
        let headers = Dictionary(
            request.headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
        let response = provider.answer(
            .init(
                method: request.body == nil ? "GET" : "POST", target: target, headers: headers,
                body: String(decoding: request.body ?? [], as: UTF8.self)))
        await Task.yield()
        return TransportResponse(
            status: response.status, headers: response.headers.map { .init($0.0.lowercased(), $0.1) },
            body: Array(response.body.utf8))
    }
}
