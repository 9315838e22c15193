import AuthFunction
import Foundation
import JOSE
import Testing

/// One request in every shape; what each reader makes of it must be the same request.
enum SampleEvents {
    static let body = #"{"identity_token":"a.b.c","deviceInfo":{}}"#

    static func json(_ text: String) throws -> JSON {
        try JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 1 << 20))
    }

    static func quoted(_ text: String) -> String { JSON.string(text).text }

    static let plain =
        #"{"method":"POST","path":"/auth/apple?a=1%262&b=x","headers":{"Content-Type":"application/json","X-A":"1"},"body":\#(quoted(body))}"#

    static let v1 =
        #"""
        {"resource":"/{proxy+}","path":"/auth/apple","httpMethod":"POST",
         "headers":{"Content-Type":"application/json","X-A":"1"},
         "multiValueHeaders":{"Content-Type":["application/json"],"X-A":["1"]},
         "queryStringParameters":{"a":"1&2","b":"x"},"multiValueQueryStringParameters":{"a":["1&2"],"b":["x"]},
         "pathParameters":null,"stageVariables":null,
         "requestContext":{"stage":"prod","requestId":"c6af9ac6-7b61-11e6-9a41-93e8deadbeef","path":"/prod/auth/apple",
          "httpMethod":"POST","identity":{"sourceIp":"192.0.2.7","userAgent":"Finnova/1.4"}},
         "body":\#(quoted(body)),"isBase64Encoded":false}
        """#

    static let v2 =
        #"""
        {"version":"2.0","routeKey":"$default","rawPath":"/auth/apple","rawQueryString":"a=1%262&b=x",
         "headers":{"content-type":"application/json","x-a":"1"},
         "requestContext":{"http":{"method":"POST","path":"/auth/apple","protocol":"HTTP/1.1","sourceIp":"192.0.2.7",
          "userAgent":"Finnova/1.4"},"requestId":"MIZRNhJtIAMEMDw=","routeKey":"$default","stage":"$default"},
         "body":\#(quoted(body)),"isBase64Encoded":false}
        """#

    static let loadBalancer =
        #"""
        {"requestContext":{"elb":{"targetGroupArn":"arn:aws:elasticloadbalancing:x"}},"httpMethod":"POST",
         "path":"/auth/apple","queryStringParameters":{"a":"1%262","b":"x"},
         "headers":{"content-type":"application/json","x-a":"1","x-forwarded-for":"203.0.113.9, 192.0.2.7"},
         "body":\#(quoted(body)),"isBase64Encoded":false}
        """#

    static let multiValueLoadBalancer =
        #"""
        {"requestContext":{"elb":{"targetGroupArn":"arn:aws:elasticloadbalancing:x"}},"httpMethod":"POST",
         "path":"/auth/apple","multiValueQueryStringParameters":{"a":["1%262"],"b":["x"]},
         "multiValueHeaders":{"content-type":["application/json"],"x-a":["1"],"x-forwarded-for":["203.0.113.9","192.0.2.7"]},
         "body":\#(quoted(body)),"isBase64Encoded":false}
        """#

    static let rawOpenWhisk =
        #"""
        {"__ow_method":"post","__ow_path":"/auth/apple","__ow_query":"a=1%262&b=x",
         "__ow_headers":{"content-type":"application/json","x-a":"1"},"__ow_body":"\#(Data(body.utf8).base64EncodedString())"}
        """#

    static let all: [(String, EventOrigin)] = [
        (plain, .plain), (v1, .apiGatewayV1), (v2, .apiGatewayV2),
        (loadBalancer, .loadBalancer(isMultiValue: false)), (multiValueLoadBalancer, .loadBalancer(isMultiValue: true)),
        (rawOpenWhisk, .openWhisk),
    ]
}

@Suite struct EventOriginTests {
    @Test(arguments: SampleEvents.all)
    func everyShapeIsToldByItsMarksAndGivesTheSameRequest(text: String, origin: EventOrigin) throws {
        let event = Event(Array(text.utf8)[...], basePath: "")
        #expect(event.origin == origin)
        let request = try event.request.get()
        #expect(request.method == "POST")
        #expect(request.path == "/auth/apple")
        #expect(request.query == "a=1%262&b=x")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["x-a"] == "1")
        #expect(String(decoding: request.body, as: UTF8.self) == SampleEvents.body)
    }

    @Test(arguments: SampleEvents.all)
    func theBasePathIsStrippedFromEveryShape(text: String, origin: EventOrigin) throws {
        let mounted = text.replacing("/auth/apple", with: "/mount/auth/apple")
        #expect(try Event(Array(mounted.utf8)[...], basePath: "/mount").request.get().path == "/auth/apple")
        #expect(try Event(Array(mounted.utf8)[...], basePath: "/mou").request.get().path == "/mount/auth/apple")
    }

    @Test func whatAnEventDoesNotNameIsNamedByTheRuntime() throws {
        let named = Event(Array(SampleEvents.v1.utf8)[...], basePath: "", requestID: "run-1")
        #expect(try named.request.get().context.requestID == "c6af9ac6-7b61-11e6-9a41-93e8deadbeef")
        let unnamed = Event(Array(SampleEvents.loadBalancer.utf8)[...], basePath: "", requestID: "run-1")
        #expect(try unnamed.request.get().context.requestID == "run-1")
    }

    /// A client's JSON body stands beside OpenWhisk's own members there: it must not be able to pose as another runtime.
    @Test func aBodyThatLooksLikeAnotherRuntimesEventStaysABody() throws {
        let text = #"""
            {"__ow_method":"post","__ow_path":"/auth/apple","__ow_headers":{"content-type":"application/json"},
             "version":"2.0","httpMethod":"GET","rawPath":"/health",
             "requestContext":{"elb":{},"http":{"method":"GET","sourceIp":"192.0.2.66"},"requestId":"forged"}}
            """#
        let event = Event(Array(text.utf8)[...], basePath: "")
        #expect(event.origin == .openWhisk)
        let request = try event.request.get()
        #expect(request.method == "POST")
        #expect(request.path == "/auth/apple")
        #expect(request.context.requestID == nil)
        #expect(request.context.sourceAddress == nil)
    }

    /// A shape is known by its marks, all of them: a bare body of a direct invocation is none of the gateways' events.
    @Test(arguments: [
        #"{"version":"2.0"}"#, #"{"httpMethod":"POST","path":"/x"}"#, #"{"requestContext":{}}"#,
        #"{"requestContext":"elb"}"#,
        #"{"requestContext":null,"httpMethod":"POST"}"#, "{}", "[]", "null", "1", #""text""#,
    ])
    func withoutItsMarksAnEventIsAPlainOneAndRefused(text: String) throws {
        let event = Event(Array(text.utf8)[...], basePath: "")
        #expect(event.origin == .plain)
        #expect(throws: Failure.self) { try event.request.get() }
    }

    @Test(arguments: ["", "{", "{\"method\":\"GET\"", "\u{FEFF}{}", "{} {}", "nul", "{\"a\":1,\"a\":2}", "\n"])
    func whatIsNotJSONIsRefusedAndSaysSo(text: String) throws {
        let event = Event(Array(text.utf8)[...], basePath: "")
        #expect(throws: Failure.invalidRequest([.init("event", "not_json")])) { try event.request.get() }
    }

    @Test func anEventPastTheLimitIsTooLarge() throws {
        let event = Event([UInt8](repeating: 0x20, count: Event.maximumSize + 1)[...], basePath: "")
        #expect(throws: Failure.contentTooLarge) { try event.request.get() }
    }
}
