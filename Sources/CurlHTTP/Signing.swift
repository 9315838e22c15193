/// With what a request to AWS is signed (Signature Version 4), so that it is known whose it is and that nobody changed it:
/// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
///
/// libcurl signs. Versions of it differ in how they bring a request into the one form that is signed, where blanks, escapes,
/// repeated or empty headers leave them a choice; so a request that leaves one is refused here (`check`), and what remains
/// is signed alike by all. Printing the value shows no secret.
package struct Signing: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package let accessKeyID: String
    package let secretAccessKey: String
    /// With temporary keys only.
    package let sessionToken: String?
    /// As in `eu-west-1`.
    package let region: String
    /// As in `dynamodb`.
    package let service: String

    package init(
        accessKeyID: String, secretAccessKey: String, sessionToken: String?, region: String, service: String
    ) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.region = region
        self.service = service
    }

    package var description: String { "<signing for \(service) in \(region)>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// What is sent beside the signature, and signed.
    var headers: [HTTPRequest.Header] {
        sessionToken.map { [HTTPRequest.Header("x-amz-security-token", $0)] } ?? []
    }

    /// libcurl asks leave to send a body larger than this (`Expect`), and it must not.
    static let largestBody = 1 << 20

    func check(_ request: HTTPRequest) throws(HTTPError) {
        guard Self.isWord(region), Self.isWord(service) else {
            throw HTTPError(.request, "the region or the service is not named in lower case, digits and hyphens")
        }
        guard [accessKeyID, secretAccessKey].allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isVisible) }) else {
            throw HTTPError(.request, "the keys to sign with are empty, or hold a character that has no place in them")
        }
        guard request.url.isRoot, let body = request.body, body.count <= Self.largestBody else {
            throw HTTPError(.request, "only a request with a body, to the root of a host, can be signed")
        }
        let names = (request.headers + headers).map { $0.name.lowercased() }
        guard Set(names).count == names.count, names.contains("content-type"),
            Set(names).isDisjoint(with: ["host", "authorization", "x-amz-date", "expect"]),
            (request.headers + headers).allSatisfy({ Self.isCanonical($0.value) })
        else { throw HTTPError(.request, "the headers can be read in more than one way, and not be signed") }
    }

    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            }
    }

    private static func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }

    /// Without blanks, of which some would be left out; and not empty.
    private static func isCanonical(_ value: String) -> Bool {
        !value.isEmpty && value.utf8.allSatisfy(isVisible)
    }
}

extension HTTPURL {
    /// Whether it names a host and nothing on it.
    fileprivate var isRoot: Bool {
        let rest = text.drop { $0 != ":" }.dropFirst(3)
        return rest.drop { $0 != "/" && $0 != "?" } == "/"
    }
}
