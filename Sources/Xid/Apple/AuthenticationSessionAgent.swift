#if canImport(AuthenticationServices)
internal import AuthenticationServices
package import Foundation
#if canImport(UIKit)
internal import UIKit
#else
internal import AppKit
#endif

/// The browser on Apple's systems: ASWebAuthenticationSession.
package struct AuthenticationSessionAgent: BrowserAgent {
    package func prepare(callback: URL?, isEphemeral: Bool) async throws(BrowserFailure) -> any BrowserVisit {
        // The session catches no redirect to this machine.
        guard callback?.scheme?.lowercased() != "http" else { throw .cannotStart }
        guard let window = await Self.window else { throw .presentationContext }
        return AuthenticationVisit(callback: callback, isEphemeral: isEphemeral, window: window)
    }

    @MainActor private static var window: ASPresentationAnchor? {
        #if canImport(UIKit)
        let scenes = UIApplication.shared.connectedScenes.compactMap { $0 as? UIWindowScene }
        let windows = scenes.filter { $0.activationState == .foregroundActive }.flatMap(\.windows)
        return windows.first(where: \.isKeyWindow) ?? windows.first
        #else
        return NSApplication.shared.keyWindow ?? NSApplication.shared.mainWindow
        #endif
    }
}

/// What the system calls is isolated to no actor, whatever the SDK says of the protocol.
private final class AuthenticationVisit: NSObject, BrowserVisit, ASWebAuthenticationPresentationContextProviding {
    nonisolated let callback: URL?
    private nonisolated let isEphemeral: Bool
    private nonisolated let window: ASPresentationAnchor
    /// The system may call back and the app may cancel, in any order and more than once: the first counts.
    private nonisolated let outcome = OneShot<Result<URL?, BrowserFailure>>()

    nonisolated init(callback: URL?, isEphemeral: Bool, window: ASPresentationAnchor) {
        (self.callback, self.isEphemeral, self.window) = (callback, isEphemeral, window)
    }

    nonisolated func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { window }

    nonisolated func cancel() { outcome.settle(.failure(.cancelled)) }

    @MainActor func run(
        _ url: URL, isExpected: @escaping @Sendable (URL) -> Bool
    ) async throws(BrowserFailure) -> URL? {
        let session = session(for: url)
        session.presentationContextProvider = self
        session.prefersEphemeralWebBrowserSession = isEphemeral
        if !outcome.isSettled, !session.start() { outcome.settle(.failure(.cannotStart)) }
        let result = await outcome.value
        if result == .failure(.cancelled) { session.cancel() }
        return try result.get()
    }

    @MainActor private func session(for url: URL) -> ASWebAuthenticationSession {
        // Sendable, as the system may call it on any thread: a closure that took on this function's actor would trap there.
        let completion: @Sendable (URL?, (any Error)?) -> Void = { [outcome] redirect, error in
            outcome.settle(redirect.map { .success($0) } ?? .failure(BrowserFailure(error)))
        }
        guard let callback, callback.scheme?.lowercased() == "https", let host = callback.host() else {
            return ASWebAuthenticationSession(
                url: url, callbackURLScheme: callback?.scheme, completionHandler: completion)
        }
        if #available(iOS 17.4, macOS 14.4, *) {
            return ASWebAuthenticationSession(
                url: url, callback: .https(host: host, path: callback.path()), completionHandler: completion)
        }
        // Before, an https redirect reaches the app as a universal link, and `handleRedirect` closes the window.
        return ASWebAuthenticationSession(url: url, callbackURLScheme: nil, completionHandler: completion)
    }
}

extension BrowserFailure {
    fileprivate init(_ error: (any Error)?) {
        self =
            switch (error as? ASWebAuthenticationSessionError)?.code {
            case .canceledLogin?: .closedByUser
            case .presentationContextNotProvided?, .presentationContextInvalid?: .presentationContext
            default: .cannotStart
            }
    }
}
#endif
