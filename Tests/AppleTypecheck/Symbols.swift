// Every symbol of Apple's that Sources/Xid names, with the type that is relied on. On a Mac, against the real SDK:
//
//   swiftc -typecheck -swift-version 6 -strict-concurrency=complete -warnings-as-errors -target arm64-apple-macos13.0 \
//       -sdk "$(xcrun --show-sdk-path)" Tests/AppleTypecheck/Symbols.swift
//
// and for iOS with `-target arm64-apple-ios16.0 -sdk "$(xcrun --sdk iphoneos --show-sdk-path)"`. check.sh does the same against the
// stubs, and refuses a stub that is not named here.

import AuthenticationServices
import CryptoKit
import Foundation
import Security
import os

#if canImport(UIKit)
import UIKit
#else
import AppKit
#endif

// MARK: AuthenticationServices

final class PresentationContext: NSObject, ASWebAuthenticationPresentationContextProviding {
    nonisolated let window: ASPresentationAnchor

    nonisolated init(window: ASPresentationAnchor) { self.window = window }

    nonisolated func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { window }
}

@MainActor func authenticationServices(_ url: URL, _ context: PresentationContext) {
    let completion: @Sendable (URL?, (any Error)?) -> Void = { _, error in
        switch (error as? ASWebAuthenticationSessionError)?.code {
        case .canceledLogin?, .presentationContextNotProvided?, .presentationContextInvalid?: break
        default: break
        }
    }
    let handler: ASWebAuthenticationSession.CompletionHandler = completion
    let session = ASWebAuthenticationSession(url: url, callbackURLScheme: "scheme", completionHandler: handler)
    _ = ASWebAuthenticationSession(url: url, callbackURLScheme: nil, completionHandler: completion)
    if #available(iOS 17.4, macOS 14.4, *) {
        let callback: ASWebAuthenticationSession.Callback = .https(host: "host", path: "/path")
        _ = ASWebAuthenticationSession(url: url, callback: callback, completionHandler: completion)
    }
    session.presentationContextProvider = context
    session.prefersEphemeralWebBrowserSession = true
    let isStarted: Bool = session.start()
    if !isStarted { session.cancel() }
    let code: ASWebAuthenticationSessionError.Code = .canceledLogin
    _ = code
}

// MARK: UIKit, AppKit

#if canImport(UIKit)
@MainActor func window() -> UIWindow? {
    let scenes: Set<UIScene> = UIApplication.shared.connectedScenes
    let windows = scenes.compactMap { $0 as? UIWindowScene }.filter { scene in
        let state: UIScene.ActivationState = scene.activationState
        return state == .foregroundActive
    }.flatMap(\.windows)
    return windows.first(where: \.isKeyWindow)
}
#else
@MainActor func window() -> NSWindow? { NSApplication.shared.keyWindow ?? NSApplication.shared.mainWindow }
#endif

// MARK: Security

func keychain() -> [OSStatus] {
    let item: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "", kSecAttrAccount as String: "",
        kSecAttrSynchronizable as String: false, kSecUseDataProtectionKeychain as String: true,
        kSecReturnData as String: true, kSecValueData as String: Data([]),
        kSecAttrAccessible as String: true
            ? kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly : kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
    ]
    var found: CFTypeRef?
    let statuses: [OSStatus] = [
        SecItemAdd(item as CFDictionary, nil), SecItemCopyMatching(item as CFDictionary, &found),
        SecItemUpdate(item as CFDictionary, item as CFDictionary), SecItemDelete(item as CFDictionary),
    ]
    _ = found as? Data
    return statuses + [
        errSecSuccess, errSecItemNotFound, errSecDuplicateItem, errSecInteractionNotAllowed, errSecNotAvailable,
        errSecUserCanceled,
    ]
}

func rsa(_ bytes: [UInt8], _ attribute: CFString) -> Bool {
    let attributes: [String: Any] = [
        kSecAttrKeyType as String: kSecAttrKeyTypeRSA, kSecAttrKeyClass as String: kSecAttrKeyClassPublic,
        attribute as String: true,
    ]
    let algorithm: SecKeyAlgorithm = .rsaSignatureMessagePKCS1v15SHA256
    let error: UnsafeMutablePointer<Unmanaged<CFError>?>? = nil
    guard let key: SecKey = SecKeyCreateWithData(Data(bytes) as CFData, attributes as CFDictionary, error) else {
        return false
    }
    return SecKeyVerifySignature(key, algorithm, Data(bytes) as CFData, Data(bytes) as CFData, error)
}

func random() -> OSStatus {
    var bytes: [UInt8] = [0]
    let generator: SecRandomRef? = kSecRandomDefault
    return SecRandomCopyBytes(generator, bytes.count, &bytes)
}

// MARK: CryptoKit

func cryptoKit(_ bytes: [UInt8], _ slice: ArraySlice<UInt8>) throws -> Bool {
    let digest: SHA256Digest = SHA256.hash(data: slice)
    let pair = P256.Signing.PrivateKey()
    let same: P256.Signing.PrivateKey = try P256.Signing.PrivateKey(rawRepresentation: Array(pair.rawRepresentation))
    let point: Data = same.publicKey.x963Representation
    let key: P256.Signing.PublicKey = try P256.Signing.PublicKey(x963Representation: Array(point))
    let signature: P256.Signing.ECDSASignature = try pair.signature(for: slice)
    let read = try P256.Signing.ECDSASignature(rawRepresentation: Array(signature.rawRepresentation)[...])
    let (contiguous, data): (any ContiguousBytes, any DataProtocol) = (bytes, slice)
    _ = (contiguous, data)
    return key.isValidSignature(read, for: slice) && Array(digest) == bytes && digest == SHA256.hash(data: slice)
}

// MARK: Foundation

final class Refusals: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _: URLSession, task: URLSessionTask, willPerformHTTPRedirection: HTTPURLResponse, newRequest: URLRequest
    ) async -> URLRequest? { nil }

    func urlSession(
        _: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let space: URLProtectionSpace = challenge.protectionSpace
        let isAboutServer = space.authenticationMethod == NSURLAuthenticationMethodServerTrust
        return (isAboutServer ? .performDefaultHandling : .rejectProtectionSpace, nil)
    }
}

func foundation() async throws {
    guard let url = URL(string: "https://xid.dev"), url.host() != nil, url.scheme != nil else { return }
    let configuration: URLSessionConfiguration = .ephemeral
    let version: tls_protocol_version_t = .TLSv12
    configuration.tlsMinimumSupportedProtocolVersion = version
    configuration.timeoutIntervalForResource = 15
    let (cookies, credentials, cache): (HTTPCookieStorage?, URLCredentialStorage?, URLCache?) = (nil, nil, nil)
    configuration.httpCookieStorage = cookies
    configuration.urlCredentialStorage = credentials
    configuration.urlCache = cache
    configuration.httpAdditionalHeaders = ["User-Agent": url.absoluteString + url.path()]
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data([1, 2])
    request.setValue("value", forHTTPHeaderField: "name")
    do {
        let session = URLSession(configuration: configuration)
        let (bytes, response): (URLSession.AsyncBytes, URLResponse) = try await session.bytes(
            for: request, delegate: Refusals())
        for try await byte: UInt8 in bytes { _ = byte }
        let task: URLSessionDataTask = bytes.task
        task.cancel()
        if let response = response as? HTTPURLResponse {
            _ = response.allHeaderFields.map { "\($0) \($1)" } + ["\(response.statusCode)"]
        }
    } catch let error as URLError {
        let code: URLError.Code = error.code
        switch code {
        case .timedOut, .cancelled, .secureConnectionFailed, .serverCertificateHasBadDate,
            .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            break
        default: break
        }
    }
    let seconds: TimeInterval = Date().timeIntervalSince1970
    _ = Date(timeIntervalSince1970: seconds)
    let encoding: String.Encoding = .utf8
    _ = String(data: Data([1]), encoding: encoding)
    let delegate: any URLSessionDelegate & NSObjectProtocol = Refusals()
    _ = delegate
}

struct Failure: LocalizedError {
    var errorDescription: String? { nil }
}

// MARK: os

func lock() -> Int {
    OSAllocatedUnfairLock(initialState: 0).withLock { state in
        state += 1
        return state
    }
}
