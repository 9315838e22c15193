// Of AuthenticationServices only what the sources name. Nothing here works.
public import Foundation
#if canImport(UIKit)
public import UIKit
/// https://developer.apple.com/documentation/authenticationservices/aspresentationanchor
public typealias ASPresentationAnchor = UIWindow
#else
public import AppKit
/// https://developer.apple.com/documentation/authenticationservices/aspresentationanchor
public typealias ASPresentationAnchor = NSWindow
#endif

// Whether the SDK ties the protocol and the session to the main actor is not known here, so both are tried.
#if MAIN_ACTOR
/// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationpresentationcontextproviding
@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}
/// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession
@MainActor open class ASWebAuthenticationSession: NSObject {
    nonisolated override init() {}
}
#else
/// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationpresentationcontextproviding
public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}
/// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession
open class ASWebAuthenticationSession: NSObject {}
#endif

extension ASWebAuthenticationSession {
    /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/completionhandler
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/init(url:callbackurlscheme:completionhandler:)
    public convenience init(
        url URL: URL, callbackURLScheme: String?, completionHandler: @escaping CompletionHandler
    ) {
        fatalError()
    }
    /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/init(url:callback:completionhandler:)
    @available(macOS 14.4, iOS 17.4, *)
    public convenience init(url URL: URL, callback: Callback, completionHandler: @escaping CompletionHandler) {
        fatalError()
    }
    /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/presentationcontextprovider
    public weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)? {
        get { fatalError() }
        set {}
    }
    /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/prefersephemeralwebbrowsersession
    public var prefersEphemeralWebBrowserSession: Bool {
        get { fatalError() }
        set {}
    }
    /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/start()
    @discardableResult public func start() -> Bool { fatalError() }
    /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/cancel()
    public func cancel() {}

    /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/callback
    @available(macOS 14.4, iOS 17.4, *)
    public final class Callback: NSObject {
        /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsession/callback/https(host:path:)
        public class func https(host: String, path: String) -> Callback { fatalError() }
    }
}

/// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsessionerror
public struct ASWebAuthenticationSessionError: Error {
    /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsessionerror/code
    public enum Code: Int, Sendable {
        case canceledLogin = 1
        case presentationContextNotProvided = 2
        case presentationContextInvalid = 3
    }
    /// https://developer.apple.com/documentation/authenticationservices/aswebauthenticationsessionerror/code
    public var code: Code { fatalError() }
}
