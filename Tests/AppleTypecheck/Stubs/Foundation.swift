// Of Foundation, and of what it exports, only what the sources name. Nothing here works.
@_exported import _Concurrency

// MARK: Core Foundation. Without Objective-C there is no bridging, so each type is the Swift type that it would be bridged to.

/// https://developer.apple.com/documentation/corefoundation/cfstring
public typealias CFString = String
/// https://developer.apple.com/documentation/corefoundation/cfdata
public typealias CFData = Data
/// https://developer.apple.com/documentation/corefoundation/cfdictionary
public typealias CFDictionary = [String: Any]
/// https://developer.apple.com/documentation/corefoundation/cftyperef
public typealias CFTypeRef = Any
/// https://developer.apple.com/documentation/corefoundation/cferror
public final class CFError {}

// MARK: Objects

/// https://developer.apple.com/documentation/objectivec/nsobjectprotocol
public protocol NSObjectProtocol: AnyObject {}
/// https://developer.apple.com/documentation/objectivec/nsobject-swift.class
open class NSObject: NSObjectProtocol {
    /// https://developer.apple.com/documentation/objectivec/nsobject-swift.class/init()
    public init() {}
}
/// https://developer.apple.com/documentation/foundation/localizederror
public protocol LocalizedError: Error {
    var errorDescription: String? { get }
}

// MARK: Values

/// https://developer.apple.com/documentation/foundation/timeinterval
public typealias TimeInterval = Double
/// https://developer.apple.com/documentation/foundation/date
public struct Date: Hashable, Sendable {
    /// https://developer.apple.com/documentation/foundation/date/init()
    public init() {}
    /// https://developer.apple.com/documentation/foundation/date/init(timeintervalsince1970:)
    public init(timeIntervalSince1970: TimeInterval) {}
    /// https://developer.apple.com/documentation/foundation/date/timeintervalsince1970
    public var timeIntervalSince1970: TimeInterval { fatalError() }
}
/// https://developer.apple.com/documentation/foundation/url
public struct URL: Hashable, Sendable {
    /// https://developer.apple.com/documentation/foundation/url/init(string:)
    public init?(string: String) {}
    /// https://developer.apple.com/documentation/foundation/url/absolutestring
    public var absoluteString: String { fatalError() }
    /// https://developer.apple.com/documentation/foundation/url/scheme
    public var scheme: String? { fatalError() }
    /// https://developer.apple.com/documentation/foundation/url/host(percentencoded:)
    @available(macOS 13.0, iOS 16.0, *)
    public func host(percentEncoded: Bool = true) -> String? { fatalError() }
    /// https://developer.apple.com/documentation/foundation/url/path(percentencoded:)
    @available(macOS 13.0, iOS 16.0, *)
    public func path(percentEncoded: Bool = true) -> String { fatalError() }
}
/// https://developer.apple.com/documentation/foundation/contiguousbytes
public protocol ContiguousBytes {}
/// https://developer.apple.com/documentation/foundation/dataprotocol
public protocol DataProtocol: RandomAccessCollection, ContiguousBytes where Element == UInt8 {}
extension Array: ContiguousBytes where Element == UInt8 {}
extension Array: DataProtocol where Element == UInt8 {}
extension ArraySlice: ContiguousBytes where Element == UInt8 {}
extension ArraySlice: DataProtocol where Element == UInt8 {}
/// https://developer.apple.com/documentation/foundation/data
public struct Data: Hashable, Sendable, DataProtocol {
    /// https://developer.apple.com/documentation/foundation/data/init(_:)
    public init(_ elements: some Sequence<UInt8>) {}
    /// https://developer.apple.com/documentation/foundation/data/startindex
    public var startIndex: Int { fatalError() }
    /// https://developer.apple.com/documentation/foundation/data/endindex
    public var endIndex: Int { fatalError() }
    /// https://developer.apple.com/documentation/foundation/data/subscript(index:)
    public subscript(index: Int) -> UInt8 { fatalError() }
}
extension String {
    /// https://developer.apple.com/documentation/swift/string/encoding
    public struct Encoding: Sendable {
        /// https://developer.apple.com/documentation/swift/string/encoding/utf8
        public static let utf8 = Encoding()
    }
    /// https://developer.apple.com/documentation/swift/string/init(data:encoding:)
    public init?(data: Data, encoding: Encoding) { fatalError() }
}

// MARK: URL loading

/// https://developer.apple.com/documentation/foundation/urlrequest
public struct URLRequest: Sendable {
    /// https://developer.apple.com/documentation/foundation/urlrequest/init(url:)
    public init(url: URL) {}
    /// https://developer.apple.com/documentation/foundation/urlrequest/httpmethod
    public var httpMethod: String?
    /// https://developer.apple.com/documentation/foundation/urlrequest/httpbody
    public var httpBody: Data?
    /// https://developer.apple.com/documentation/foundation/urlrequest/setvalue(_:forhttpheaderfield:)
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
}
/// https://developer.apple.com/documentation/foundation/urlresponse
open class URLResponse: NSObject, @unchecked Sendable {}
/// https://developer.apple.com/documentation/foundation/httpurlresponse
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    /// https://developer.apple.com/documentation/foundation/httpurlresponse/statuscode
    public var statusCode: Int { fatalError() }
    /// https://developer.apple.com/documentation/foundation/httpurlresponse/allheaderfields
    public var allHeaderFields: [AnyHashable: Any] { fatalError() }
}
/// https://developer.apple.com/documentation/foundation/urlerror
public struct URLError: Error {
    /// https://developer.apple.com/documentation/foundation/urlerror/code
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// https://developer.apple.com/documentation/foundation/urlerror/code/rawvalue
        public let rawValue: Int
        /// https://developer.apple.com/documentation/foundation/urlerror/code/init(rawvalue:)
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// https://developer.apple.com/documentation/foundation/urlerror/code/timedout
        public static var timedOut: Code { fatalError() }
        /// https://developer.apple.com/documentation/foundation/urlerror/code/cancelled
        public static var cancelled: Code { fatalError() }
        /// https://developer.apple.com/documentation/foundation/urlerror/code/secureconnectionfailed
        public static var secureConnectionFailed: Code { fatalError() }
        /// https://developer.apple.com/documentation/foundation/urlerror/code/servercertificatehasbaddate
        public static var serverCertificateHasBadDate: Code { fatalError() }
        /// https://developer.apple.com/documentation/foundation/urlerror/code/servercertificateuntrusted
        public static var serverCertificateUntrusted: Code { fatalError() }
        /// https://developer.apple.com/documentation/foundation/urlerror/code/servercertificatehasunknownroot
        public static var serverCertificateHasUnknownRoot: Code { fatalError() }
        /// https://developer.apple.com/documentation/foundation/urlerror/code/servercertificatenotyetvalid
        public static var serverCertificateNotYetValid: Code { fatalError() }
    }
    /// https://developer.apple.com/documentation/foundation/urlerror/code
    public var code: Code { fatalError() }
}
/// https://developer.apple.com/documentation/foundation/httpcookiestorage
open class HTTPCookieStorage: NSObject {}
/// https://developer.apple.com/documentation/foundation/urlcredentialstorage
open class URLCredentialStorage: NSObject {}
/// https://developer.apple.com/documentation/foundation/urlcache
open class URLCache: NSObject {}
/// https://developer.apple.com/documentation/foundation/urlcredential
open class URLCredential: NSObject, @unchecked Sendable {}
/// https://developer.apple.com/documentation/foundation/nsurlauthenticationmethodservertrust
public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"
/// https://developer.apple.com/documentation/foundation/urlprotectionspace
open class URLProtectionSpace: NSObject, @unchecked Sendable {
    /// https://developer.apple.com/documentation/foundation/urlprotectionspace/authenticationmethod
    public var authenticationMethod: String { fatalError() }
}
/// https://developer.apple.com/documentation/foundation/urlauthenticationchallenge
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    /// https://developer.apple.com/documentation/foundation/urlauthenticationchallenge/protectionspace
    public var protectionSpace: URLProtectionSpace { fatalError() }
}
/// https://developer.apple.com/documentation/security/tls_protocol_version_t
public enum tls_protocol_version_t: UInt16, Sendable {
    case TLSv12 = 0x0303
}
/// https://developer.apple.com/documentation/foundation/urlsessionconfiguration
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/ephemeral
    public class var ephemeral: URLSessionConfiguration { fatalError() }
    /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/tlsminimumsupportedprotocolversion
    public var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t = .TLSv12
    /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/timeoutintervalforresource
    public var timeoutIntervalForResource: TimeInterval = 0
    /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/httpcookiestorage
    public var httpCookieStorage: HTTPCookieStorage?
    /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/urlcredentialstorage
    public var urlCredentialStorage: URLCredentialStorage?
    /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/urlcache
    public var urlCache: URLCache?
    /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/httpadditionalheaders
    public var httpAdditionalHeaders: [AnyHashable: Any]?
}
/// https://developer.apple.com/documentation/foundation/urlsessiontask
open class URLSessionTask: NSObject, @unchecked Sendable {
    /// https://developer.apple.com/documentation/foundation/urlsessiontask/cancel()
    public func cancel() {}
}
/// https://developer.apple.com/documentation/foundation/urlsessiondatatask
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
/// https://developer.apple.com/documentation/foundation/urlsessiondelegate
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}
/// Optional requirements there, called by nobody when they are misspelt; here they are demanded.
///
/// https://developer.apple.com/documentation/foundation/urlsessiontaskdelegate
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// https://developer.apple.com/documentation/foundation/urlsessiontaskdelegate/urlsession(_:task:willperformhttpredirection:newrequest:completionhandler:)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?
    /// https://developer.apple.com/documentation/foundation/urlsessiontaskdelegate/urlsession(_:task:didreceive:completionhandler:)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)
}
/// https://developer.apple.com/documentation/foundation/urlsession
open class URLSession: NSObject, @unchecked Sendable {
    /// https://developer.apple.com/documentation/foundation/urlsession/authchallengedisposition
    public enum AuthChallengeDisposition: Int, Sendable {
        case performDefaultHandling
        case rejectProtectionSpace
    }
    /// https://developer.apple.com/documentation/foundation/urlsession/asyncbytes
    @available(macOS 12.0, iOS 15.0, *)
    public struct AsyncBytes: AsyncSequence, Sendable {
        /// https://developer.apple.com/documentation/foundation/urlsession/asyncbytes/element
        public typealias Element = UInt8
        /// https://developer.apple.com/documentation/foundation/urlsession/asyncbytes/iterator
        public struct Iterator: AsyncIteratorProtocol {
            /// https://developer.apple.com/documentation/foundation/urlsession/asyncbytes/iterator/next()
            public mutating func next() async throws -> UInt8? { fatalError() }
        }
        /// https://developer.apple.com/documentation/foundation/urlsession/asyncbytes/task
        public var task: URLSessionDataTask { fatalError() }
        /// https://developer.apple.com/documentation/foundation/urlsession/asyncbytes/makeasynciterator()
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }
    /// https://developer.apple.com/documentation/foundation/urlsession/init(configuration:)
    public init(configuration: URLSessionConfiguration) {}
    /// https://developer.apple.com/documentation/foundation/urlsession/bytes(for:delegate:)
    @available(macOS 12.0, iOS 15.0, *)
    public func bytes(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (AsyncBytes, URLResponse) {
        fatalError()
    }
}
