#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why something did not work: a code for programs, and a sentence for people that says what to do.
///
/// No part of a redirect, a token or a request is ever in it. What the provider said in its own words is kept apart, in
/// ``providerDescription``, and shows in no printout of the error.
public struct XidError: Error, Hashable, Sendable {
    /// Stable; new ones may be added.
    public let code: Code

    /// What happened and what to do, in English, for a developer.
    public let message: String

    /// The OAuth error code of the provider's answer, such as `access_denied` (RFC 6749 §4.1.2.1, §5.2).
    public let providerError: String?

    /// The provider's own sentence (`error_description`). It may hold anything: do not log it.
    public let providerDescription: String?

    /// The operating system's number: `errno` on Linux, an `OSStatus` of the Keychain.
    public let systemCode: Int?

    /// The HTTP status of an answer that was of no use.
    public let httpStatus: Int?

    /// For a storage of your own to say what is wrong with it. A message of nil is the code's usual one.
    public init(
        _ code: Code, message: String? = nil, providerError: String? = nil, providerDescription: String? = nil,
        systemCode: Int? = nil, httpStatus: Int? = nil
    ) {
        self.code = code
        self.message = message ?? code.message
        self.providerError = providerError
        self.providerDescription = providerDescription
        self.systemCode = systemCode
        self.httpStatus = httpStatus
    }
}

extension XidError: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The code and the message, with the numbers that came with it.
    public var description: String {
        var text = "\(code.rawValue): \(message)"
        if let providerError { text += " (provider: \(providerError))" }
        if let httpStatus { text += " (HTTP \(httpStatus))" }
        if let systemCode { text += " (system: \(systemCode))" }
        return text
    }

    /// As ``description``.
    public var debugDescription: String { description }

    /// Nothing beyond ``description``.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension XidError: LocalizedError {
    /// As ``message``, so that `localizedDescription` says something.
    public var errorDescription: String? { message }
}
