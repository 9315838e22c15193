import Foundation
import Testing

@testable import Xid

/// A browser, and a person who does as told.
final class ScriptedBrowser: BrowserAgent {
    enum Script: Hashable, Sendable {
        /// Signs in and comes back.
        case follow
        case close
        case cannotStart
        case noWindow
        /// Waits, until the visit is cancelled or `deliver` is called.
        case wait
    }

    private struct State: Sendable {
        var script = Script.follow
        var urls: [URL] = []
        var ephemeral: [Bool] = []
        var visits: [Visit] = []
    }

    fileprivate let provider: OpenIDProvider
    private let state = Guarded(State())

    init(_ provider: OpenIDProvider) {
        self.provider = provider
    }

    func play(_ script: Script) {
        state.withLock { $0.script = script }
    }

    /// What was opened.
    var urls: [URL] { state.withLock { $0.urls } }
    var ephemeral: [Bool] { state.withLock { $0.ephemeral } }
    var visits: [Visit] { state.withLock { $0.visits } }

    func prepare(callback: URL?, isEphemeral: Bool) async throws(BrowserFailure) -> any BrowserVisit {
        let script = state.withLock { state in
            state.ephemeral.append(isEphemeral)
            return state.script
        }
        if script == .noWindow { throw .presentationContext }
        let visit = Visit(self, callback: callback)
        state.withLock { $0.visits.append(visit) }
        return visit
    }

    /// Waits until so many pages have been opened.
    func opened(_ count: Int) async throws -> URL {
        for _ in 0..<2000 {
            if let url = state.withLock({ $0.urls.count >= count ? $0.urls[count - 1] : nil }) { return url }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw XidError(.timeout)
    }

    /// Where the provider sends the browser, after the person has signed in there.
    func redirect(from url: URL) throws -> URL {
        let text = url.absoluteString
        let start = try #require(text.range(of: "/", range: text.index(text.startIndex, offsetBy: 8)..<text.endIndex))
        let response = provider.answer(.init(method: "GET", target: String(text[start.lowerBound...])))
        let location = try #require(response.headers.first { $0.0 == "Location" }?.1, "HTTP \(response.status)")
        return try #require(URL(string: location))
    }

    final class Visit: BrowserVisit {
        let callback: URL?
        private let browser: ScriptedBrowser
        private let outcome = OneShot<Result<URL?, BrowserFailure>>()

        fileprivate init(_ browser: ScriptedBrowser, callback: URL?) {
            self.browser = browser
            self.callback = callback
        }

        func run(_ url: URL, isExpected: @escaping @Sendable (URL) -> Bool) async throws(BrowserFailure) -> URL? {
            let script = browser.state.withLock { state in
                state.urls.append(url)
                return state.script
            }
            switch script {
            case .follow:
                if callback == nil { return nil }
                do {
                    return try browser.redirect(from: url)
                } catch {
                    throw .closedByUser
                }
            case .close: throw .closedByUser
            case .cannotStart: throw .cannotStart
            case .noWindow: throw .presentationContext
            case .wait: return try await outcome.value.get()
            }
        }

        func cancel() {
            outcome.settle(.failure(.cancelled))
        }

        func deliver(_ url: URL) {
            outcome.settle(.success(url))
        }

        func close() {
            outcome.settle(.failure(.closedByUser))
        }
    }
}
