import Foundation
import JOSE
import Testing

@testable import Xid

/// What the tests of every real provider do.
enum RealProvider {
    /// An app on Linux whose browser is a real one, in which a person walks through the provider's pages.
    static func app(
        _ configuration: XidConfiguration, _ chromium: Chromium, _ steps: [Chromium.Step],
        transport: any HTTPTransport = CurlTransport(), storage: any TokenStorageAdapter = MemoryStorage()
    ) -> Xid {
        var platform = Platform.current
        platform.transport = transport
        platform.defaultStorage = { storage }
        platform.agent = LoopbackAgent(
            open: { url in
                do {
                    try chromium.go(to: url)
                    try chromium.walk(to: "http://127.0.0.1:\(url.port ?? 0)/", steps)
                } catch {
                    // Xid will say that there is no browser.
                    FileHandle.standardError.write(Data("\(error)\n".utf8))
                    throw error
                }
            }, seconds: 90)
        let xid = Xid(platform: platform)
        xid.configure(options: configuration)
        return xid
    }

    /// The person does what the command asks for; how it ended.
    static func walk(
        _ running: XidProcess.Running, _ chromium: Chromium, to end: String, _ steps: [Chromium.Step]
    ) throws -> XidProcess.Ended {
        try chromium.go(to: try running.address())
        try chromium.walk(to: end, steps)
        return try running.end()
    }

    /// What is kept of the session.
    static func record(_ xid: XidProcess) throws -> JSON {
        let text = try #require(try xid.kept().first { $0.key.hasPrefix("xid.session") }?.value)
        return try #require(JSON(stored: text))
    }

    /// A part of a token, which the test looks into and does not verify.
    static func part(_ index: Int, of token: String?) throws -> JSON {
        let parts = (token ?? "").split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        return try JSON(parsing: try #require(Base64URL.decode(parts[index])), limits: .init(bytes: 8192))
    }

    /// A thief's two ways; the provider refuses, and Xid says that it was the provider.
    static func refusesThieves(
        _ configuration: XidConfiguration, _ chromium: Chromium, _ steps: [Chromium.Step]
    ) async throws {
        for kind in [MeddlingTransport.Kind.replaysCode, .wrongVerifier] {
            let storage = MemoryStorage()
            let xid = app(configuration, chromium, steps, transport: MeddlingTransport(kind), storage: storage)
            do {
                try await xid.signIn()
                Issue.record("\(kind) was not refused")
            } catch let error as XidError {
                #expect(error.code == .tokenRefused, "\(kind): \(error)")
                #expect(["invalid_grant", "invalid_code"].contains(error.providerError), "\(kind): \(error)")
            }
            #expect(storage.values.isEmpty, "nothing is kept, neither session nor verifier")
        }
        // The same without a thief: what was refused was the thief.
        let storage = MemoryStorage()
        let session = try await app(configuration, chromium, steps, storage: storage).signIn()
        #expect(!session.subject.isEmpty && storage.sessions.count == 1)
    }
}
