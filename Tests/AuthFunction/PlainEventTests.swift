import AuthFunction
import JOSE
import TestSupport
import Testing

struct PlainEventTests {
    let doorway = Doorway()

    @Test(arguments: [
        "", " ", "\n", "{", "}", "nul", "{\"method\":\"GET\",\"path\":\"/health\"",
        "{\"method\":\"GET\",\"method\":\"GET\"}",
        "\u{FEFF}{}", "{\"a\":\"\\x\"}", String(repeating: "[", count: 100_000), "{\"a\":\"\u{1}\"}",
        "GET /health HTTP/1.1",
    ])
    func `400: what is not JSON`(_ text: String) throws {
        #expect(try doorway.answer(event: Array(text.utf8)).errors == ["event: not_json"])
    }

    @Test(arguments: [[0xFF], [0xC0, 0x80], [0x22, 0xED, 0xA0, 0x80, 0x22], [0]] as [[UInt8]])
    func `400: what is not UTF-8`(_ bytes: [UInt8]) throws {
        #expect(try doorway.answer(event: bytes).errors == ["event: not_json"])
    }

    static let malformed: [(JSON, String)] = [
        (.null, "event: not_a_json_object"), (.array([]), "event: not_a_json_object"),
        ("{}", "event: not_a_json_object"), ([:], "event.method: not_a_string"),
        (["path": "/health"], "event.method: not_a_string"),
        (["method": .null, "path": "/health"], "event.method: not_a_string"),
        (["method": "", "path": "/health"], "event.method: not_a_string"),
        (["method": .array(["GET"]), "path": "/health"], "event.method: not_a_string"),
        (["method": "GET"], "event.path: not_a_string"),
        (["method": "GET", "path": .integer(1)], "event.path: not_a_string"),
        (["method": "GET", "path": "/health", "headers": "x"], "event.headers: not_an_object"),
        (["method": "GET", "path": "/health", "headers": .array([])], "event.headers: not_an_object"),
        (["method": "GET", "path": "/health", "headers": ["a": .integer(1)]], "event.headers: value_not_a_string"),
        (["method": "GET", "path": "/health", "headers": ["a": .array(["b"])]], "event.headers: value_not_a_string"),
        (["method": "GET", "path": "/health", "body": [:]], "event.body: not_a_string"),
        (["method": "GET", "path": "/health", "body": .integer(1)], "event.body: not_a_string"),
    ]

    @Test(arguments: malformed.indices)
    func `400: an event that is none is answered and says where`(_ index: Int) throws {
        let (event, error) = Self.malformed[index]
        let answer = try doorway.answer(event: event.serialized())
        #expect(answer.status == 400)
        #expect(answer.errors == [error])
        #expect(answer.log["route"] == .null)
    }

    @Test func `Headers and body may be absent or null, and so may a header's value`() throws {
        for headers in [JSON?.none, .null, [:], ["accept": .null]] {
            #expect(try doorway.answer("GET", "/health", headers: headers).status == 200)
        }
        let event: JSON = [
            "method": "GET", "path": "/health", "body": .null, "headers": .null, "more": ["of": .array(["anything"])],
        ]
        #expect(try doorway.answer(event: event.serialized()).status == 200)
    }

    @Test func `The request is what the event says`() throws {
        let event: JSON = [
            "method": "POST", "path": "/stage/auth/apple?a=1&b=2?", "headers": ["X-One": "1", "x-one": "2"],
            "body": "ñ\n",
        ]
        let request = try Event(event.serialized()[...], basePath: "/stage").request.get()
        #expect(request.method == "POST")
        #expect(request.path == "/auth/apple")
        #expect(request.query == "a=1&b=2?")
        #expect(request.headers["X-ONE"] == "1, 2")
        #expect(request.headers["x-two"] == nil)
        #expect(request.body == Array("ñ\n".utf8))
        #expect(request.context.requestID == nil)
    }

    @Test(arguments: [
        ("/stage", "/stage", "/"), ("/stage", "/stage?x", "/"), ("/stage", "/stage/", "/"),
        ("/stage", "/stages/x", "/stages/x"), ("/a/b", "/a/b/c", "/c"), ("/a/b", "/a/c", "/a/c"), ("", "/x", "/x"),
        ("/ñ", "/ñ/x", "/x"), ("/n", "/n\u{303}/x", "/n\u{303}/x"), ("/stage", "stage/x", "stage/x"),
        ("/stage", "", "/"),
    ])
    func `A base path is a prefix of whole segments`(_ basePath: String, _ target: String, _ path: String) throws {
        let event: JSON = ["method": "GET", "path": .string(target)]
        #expect(try Event(event.serialized()[...], basePath: basePath).request.get().path == path)
    }

    @Test func `A client names no request, no address and no agent of the runtime's`() throws {
        let event: JSON = [
            "method": "GET", "path": "/nowhere", "requestId": "mine", "context": ["requestID": "mine"],
            "headers": ["x-request-id": "mine", "x-amzn-trace-id": "mine", "x-forwarded-for": "mine"],
        ]
        let answer = try doorway.answer(event: event.serialized())
        #expect(!answer.eventText.contains("mine"))
        #expect(!answer.log.text.contains("mine"))
    }
}

/// A generator whose run can be repeated (SplitMix64, S. Vigna).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

struct HostileEventTests {
    let doorway = Doorway()

    @Test func `Random bytes are answered 400`() throws {
        var generator = SeededGenerator(state: 1)
        for _ in 0..<1000 {
            let count = Int.random(in: 0..<200, using: &generator)
            let event = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(try doorway.answer(event: event).status == 400)
        }
    }

    @Test func `A good event with anything wrong in it is answered as the caller's fault, or signs in`() throws {
        let headers: JSON = ["content-type": "application/json", "accept-language": "en;q=0.8, es"]
        let body = Doorway.body(["full_name": ["givenName": "Ana"], "email": "a@example.com", "nonce": .null]).text
        let event: JSON = ["method": "POST", "path": "/auth/apple?x=1", "headers": headers, "body": .string(body)]
        let good = event.serialized()
        let pieces = [
            "\"", "\\", "\\u", "\\ud83d", "{", "}", "[", "]", ":", ",", "null", "1e999", "-", "\u{0}", "\u{301}", "🇪",
            ".",
            "99999999999999999999", "\\\"", "?", ";q=", "\\u0000",
        ].map { Array($0.utf8) }
        var generator = SeededGenerator(state: 2)
        var statuses: [Int: Int] = [:]
        for _ in 0..<3000 {
            var event = good
            for _ in 0...Int.random(in: 0..<3, using: &generator) where !event.isEmpty {
                let at = Int.random(in: 0..<event.count, using: &generator)
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: event[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 1: event[at] = UInt8.random(in: 0...255, using: &generator)
                case 2: event.remove(at: at)
                case 3: event.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: at)
                case 4: event.removeSubrange(at..<min(event.count, at + .random(in: 0..<40, using: &generator)))
                default: event.insert(contentsOf: event[at..<min(event.count, at + 30)], at: at)
                }
            }
            statuses[try doorway.answer(event: event).status, default: 0] += 1
        }
        #expect(Set(statuses.keys).isSubset(of: [200, 201, 400, 401, 404, 405, 415]))
        // Each guard was reached, so the loop did look behind the first of them.
        for status in [200, 400, 401, 404, 405, 415] { #expect(statuses[status] != nil, "\(status): \(statuses)") }
    }

    /// Texts on which Swift's own equality, hashing and search for characters take time that grows with the square.
    private static let marks = String(repeating: "\u{301}\u{316}", count: 50_000)

    static let heavy: [(String, JSON)] = [
        ("path", ["method": "GET", "path": .string("/" + marks)]),
        ("path of marks only", ["method": "GET", "path": .string(marks)]),
        ("path behind a route", ["method": "GET", "path": .string("/health" + marks)]),
        ("path behind the base", ["method": "GET", "path": .string("/stage" + marks)]),
        ("query", ["method": "GET", "path": .string("/health?" + marks)]),
        ("method", ["method": .string("G" + marks), "path": "/health"]),
        ("method that begins as one", ["method": .string("HEAD" + marks), "path": "/nowhere"]),
        ("header's name", ["method": "POST", "path": "/auth/apple", "headers": [("c" + marks): "x"]]),
        (
            "media type",
            ["method": "POST", "path": "/auth/apple", "headers": ["content-type": .string("a" + marks)]]
        ),
        (
            "language",
            ["method": "GET", "path": "/nowhere", "headers": ["accept-language": .string("en" + marks)]]
        ),
        (
            "languages",
            [
                "method": "GET", "path": "/nowhere",
                "headers": ["accept-language": .string(String(repeating: "en;q=0.1,", count: 20_000))],
            ]
        ),
        ("member's name", ["method": "GET", "path": "/health", marks: "x"]),
        (
            "members' names",
            .object(
                (0..<200).reduce(into: ["method": "GET", "path": "/health"]) { object, index in
                    object[String(marks.unicodeScalars.prefix(900)) + "\(index)"] = "x"
                })
        ),
        (
            "headers",
            [
                "method": "GET", "path": "/nowhere",
                "headers": .object(
                    (0..<5000).reduce(into: JSON.Object()) { object, index in object["h\(index)"] = "x" }),
            ]
        ),
    ]

    @Test(arguments: heavy.indices)
    func `No part of an event takes more time than its length is worth`(_ index: Int) throws {
        let (name, event) = Self.heavy[index]
        let bytes = event.serialized()
        #expect(bytes.count < Event.maximumSize)
        let doorway = Doorway(basePath: "/stage")
        var status = 0
        let duration = try processorTime { status = try doorway.answer(event: bytes).status }
        #expect(status < 500)
        // Quadratic, each of them took from two seconds to half a minute.
        #expect(duration < .seconds(1), "\(name): \(duration)")
    }

    @Test(arguments: ["identity_token", "nonce", "full_name", "email"])
    func `No field of a body takes more time than its length is worth`(_ field: String) throws {
        let text = String(Self.marks.unicodeScalars.prefix(10_000))
        let body = Doorway.body([field: .string(text), text: .string(text)]).text
        #expect(body.utf8.count < AuthFunction.maximumBodySize)
        var status = 0
        let duration = try processorTime { status = try doorway.post(body).status }
        #expect(status < 500)
        #expect(duration < .seconds(1), "\(duration)")
    }
}
