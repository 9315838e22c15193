import AuthFunction
import Foundation
import JOSE
import TestSupport
import Testing

/// A web flow through each doorway: the cookie and Apple's form come in, the cookie and the address go out.
struct WebDoorwayTests {
    /// How one doorway writes a request, and how what it is given becomes status, address and cookie.
    struct Shape: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Method, path, query, cookies, body.
        let event: @Sendable (String, String, String, [String], String?) -> JSON
        let cookie: @Sendable (JSON) -> String?

        func location(_ answer: JSON) -> String? {
            answer["headers"]?["location"]?.string ?? answer["multiValueHeaders"]?["location"]?.array?.first?.string
        }
    }

    private static func headers(_ body: String?, _ cookie: JSON? = nil) -> JSON.Object {
        var headers: JSON.Object = ["Host": "auth.finnova.example"]
        if body != nil { headers["Content-Type"] = "application/x-www-form-urlencoded" }
        headers["Cookie"] = cookie
        return headers
    }

    private static func lists(_ headers: JSON.Object) -> JSON {
        var lists = JSON.Object()
        for member in headers.members {
            lists[member.name] = member.value.array == nil ? .array([member.value]) : member.value
        }
        return .object(lists)
    }

    /// A query as a load balancer splits it: encoded.
    private static func pairs(_ query: String) -> [(String, String)] {
        query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
            return (parts[0], parts.count == 2 ? parts[1] : "")
        }
    }

    private static func object(_ pairs: [(String, JSON)]) -> JSON {
        var object = JSON.Object()
        for (name, value) in pairs { object[name] = value }
        return .object(object)
    }

    private static func text(_ text: String?) -> JSON { .string(orNull: text) }

    private static let single: @Sendable (JSON) -> String? = { $0["headers"]?["set-cookie"]?.string }

    static let shapes: [Shape] = [
        Shape(
            testDescription: "plain",
            event: { method, path, query, cookies, body in
                [
                    "method": .string(method), "path": .string(path + "?" + query), "body": text(body),
                    "headers": .object(headers(body, .string(cookies.joined(separator: "; ")))),
                ]
            }, cookie: single),
        Shape(
            testDescription: "API Gateway, payload format 2.0",
            event: { method, path, query, cookies, body in
                [
                    "version": "2.0", "rawPath": .string(path), "rawQueryString": .string(query),
                    "cookies": .array(cookies.map(JSON.string)), "headers": .object(headers(body)),
                    "requestContext": ["http": ["method": .string(method)], "stage": "$default"], "body": text(body),
                    "isBase64Encoded": .bool(false),
                ]
            }, cookie: { $0["cookies"]?.array?.first?.string }),
        Shape(
            testDescription: "function URL: base64, and cookies in both places",
            event: { method, path, query, cookies, body in
                [
                    "version": "2.0", "rawPath": .string(path), "rawQueryString": .string(query),
                    "cookies": .array(cookies.map(JSON.string)),
                    "headers": .object(headers(body, .string(cookies.joined(separator: ";")))),
                    "requestContext": ["http": ["method": .string(method)]], "isBase64Encoded": .bool(true),
                    "body": text(body.map { Base64URL.standard(Array($0.utf8)) }),
                ]
            }, cookie: { $0["cookies"]?.array?.first?.string }),
        Shape(
            testDescription: "API Gateway, payload format 1.0",
            event: { method, path, query, cookies, body in
                let form = FormURLEncoded(parsing: Array(query.utf8)[...], maximumFields: 32)?.fields ?? []
                let headers = headers(body, .array(cookies.map(JSON.string)))
                return [
                    "httpMethod": .string(method), "path": .string(path), "requestContext": ["stage": "prod"],
                    "multiValueQueryStringParameters": object(form.map { ($0.name, .array([.string($0.value)])) }),
                    "multiValueHeaders": lists(headers), "body": text(body), "isBase64Encoded": .bool(false),
                ]
            }, cookie: single),
        Shape(
            testDescription: "load balancer",
            event: { method, path, query, cookies, body in
                [
                    "httpMethod": .string(method), "path": .string(path), "requestContext": ["elb": [:]],
                    "queryStringParameters": object(pairs(query).map { ($0.0, .string($0.1)) }),
                    "headers": .object(headers(body, .string(cookies.joined(separator: "; ")))),
                    "body": text(body.map { Base64URL.standard(Array($0.utf8)) } ?? ""),
                    "isBase64Encoded": .bool(body != nil),
                ]
            }, cookie: single),
        Shape(
            testDescription: "load balancer with multi-value headers, cookies in pieces",
            event: { method, path, query, cookies, body in
                [
                    "httpMethod": .string(method), "path": .string(path), "requestContext": ["elb": [:]],
                    "multiValueQueryStringParameters": object(pairs(query).map { ($0.0, .array([.string($0.1)])) }),
                    "multiValueHeaders": lists(headers(body, .array(cookies.map(JSON.string)))),
                    "body": text(body.map { Base64URL.standard(Array($0.utf8)) } ?? ""),
                    "isBase64Encoded": .bool(body != nil),
                ]
            }, cookie: { $0["multiValueHeaders"]?["set-cookie"]?.array?.first?.string }),
        Shape(
            testDescription: "OpenWhisk with raw HTTP",
            event: { method, path, query, cookies, body in
                [
                    "__ow_method": .string(method.lowercased()), "__ow_path": .string(path),
                    "__ow_query": .string(query),
                    "__ow_headers": .object(headers(body, .string(cookies.joined(separator: "; ")))),
                    "__ow_body": text(body ?? ""),
                ]
            }, cookie: single),
        Shape(
            testDescription: "OpenWhisk without raw HTTP",
            event: { method, path, query, cookies, body in
                let form = FormURLEncoded(parsing: Array((body ?? query).utf8)[...], maximumFields: 32)?.fields ?? []
                return object(
                    [
                        ("__ow_method", .string(method.lowercased())), ("__ow_path", .string(path)),
                        ("__ow_headers", .object(headers(body, .string(cookies.joined(separator: "; "))))),
                    ] + form.map { ($0.name, .string($0.value)) })
            }, cookie: single),
    ]

    @Test(arguments: shapes)
    func `A flow goes through every shape of event, from its start to its code`(_ shape: Shape) throws {
        let doorway = Doorway(web: WebVisit.client)
        func send(_ method: String, _ path: String, query: String = "", cookies: [String], body: String? = nil) throws
            -> JSON
        {
            let event = Event(shape.event(method, path, query, cookies, body), basePath: "")
            let bytes = event.bytes(of: doorway.respond(to: event.request).response)
            return try JSON(parsing: bytes, limits: JSON.Limits(bytes: 1 << 20))
        }
        let start = try send("GET", "/auth/apple/authorize", query: WebVisit.query(), cookies: ["a=1"])
        #expect(start["statusCode"] == .integer(303))
        let page = try ApplePage(try #require(shape.location(start)))
        let set = try #require(shape.cookie(start))
        #expect(set.hasPrefix("__Host-auth-apple="))

        let form = String(decoding: FormURLEncoded.encode(page.answer()), as: UTF8.self)
        let cookies = ["a=1", String(set.prefix { $0 != ";" }), "b=2"]
        let finish = try send("POST", "/auth/apple/callback", cookies: cookies, body: form)
        #expect(finish["statusCode"] == .integer(303))
        let landing = try ApplePage(try #require(shape.location(finish)))
        #expect(landing.address == WebVisit.appURL)
        #expect(landing.parameters["code"] != nil)
        #expect(landing.parameters["state"] == "app state/1")
    }

    @Test func `CGI: the cookie comes in as a variable, and goes out with the address after the status`() throws {
        let doorway = Doorway(web: WebVisit.client)
        func send(_ variables: [String: String], body: String = "") -> (response: [String], cgi: CGI) {
            let entries = variables.merging(["GATEWAY_INTERFACE": "CGI/1.1", "REMOTE_ADDR": "192.0.2.1"]) { $1 }
            let cgi = CGI(CGI.MetaVariables(entries: entries.map { Array("\($0.key)=\($0.value)".utf8) }))
            let request = cgi.request(body: .success(Array(body.utf8)), basePath: "")
            let text = String(decoding: cgi.bytes(of: doorway.respond(to: request).response), as: UTF8.self)
            return (text.components(separatedBy: "\r\n"), cgi)
        }
        let start = send([
            "REQUEST_METHOD": "GET", "SCRIPT_NAME": "/auth/apple", "PATH_INFO": "/authorize",
            "QUERY_STRING": WebVisit.query(), "REQUEST_URI": "/auth/apple/authorize?\(WebVisit.query())",
        ]).response
        #expect(start.first == "Status: 303 See Other")
        func field(_ name: String, _ lines: [String]) -> String? {
            lines.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
        let page = try ApplePage(try #require(field("Location", start)))
        let set = try #require(field("Set-Cookie", start))
        let finish = send(
            [
                "REQUEST_METHOD": "POST", "SCRIPT_NAME": "", "PATH_INFO": "/auth/apple/callback",
                "CONTENT_TYPE": "application/x-www-form-urlencoded",
                "HTTP_COOKIE": "a=1; \(set.prefix { $0 != ";" }); b=2",
            ], body: String(decoding: FormURLEncoded.encode(page.answer()), as: UTF8.self)
        ).response
        #expect(finish.first == "Status: 303 See Other")
        #expect(try #require(field("Location", finish)).hasPrefix("com.finnova.app:/signed-in?code="))
        #expect(field("Content-Type", finish) == nil)
    }
}

extension Base64URL {
    /// base64 with padding, as runtimes send bodies.
    fileprivate static func standard(_ bytes: [UInt8]) -> String {
        let text = encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
