import AuthFunction
import Foundation
import JOSE
import Testing

private func event(_ text: String, basePath: String = "") -> Event {
    Event(Array(text.utf8)[...], basePath: basePath)
}

private func written(_ event: Event, _ response: Response) throws -> JSON {
    let bytes = event.bytes(of: response)
    #expect(bytes.last == 0x0A && bytes.count { $0 == 0x0A } == 1)
    return try JSON(parsing: bytes, limits: JSON.Limits(bytes: 1 << 20))
}

private let problem: Response = {
    var response = Response(
        status: 401, json: ["code": "invalid_token", "detail": "sesión"], type: "application/problem+json")
    response.headers.append("cache-control", "no-store")
    return response
}()

private let withCookies: Response = {
    var response = Response(status: 200, json: ["a": 1])
    response.headers.append("set-cookie", "a=1; Path=/")
    response.headers.append("vary", "origin")
    response.headers.append("set-cookie", "b=2")
    response.headers.append("vary", "accept-language")
    return response
}()

@Suite struct APIGatewayV1EventTests {
    /// From the console's test button, with null for whatever it does not have.
    @Test func nullIsAbsent() throws {
        let text = #"""
            {"body":"{\r\n\t\"a\": 1\r\n}","headers":null,"httpMethod":"POST","isBase64Encoded":false,"multiValueHeaders":null,
             "multiValueQueryStringParameters":null,"path":"/myPath","pathParameters":null,"queryStringParameters":null,
             "requestContext":{"accountId":"x","apiId":"x","domainName":"p.d","extendedRequestId":"NvWWKEZbliAFliA=",
              "httpMethod":"POST","identity":{"sourceIp":"test-invoke-source-ip","userAgent":"aws-internal/3 ..",
              "cognitoIdentityId":null},"path":"/myPath","protocol":"HTTP/1.1",
              "requestId":"e5488776-afe4-4e5e-92b1-37bd23f234d6","requestTimeEpoch":1645190592806,"resourceId":"ddw8yd",
              "resourcePath":"/myPath","stage":"test-invoke-stage"},"resource":"/myPath","stageVariables":null}
            """#
        let event = event(text)
        #expect(event.origin == .apiGatewayV1)
        let request = try event.request.get()
        #expect(request.path == "/myPath")
        #expect(request.query == "")
        #expect(request.headers.fields.isEmpty)
        #expect(String(decoding: request.body, as: UTF8.self) == "{\r\n\t\"a\": 1\r\n}")
        #expect(request.context.requestID == "e5488776-afe4-4e5e-92b1-37bd23f234d6")
        #expect(request.context.sourceAddress == nil)
        #expect(request.context.userAgent == "aws-internal/3 ..")
    }

    @Test func theListOfAHeaderCountsAndNotItsLastValue() throws {
        let text = #"""
            {"httpMethod":"GET","path":"/","requestContext":{},"headers":{"X-A":"2"},"multiValueHeaders":{"X-A":["1","2"]},
             "queryStringParameters":{"q":"b"},"multiValueQueryStringParameters":{"q":["a","b"]}}
            """#
        let request = try event(text).request.get()
        #expect(request.headers["x-a"] == "1, 2")
        #expect(request.query == "q=a&q=b")
    }

    /// Two spellings of one name are one field, and no reader sees only one of the two.
    @Test func namesThatDifferInCaseAreOneField() throws {
        let text =
            #"{"httpMethod":"GET","path":"/","requestContext":{},"headers":{"AUTHORIZATION":"a","authorization":"b"}}"#
        #expect(try event(text).request.get().headers["authorization"] == "a, b")
    }

    @Test func base64IsDecodedWhereTheEventSaysSo() throws {
        func body(_ text: String, _ flag: String) throws -> String {
            let text =
                #"{"httpMethod":"POST","path":"/","requestContext":{},"body":"\#(text)","isBase64Encoded":\#(flag)}"#
            return String(decoding: try event(text).request.get().body, as: UTF8.self)
        }
        #expect(try body("eyJhIjoiPz8/Pn4ifQ==", "true") == #"{"a":"???>~"}"#)
        #expect(try body("", "true") == "")
        #expect(try body("eyJhIjoxfQ==", "false") == "eyJhIjoxfQ==")
        #expect(try body("eyJhIjoxfQ==", "null") == "eyJhIjoxfQ==")
        for bad in [
            "eyJhIjoxfQ", "eyJhIjoxfQ=", "eyJh IjoxfQ=", "eyJhIjoiPz8_Pn4ifQ==", "=", "====", "AB==", "eyJhIjoxfQ==\\n",
        ] {
            #expect(throws: Failure.invalidRequest([.init("event.body", "not_base64")]), "\(bad)") {
                try body(bad, "true")
            }
        }
        #expect(throws: Failure.invalidRequest([.init("event.isBase64Encoded", "not_a_boolean")])) {
            try body("", #""true""#)
        }
    }

    /// HTTP APIs put the stage into `path`; REST APIs do not, and there the first segment is the client's own.
    @Test(arguments: [
        ("prod", "/prod/auth/apple", "/prod/auth/apple", "/auth/apple"),
        ("prod", "/auth/apple", "/prod/auth/apple", "/auth/apple"),
        ("auth", "/auth/apple", "/auth/auth/apple", "/auth/apple"),
        // A custom domain that is mapped to the stage leaves it out of both: every route there was 404.
        ("auth", "/auth/apple", "/auth/apple", "/auth/apple"), ("health", "/health", "/health", "/health"),
        ("auth", "/auth/auth/apple", "/auth/auth/apple", "/auth/apple"),
        ("prod", "/production/x", "/production/x", "/production/x"),
        ("prod", "/prod", "/prod", "/"),
        ("$default", "/auth/apple", "/auth/apple", "/auth/apple"),
        ("", "", "", "/"),
    ])
    func theStageIsStrippedWhereItIsOne(stage: String, path: String, contextPath: String, expected: String) throws {
        let text = #"""
            {"httpMethod":"GET","path":"\#(path)","requestContext":{"stage":"\#(stage)","path":"\#(contextPath)"}}
            """#
        #expect(try event(text).request.get().path == expected)
    }

    @Test(arguments: [
        (#""path":1"#, "event.path", "not_a_string"), (#""path":null"#, "event.path", "not_a_string"),
        (#""headers":[]"#, "event.headers", "not_an_object"),
        (#""headers":{"a":true}"#, "event.headers", "value_not_a_string"),
        (#""multiValueHeaders":{"a":"b"}"#, "event.multiValueHeaders", "value_not_an_array"),
        (#""multiValueHeaders":{"a":[1]}"#, "event.multiValueHeaders", "value_not_a_string"),
        (#""queryStringParameters":"a=b""#, "event.queryStringParameters", "not_an_object"),
        (#""body":{"identity_token":"x"}"#, "event.body", "not_a_string"),
        (#""httpMethod":""#, "event", "not_json"), (#""httpMethod":7"#, "event.httpMethod", "not_a_string"),
    ])
    func whatIsWrongIsNamed(change: String, field: String, reason: String) throws {
        let name = change.prefix { $0 != ":" }
        let members = [#""httpMethod":"GET""#, #""path":"/""#].filter { !$0.hasPrefix(name) } + [change]
        let text = "{\(members.joined(separator: ",")),\"requestContext\":{}}"
        #expect(throws: Failure.invalidRequest([.init(field, reason)])) { try event(text).request.get() }
    }

    @Test func theResponseHasExactlyTheKeysThatTheGatewayKnows() throws {
        let json = try written(event(SampleEvents.v1), problem)
        #expect(json.object?.members.map(\.name) == ["statusCode", "headers", "body", "isBase64Encoded"])
        #expect(json["statusCode"] == 401)
        #expect(json["headers"]?["content-type"] == "application/problem+json")
        #expect(json["body"]?.string == #"{"code":"invalid_token","detail":"sesión"}"#)
        #expect(json["isBase64Encoded"] == false)
    }

    @Test func headersThatComeTwiceGoAsListsAndInOrder() throws {
        let json = try written(event(SampleEvents.v1), withCookies)
        #expect(json.object?.members.map(\.name) == ["statusCode", "multiValueHeaders", "body", "isBase64Encoded"])
        #expect(json["multiValueHeaders"]?["set-cookie"] == ["a=1; Path=/", "b=2"])
        #expect(json["multiValueHeaders"]?["vary"] == ["origin", "accept-language"])
    }
}

@Suite struct APIGatewayV2EventTests {
    /// The least that was seen: no cookies, no query, no body.
    @Test func whatIsMissingIsAbsent() throws {
        let text = #"{"version":"2.0","rawPath":"","requestContext":{"http":{"method":"GET"}}}"#
        let request = try event(text).request.get()
        #expect(request.path == "/")
        #expect(request.query == "")
        #expect(request.body.isEmpty)
        #expect(request.headers.fields.isEmpty)
    }

    @Test(arguments: [
        ("prod", "/prod/auth/apple", "", "/auth/apple"), ("prod", "/prod", "", "/"),
        ("prod", "/production", "", "/production"),
        ("auth", "/auth/auth/apple", "", "/auth/apple"), ("$default", "/auth/apple", "", "/auth/apple"),
        ("prod", "/prod/v1/auth/apple", "/v1", "/auth/apple"),
        // A mapping that names no stage, of a REST API: who set the mapping alone got 404 for everything.
        ("prod", "/v1/prod/auth/apple", "/v1", "/auth/apple"), ("auth", "/v1/auth/auth/apple", "/v1", "/auth/apple"),
        ("auth", "/v1/auth/apple", "/v1", "/auth/apple"),
        ("prod", "/prod/v1/auth/apple", "/prod/v1", "/auth/apple"),
        ("prod", "/prod/auth/apple", "/prod", "/auth/apple"),
    ])
    func theStageAndTheBasePathAreStripped(stage: String, path: String, basePath: String, expected: String) throws {
        let text =
            #"{"version":"2.0","rawPath":"\#(path)","requestContext":{"stage":"\#(stage)","http":{"method":"GET"}}}"#
        #expect(try event(text, basePath: basePath).request.get().path == expected)
    }

    /// A function URL sends cookies in their list and in the header as well.
    @Test func cookiesOfTheListReplaceThoseOfTheHeader() throws {
        let text = #"""
            {"version":"2.0","rawPath":"/","headers":{"Cookie":"a=1; b=2","x":"y"},"cookies":["a=1","b=2"],
             "requestContext":{"http":{"method":"GET"}}}
            """#
        let request = try event(text).request.get()
        #expect(request.headers["cookie"] == "a=1; b=2")
        #expect(request.headers.fields.count == 2)
    }

    @Test func theAddressIsTheGatewaysAndNotAHeaders() throws {
        let text = SampleEvents.v2.replacing(#""x-a":"1""#, with: #""x-a":"1","x-forwarded-for":"203.0.113.66""#)
        let context = try event(text).request.get().context
        #expect(context.sourceAddress == "192.0.2.7")
        #expect(context.userAgent == "Finnova/1.4")
        #expect(context.requestID == "MIZRNhJtIAMEMDw=")
    }

    @Test func aRequestIdThatIsNoNameIsNotTaken() throws {
        for bad in ["", "a b", "a\\nb", String(repeating: "x", count: 129), "ñ"] {
            let text = SampleEvents.v2.replacing("MIZRNhJtIAMEMDw=", with: bad)
            #expect(try event(text).request.get().context.requestID == nil, "\(bad)")
        }
    }

    @Test(arguments: [
        (#""cookies":"a=1""#, "event.cookies", "not_an_array"),
        (#""cookies":[1]"#, "event.cookies", "value_not_a_string"),
        (#""body":{}"#, "event.body", "not_a_string"), (#""body":[]"#, "event.body", "not_a_string"),
        (#""headers":{"a":["b"]}"#, "event.headers", "value_not_a_string"),
    ])
    func whatIsWrongIsNamed(change: String, field: String, reason: String) throws {
        let text = #"{"version":"2.0","rawPath":"/","requestContext":{"http":{"method":"GET"}},\#(change)}"#
        #expect(throws: Failure.invalidRequest([.init(field, reason)])) { try event(text).request.get() }
    }

    @Test func theMethodMustBeThere() throws {
        let text = #"{"version":"2.0","rawPath":"/","requestContext":{"http":{}}}"#
        #expect(throws: Failure.invalidRequest([.init("event.requestContext.http.method", "not_a_string")])) {
            try event(text).request.get()
        }
    }

    @Test func theResponseHasCookiesApartAndOneValueAHeader() throws {
        #expect(
            try written(event(SampleEvents.v2), problem).object?.members.map(\.name)
                == ["statusCode", "headers", "body", "isBase64Encoded"])
        let json = try written(event(SampleEvents.v2), withCookies)
        #expect(json.object?.members.map(\.name) == ["statusCode", "headers", "cookies", "body", "isBase64Encoded"])
        #expect(json["cookies"] == ["a=1; Path=/", "b=2"])
        #expect(json["headers"]?["vary"] == "origin, accept-language")
        #expect(json["headers"]?["set-cookie"] == nil)
    }
}

@Suite struct LoadBalancerEventTests {
    /// As a target group sends it every few seconds.
    @Test func aHealthCheckHasNoHostAndNoAddress() throws {
        let text = #"""
            {"requestContext":{"elb":{"targetGroupArn":"x"}},"httpMethod":"GET","path":"/health","queryStringParameters":{},
             "headers":{"user-agent":"ELB-HealthChecker/2.0"},"body":"","isBase64Encoded":false}
            """#
        let request = try event(text).request.get()
        #expect(request.path == "/health")
        #expect(request.context.sourceAddress == nil)
        #expect(request.body.isEmpty)
    }

    /// Decoding before splitting would make two values of one.
    @Test func theQueryStaysEncoded() throws {
        let text = #"""
            {"requestContext":{"elb":{}},"httpMethod":"GET","path":"/","queryStringParameters":{"a":"1%26b%3D2","%C3%B1":"%2B+"}}
            """#
        #expect(try event(text).request.get().query == "a=1%26b%3D2&%C3%B1=%2B+")
    }

    @Test(arguments: [
        ("203.0.113.9, 192.0.2.7", "192.0.2.7"), ("192.0.2.7", "192.0.2.7"),
        ("203.0.113.9,192.0.2.7:51234", "192.0.2.7"),
        ("2001:db8::7", "2001:db8::7"), ("192.0.2.1, [2001:db8::7]:443", "2001:db8::7"), ("192.0.2.7, evil", nil),
        ("", nil), (", ,", nil),
    ])
    func onlyTheLastHopIsBelieved(header: String, expected: String?) throws {
        let text = SampleEvents.loadBalancer.replacing("203.0.113.9, 192.0.2.7", with: header)
        #expect(try event(text).request.get().context.sourceAddress == expected)
    }

    @Test func theResponseHasTheFormOfTheEvent() throws {
        let single = try written(event(SampleEvents.loadBalancer), problem)
        #expect(
            single.object?.members.map(\.name)
                == ["statusCode", "statusDescription", "headers", "body", "isBase64Encoded"])
        #expect(single["statusDescription"] == "401 Unauthorized")
        #expect(single["headers"]?["cache-control"] == "no-store")

        let multiple = try written(event(SampleEvents.multiValueLoadBalancer), withCookies)
        #expect(
            multiple.object?.members.map(\.name)
                == ["statusCode", "statusDescription", "multiValueHeaders", "body", "isBase64Encoded"])
        #expect(multiple["multiValueHeaders"]?["set-cookie"] == ["a=1; Path=/", "b=2"])
        #expect(multiple["multiValueHeaders"]?["content-type"] == ["application/json"])
    }

    @Test func anEmptyResponseStillHasAHeaderAndABody() throws {
        for text in [SampleEvents.loadBalancer, SampleEvents.multiValueLoadBalancer] {
            let json = try written(event(text), Response(status: 204))
            #expect(json["body"] == "")
            #expect(json["statusDescription"] == "204 No Content")
            #expect((json["headers"] ?? json["multiValueHeaders"])?.object?.members.isEmpty == false)
        }
    }
}
