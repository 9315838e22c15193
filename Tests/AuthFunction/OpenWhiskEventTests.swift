import AuthFunction
import Foundation
import JOSE
import TestSupport
import Testing

private func request(_ text: String) throws -> Request {
    let event = Event(Array(text.utf8)[...], basePath: "")
    #expect(event.origin == .openWhisk)
    return try event.request.get()
}

@Suite struct OpenWhiskEventTests {
    /// Without raw HTTP the members of the body, and of the query, stand beside OpenWhisk's own.
    @Test func aMergedBodyIsPutTogetherAgain() throws {
        let request = try request(
            #"""
            {"identity_token":"a.b.c","deviceInfo":{"id":"1"},"__ow_method":"post","__ow_path":"/auth/apple",
             "__ow_headers":{"content-type":"application/json"},"__ow_user":"ns"}
            """#)
        #expect(request.method == "POST")
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"identity_token":"a.b.c","deviceInfo":{"id":"1"}}"#)
        #expect(request.query == "")
    }

    @Test func aMergedQueryIsPutTogetherAgain() throws {
        let request = try request(
            #"{"platform":"ios&x","__ow_method":"get","__ow_path":"/auth/providers","__ow_headers":{}}"#)
        #expect(request.query == "platform=ios%26x")
        #expect(request.body.isEmpty)
    }

    @Test(arguments: [
        ("application/json", "eyJhIjoxfQ==", #"{"a":1}"#), ("application/json", #"{\"a\":1}"#, #"{"a":1}"#),
        ("application/json; charset=utf-8", "eyJhIjoxfQ==", #"{"a":1}"#),
        ("text/plain", "eyJhIjoxfQ==", "eyJhIjoxfQ=="),
        ("application/x-www-form-urlencoded", "code=abcd", "code=abcd"), ("application/json", "", ""),
    ])
    func aRawBodyIsDecodedByItsType(type: String, body: String, expected: String) throws {
        let request = try request(
            #"{"__ow_method":"post","__ow_query":"","__ow_headers":{"Content-Type":"\#(type)"},"__ow_body":"\#(body)"}"#
        )
        #expect(String(decoding: request.body, as: UTF8.self) == expected)
        #expect(request.path == "/")
    }

    /// As it is made of objects, OpenWhisk takes it for what it is; as a string of an unknown type it would be base64.
    @Test func aJSONResponseGoesAsJSON() throws {
        let event = Event(Array(SampleEvents.rawOpenWhisk.utf8)[...], basePath: "")
        var response = Response(status: 401, json: ["code": "invalid_token"], type: "application/problem+json")
        response.headers.append("set-cookie", "a=1")
        response.headers.append("set-cookie", "b=2")
        let bytes = event.bytes(of: response)
        #expect(bytes.count { $0 == 0x0A } == 1)
        let json = try JSON(parsing: bytes, limits: JSON.Limits(bytes: 4096))
        #expect(json.object?.members.map(\.name) == ["statusCode", "headers", "body"])
        #expect(json["body"]?["code"] == "invalid_token")
        #expect(json["headers"]?["content-type"] == "application/problem+json")
        #expect(json["headers"]?["set-cookie"] == ["a=1", "b=2"])
    }

    @Test func anEmptyResponseHasAnEmptyBody() throws {
        let event = Event(Array(SampleEvents.rawOpenWhisk.utf8)[...], basePath: "")
        let json = try JSON(parsing: event.bytes(of: Response(status: 204)), limits: JSON.Limits(bytes: 4096))
        #expect(json["statusCode"] == 204)
        #expect(json["body"] == "")
    }

    /// A merged body comes in as many members as a client likes; putting it together must not take the square of them.
    @Test func aBodyOfManyMembersTakesNoLongerThanItMust() throws {
        let members = (0..<30_000).map { "\"\($0)\":0" }.joined(separator: ",")
        let time = try processorTime {
            let request = try request("{\(members),\"__ow_method\":\"post\"}")
            #expect(request.body.count == members.utf8.count + 2)
        }
        #expect(time < .seconds(2))
    }
}
