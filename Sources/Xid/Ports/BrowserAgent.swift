#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Shows the provider's pages in the system's browser, never in a view of the app (RFC 8252 §8.12), and catches the redirect:
/// ASWebAuthenticationSession on Apple's systems, a loopback listener and xdg-open on Linux.
package protocol BrowserAgent: Sendable {
    /// Makes ready to catch a redirect.
    ///
    /// - Parameters:
    ///   - callback: the configured redirect URI. Nil when none is expected: signing out without a `postLogoutRedirectUri`.
    ///   - isEphemeral: whether the browser is to forget cookies afterwards, where it can.
    func prepare(callback: URL?, isEphemeral: Bool) async throws(BrowserFailure) -> any BrowserVisit
}

/// One visit of the browser to the provider.
package protocol BrowserVisit: AnyObject, Sendable {
    /// The redirect URI to send: the configured one, on loopback with the port that was taken. Nil when there is none.
    var callback: URL? { get }

    /// Opens the browser at `url` and waits for the redirect. Called once at most; returns or throws exactly once, whatever the system
    /// calls how often. Nil where no redirect was to be expected and the browser has been opened or closed.
    ///
    /// - Parameter isExpected: whether a redirect answers this visit. An agent that hears from other programs as well, as a
    ///   loopback listener does, goes on waiting when it does not; one that hears from its own browser only gives what it gets.
    func run(_ url: URL, isExpected: @escaping @Sendable (URL) -> Bool) async throws(BrowserFailure) -> URL?

    /// Ends the visit, before or during `run`, which then throws `.cancelled`; after it, nothing. May be called from anywhere, repeatedly.
    func cancel()
}

/// Why a visit ended without redirect.
package enum BrowserFailure: Error, Hashable {
    /// The person closed the window.
    case closedByUser
    /// `cancel` was called.
    case cancelled
    /// The browser cannot be opened, or nothing can listen for the redirect.
    case cannotStart
    /// There is no window to show the browser over.
    case presentationContext
    /// Nothing came within the time of a flow.
    case timeout
}
