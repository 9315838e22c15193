import JOSE
import Testing

@testable import AuthFunction

/// RFC 3875 over tables: what comes in by variables, and the bytes that go out.
@Suite struct CGITests {
    static let sound = [
        "GATEWAY_INTERFACE=CGI/1.1", "REQUEST_METHOD=POST", "SCRIPT_NAME=", "PATH_INFO=/auth/apple",
        "REQUEST_URI=/auth/apple?a=%20b", "QUERY_STRING=a=%20b", "CONTENT_TYPE=application/json",
        "REMOTE_ADDR=192.0.2.7",
        "HTTP_USER_AGENT=Finnova/1.4", "HTTP_ACCEPT_LANGUAGE=en",
    ]

    static func cgi(_ entries: [String], without names: [String] = []) -> CGI {
        let kept = sound.filter { entry in !names.contains { entry.hasPrefix("\($0)=") } }
        return CGI(CGI.MetaVariables(entries: (kept + entries).map { Array($0.utf8) }))
    }

    static func request(
        _ entries: [String] = [], without names: [String] = [], body: [UInt8] = [], basePath: String = ""
    ) -> Result<Request, Failure> {
        cgi(entries, without: names).request(body: .success(body), basePath: basePath)
    }

    static func refused(_ field: String, _ reason: String) -> Failure {
        .invalidRequest([.init(field, reason)])
    }

    // MARK: §4.1, the meta-variables

    @Test func aRequestIsReadFromItsVariables() throws {
        let request = try Self.request(["HTTP_AUTHORIZATION=Bearer x=y"], body: [0x7B, 0x7D]).get()
        #expect(request.method == "POST" && request.path == "/auth/apple" && request.query == "a=%20b")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["authorization"] == "Bearer x=y")
        #expect(request.headers["accept-language"] == "en")
        #expect(request.body == [0x7B, 0x7D])
        #expect(request.context.sourceAddress == "192.0.2.7" && request.context.userAgent == "Finnova/1.4")
        #expect(request.context.requestID == nil)
    }

    @Test func onlyTheServersOwnNamesTellOfTheBody() throws {
        let request = try Self.request(
            ["HTTP_CONTENT_TYPE=text/plain", "HTTP_CONTENT_LENGTH=99", "HTTP_PROXY=http://evil", "HTTP_X_PROXY=kept"],
            without: ["CONTENT_TYPE"]
        ).get()
        #expect(request.headers["content-type"] == nil && request.headers["content-length"] == nil)
        #expect(request.headers["proxy"] == nil && request.headers["x-proxy"] == "kept")
        #expect(Self.cgi(["HTTP_CONTENT_LENGTH=99"]).bodyLength == .none)
    }

    @Test(arguments: [
        "REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO", "REQUEST_URI", "QUERY_STRING", "CONTENT_TYPE", "CONTENT_LENGTH",
        "REMOTE_ADDR", "HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_HOST", "HTTP_TRANSFER_ENCODING", "HTTP_CONTENT_TYPE",
        "HTTP_CONTENT_LENGTH", "HTTP_X_FORWARDED_FOR",
    ])
    func aNameThatDecidesIsRefusedTwice(name: String) {
        let twice = ["\(name)=1", "\(name)=1"]
        #expect(Self.request(twice, without: [name]).failure == Self.refused(name, "duplicate"))
    }

    /// fcgiwrap behind nginx: two lines of a field are two variables, and no other field has this name.
    @Test func twoLinesOfAProxysFieldAreJoinedWhereTheyAreNoOtherField() throws {
        let request = try Self.request([
            "SERVER_SOFTWARE=nginx/1.22.1", "HTTP_X_FORWARDED_FOR=192.0.2.1", "HTTP_X_FORWARDED_FOR=192.0.2.2",
        ]).get()
        #expect(request.headers["x-forwarded-for"] == "192.0.2.1, 192.0.2.2")
    }

    @Test func anyOtherFieldIsJoined() throws {
        let request = try Self.request(["HTTP_X_OTHER=1", "HTTP_X_OTHER=2"]).get()
        #expect(request.headers["x-other"] == "1, 2")
    }

    @Test func whatIsNoNameOfOursIsPassedOver() throws {
        let request = try Self.request([
            "HTTP_x=1", "http_cookie=2", "NONAME", "=3", "HTTP_COOKİE=4", "HTTP_COOKIE=a=1",
        ]).get()
        #expect(request.headers["cookie"] == "a=1")
        #expect(request.headers["x"] == nil)
    }

    @Test func aMethodIsRequired() {
        #expect(Self.request(without: ["REQUEST_METHOD"]).failure == Self.refused("REQUEST_METHOD", "required"))
        #expect(Self.request(["REQUEST_METHOD="], without: ["REQUEST_METHOD"]).failure != nil)
    }

    // MARK: §4.1.5, the path

    /// script name, path info, request URI, base path → path
    @Test(
        arguments: [
            ("", "/auth/apple", "/auth/apple", "", "/auth/apple"),
            ("/auth/apple", "", "/auth/apple?x", "", "/auth/apple"),
            ("/auth/apple", nil, nil, "", "/auth/apple"),
            (nil, "/auth/apple", "/auth/apple?a=b?c", "", "/auth/apple"),
            ("/api", "/auth/apple", "/api/auth/apple", "/api", "/auth/apple"),
            ("/api", "/auth/apple", "/api/auth/apple", "", "/api/auth/apple"),
            ("/apiary", "/auth", "/apiary/auth", "/api", "/apiary/auth"),
            ("/api", "", "/api", "/api", "/"),
            ("", "/auth/apple", "http://host:1/auth/apple?x", "", "/auth/apple"),
            ("", "/auth/apple", "https://host/auth/apple", "", "/auth/apple"),
            ("", "/auth//apple", "/auth//apple", "", "/auth//apple"),
        ] as [(String?, String?, String?, String, String)])
    func pathsAreScriptNameAndPathInfo(script: String?, info: String?, uri: String?, base: String, path: String) throws
    {
        let entries = [
            script.map { "SCRIPT_NAME=\($0)" }, info.map { "PATH_INFO=\($0)" }, uri.map { "REQUEST_URI=\($0)" },
        ]
        let request = Self.request(
            entries.compactMap { $0 }, without: ["SCRIPT_NAME", "PATH_INFO", "REQUEST_URI"], basePath: base)
        #expect(try request.get().path == path)
    }

    /// What the server made of what the client wrote: any difference is one too many.
    @Test(arguments: [
        "/auth/%61pple", "//auth/apple", "/auth/./apple", "/auth/x/../apple", "/auth%2Fapple", "/auth/apple/",
        "/auth/apple%00",
        "/auth/apple;a", "*", "", "http://host", "/auth/apple\u{301}",
    ])
    func aPathInTwoFormsIsRefused(uri: String) {
        #expect(
            Self.request(["REQUEST_URI=\(uri)"], without: ["REQUEST_URI"]).failure == Self.refused("path", "ambiguous"))
    }

    /// A question mark with a combining mark is one character, and ends the path all the same.
    @Test func theQueryBeginsAtTheByte() throws {
        let request = Self.request(["REQUEST_URI=/auth/apple?\u{301}"], without: ["REQUEST_URI"])
        #expect(try request.get().path == "/auth/apple")
    }

    @Test func aPathBeginsWithASlash() {
        #expect(Self.request(without: ["PATH_INFO", "REQUEST_URI"]).failure == Self.refused("path", "not_absolute"))
        #expect(Self.request(["PATH_INFO=x"], without: ["PATH_INFO", "REQUEST_URI"]).failure != nil)
    }

    // MARK: §4.2, the body

    @Test(
        arguments: [
            ([], .none), (["CONTENT_LENGTH="], .none), (["CONTENT_LENGTH=0"], .none), (["CONTENT_LENGTH=000"], .none),
            (["CONTENT_LENGTH=12"], .exactly(12)), (["CONTENT_LENGTH=0012"], .exactly(12)),
            (["CONTENT_LENGTH=+12"], .unknown), (["CONTENT_LENGTH=-1"], .unknown), (["CONTENT_LENGTH= 12"], .unknown),
            (["CONTENT_LENGTH=0x10"], .unknown), (["CONTENT_LENGTH=1e3"], .unknown), (["CONTENT_LENGTH=1,1"], .unknown),
            (["CONTENT_LENGTH=٣"], .unknown), (["CONTENT_LENGTH=99999999999999999999"], .unknown),
            (["HTTP_TRANSFER_ENCODING=chunked"], .untilEnd), (["HTTP_TRANSFER_ENCODING=Chunked"], .untilEnd),
            (["HTTP_TRANSFER_ENCODING=gzip, chunked"], .unknown), (["HTTP_TRANSFER_ENCODING="], .unknown),
            (["CONTENT_LENGTH=12", "HTTP_TRANSFER_ENCODING=chunked"], .exactly(12)),
            (["CONTENT_LENGTH=", "HTTP_TRANSFER_ENCODING=chunked"], .untilEnd),
        ] as [([String], CGI.BodyLength)])
    func theLengthOfTheBody(entries: [String], length: CGI.BodyLength) {
        #expect(Self.cgi(entries).bodyLength == length)
    }

    /// Standard input that counts what is taken from it, and gives it in pieces.
    final class Input {
        var bytes: ArraySlice<UInt8>
        let piece: Int
        private(set) var taken = 0

        init(_ count: Int, piece: Int = 1000) {
            bytes = [UInt8](repeating: 0x61, count: count)[...]
            self.piece = piece
        }

        func read(_ count: Int) -> [UInt8] {
            let chunk = bytes.prefix(min(count, piece))
            bytes = bytes.dropFirst(chunk.count)
            taken += chunk.count
            return Array(chunk)
        }
    }

    static let limit = AuthFunction.maximumBodySize

    /// variables, bytes on standard input → bytes of the body or the failure, bytes taken
    @Test(
        arguments: [
            (["CONTENT_LENGTH=10"], 10, 10, nil, 10),
            (["CONTENT_LENGTH=10"], 25, 10, nil, 10),
            (["CONTENT_LENGTH=10"], 9, nil, refused("body", "too_short"), 9),
            ([], 25, 0, nil, 0),
            (["CONTENT_LENGTH=x"], 25, nil, refused("body", "unknown_length"), 0),
            (["CONTENT_LENGTH=\(limit)"], limit, limit, nil, limit),
            (["CONTENT_LENGTH=\(limit + 1)"], limit + 1, nil, .contentTooLarge, limit + 1),
            (["CONTENT_LENGTH=\(limit + 1)"], limit + 20, nil, .contentTooLarge, limit + 1),
            (["CONTENT_LENGTH=9000000000"], 6 << 20, nil, .contentTooLarge, CGI.discardLimit),
            (["HTTP_TRANSFER_ENCODING=chunked"], limit, limit, nil, limit),
            (["HTTP_TRANSFER_ENCODING=chunked"], limit + 1, nil, .contentTooLarge, limit + 1),
            (["HTTP_TRANSFER_ENCODING=chunked"], 1 << 20, nil, .contentTooLarge, 1 << 20),
            (["HTTP_TRANSFER_ENCODING=chunked"], 6 << 20, nil, .contentTooLarge, CGI.discardLimit + limit + 1),
        ] as [([String], Int, Int?, Failure?, Int)])
    func theBodyIsTakenWholeAndNothingElse(
        entries: [String], available: Int, count: Int?, failure: Failure?, taken: Int
    ) {
        let input = Input(available)
        let body = Self.cgi(entries).body(reading: input.read)
        #expect((try? body.get())?.count == count)
        #expect(body.failure == failure)
        #expect(input.taken == taken)
    }

    @Test func aBodyThatFailedFailsTheRequest() {
        let request = Self.cgi([]).request(body: .failure(.contentTooLarge), basePath: "")
        #expect(request.failure == .contentTooLarge)
    }

    // MARK: §6, the response

    static func text(_ response: Response, method: String = "POST") -> String {
        let bytes = cgi(["REQUEST_METHOD=\(method)"], without: ["REQUEST_METHOD"]).bytes(of: response)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func theBytesOfAResponse() {
        let response = Response(
            status: 401,
            headers: ["content-type": "application/json", "cache-control": "no-store", "www-authenticate": "Bearer"],
            body: Array("{}".utf8))
        #expect(
            Self.text(response)
                == "Status: 401 Unauthorized\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
                + "WWW-Authenticate: Bearer\r\n\r\n{}")
    }

    @Test func headAnd204And304HaveNoBody() {
        let response = Response(status: 200, headers: ["content-type": "text/plain"], body: [0x61])
        #expect(Self.text(response, method: "HEAD") == "Status: 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        #expect(Self.text(Response(status: 204, body: [0x61])) == "Status: 204 No Content\r\n\r\n")
        #expect(
            Self.text(Response(status: 204, headers: ["content-type": "text/plain"]))
                == "Status: 204 No Content\r\n\r\n")
        #expect(Self.text(Response(status: 304, body: [0x61])).hasSuffix("\r\n\r\n"))
    }

    @Test func thereIsOneContentTypeAndNoLength() {
        var response = Response(status: 200, headers: ["content-length": "5", "content-type": "a/b"], body: [0x61])
        response.headers.append("content-type", "c/d")
        response.headers.append("Status", "500")
        response.headers.append("transfer-encoding", "chunked")
        #expect(Self.text(response) == "Status: 200 OK\r\nContent-Type: a/b\r\n\r\na")
        #expect(
            Self.text(Response(status: 200, body: [0x61]))
                == "Status: 200 OK\r\nContent-Type: application/octet-stream\r\n\r\na")
    }

    /// A redirect is the client's to follow; with 200 the server would run the request again by itself (§6.2.2).
    @Test func aLocationIsNeverBare() {
        #expect(
            Self.text(Response(status: 303, headers: ["location": "/x"]))
                == "Status: 303 See Other\r\nLocation: /x\r\n\r\n")
        #expect(!Self.text(Response(status: 200, headers: ["location": "/x"])).contains("Location"))
    }

    @Test(arguments: ["a\r\nSet-Cookie: b", "a\nb", "a\rb", "a\0b", "a\u{7F}"])
    func aFieldCannotBecomeTwo(value: String) {
        #expect(Self.text(Response(status: 200, headers: ["x-a": value, "x-b": "c"])).contains("200 OK\r\nX-B: c\r\n"))
        #expect(!Self.text(Response(status: 200, headers: [value: "c"])).contains("c\r\n"))
    }
}

extension Result {
    fileprivate var failure: Failure? {
        guard case .failure(let failure) = self else { return nil }
        return failure
    }
}
