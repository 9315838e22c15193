import CurlHTTP
import Foundation
import TestSupport
import Testing

/// libcurl's signatures, held against botocore's over the very request that came; and botocore against AWS's own examples.
@Suite(.enabled(if: DynamoDBServer.isInstalled, "needs Tests/tools.sh"), .serialized) struct SigningTests {
    private static let token = "AQoDYXdzEPT//////////wEXAMPLE+token/=="

    private static func signing(
        token: String? = nil, key: String = DynamoDBServer.keyID, secret: String = DynamoDBServer.secret
    ) -> Signing {
        Signing(
            accessKeyID: key, secretAccessKey: secret, sessionToken: token, region: "eu-west-1", service: "dynamodb")
    }

    private static func request(
        _ url: String, _ signing: Signing?, body: String = #"{"Key":{"pk":{"S":"é \u0000"}}}"#
    ) throws -> HTTPRequest {
        var request = HTTPRequest(
            .post, try HTTPURL(url),
            headers: [
                .init("content-type", "application/x-amz-json-1.0"), .init("x-amz-target", "DynamoDB_20120810.GetItem"),
            ], body: Array(body.utf8))
        request.signing = signing
        return request
    }

    /// `post-sts-header-before` and `post-x-www-form-urlencoded` of AWS's test suite for Signature Version 4, as in
    /// https://github.com/awslabs/aws-c-auth/tree/main/tests/aws-signing-test-suite/v4
    @Test func theVerifierFindsTheSignaturesThatAWSPublishes() throws {
        let credential = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"
        let token =
            "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwt"
            + "hAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVX"
            + "AkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
        #expect(
            try DynamoDBServer.shared.signature(
                method: "POST",
                headers: [
                    "host": "example.amazonaws.com", "x-amz-date": "20150830T123600Z", "x-amz-security-token": token,
                    "authorization": credential + ", SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=0",
                ], body: "") == "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead")
        #expect(
            try DynamoDBServer.shared.signature(
                method: "POST",
                headers: [
                    "content-type": "application/x-www-form-urlencoded", "host": "example.amazonaws.com",
                    "content-length": "13", "x-amz-date": "20150830T123600Z",
                    "x-amz-content-sha256": "9095672bbd1f56dfc5b65f3e153adc8731a4a654192329106275f4c7b24d0b6e",
                    "authorization": credential
                        + ", SignedHeaders=content-length;content-type;host;x-amz-content-sha256;x-amz-date, Signature=0",
                ], body: "Param1=value1") == "d3875051da38690788ef43de4db0d8f280229d82040bfac253562e56c3f20e0b")
    }

    @Test(arguments: [nil, token], ["", #"{"Key":{"pk":{"S":"é \u0000"}}}"#, String(repeating: "x", count: 1 << 20)])
    func libcurlSignsAllThatAWSWantsSigned(token: String?, body: String) throws {
        try LoopbackServer.run { server in
            _ = try HTTPClientTests.client(for: server).send(
                try Self.request(server.url("/"), Self.signing(token: token), body: body))
            let request = try #require(try server.requests().first)
            #expect(request.headers["x-amz-security-token"] == token)
            #expect(request.headers["expect"] == nil)
            #expect(request.body == Data(body.utf8))
            let authorization = try #require(request.headers["authorization"])
            let names = ["content-type", "host", "x-amz-date"] + (token == nil ? [] : ["x-amz-security-token"])
            #expect(authorization.contains("SignedHeaders=\((names + ["x-amz-target"]).joined(separator: ";")),"))
            #expect(authorization.contains("Credential=AKIDEXAMPLE/"))
            #expect(authorization.contains("/eu-west-1/dynamodb/aws4_request,"))
            let signature = try #require(
                try DynamoDBServer.shared.signature(method: "POST", headers: request.headers, body: body))
            #expect(authorization.hasSuffix("Signature=\(signature)"))
        }
    }

    @Test func everyRequestIsSignedWithItsOwnKeysAndTheNextIsNot() throws {
        try DynamoDBServer.shared.know(key: "AKIDOTHER", secret: "other/secret:+", token: nil)
        try LoopbackServer.run { server in
            let client = HTTPClientTests.client(for: server)
            for keys in [Self.signing(), Self.signing(key: "AKIDOTHER", secret: "other/secret:+"), Self.signing()] {
                _ = try client.send(try Self.request(server.url("/"), keys))
            }
            _ = try client.send(try Self.request(server.url("/"), nil))
            let requests = try server.requests()
            #expect(requests.map(\.connection) == [1, 1, 1, 1])
            for request in requests.dropLast() {
                let signature = try #require(
                    try DynamoDBServer.shared.signature(
                        method: "POST", headers: request.headers, body: String(decoding: request.body, as: UTF8.self)))
                #expect(request.headers["authorization"]?.hasSuffix(signature) == true)
            }
            #expect(requests[1].headers["authorization"]?.contains("AKIDOTHER") == true)
            #expect(requests.last?.headers["authorization"] == nil)
            #expect(requests.last?.headers["x-amz-date"] == nil)
        }
    }

    /// What versions of libcurl would sign differently is not signed.
    @Test func aRequestThatCanBeReadInTwoWaysIsRefused() throws {
        let changes: [(inout HTTPRequest) throws -> Void] = [
            { $0.headers.removeFirst() },
            { $0.headers.append(.init("X-Amz-Target", "x")) },
            { $0.headers.append(.init("x-list", "a  b")) },
            { $0.headers.append(.init("x-empty", "")) },
            { $0.headers.append(.init("Host", "example.com")) },
            { $0.headers.append(.init("x-amz-date", "20150830T123600Z")) },
            { $0.body = nil },
            { $0.body = [UInt8](repeating: 0, count: 1 + 1 << 20) },
            { $0.url = try HTTPURL("https://127.0.0.1:1/a%20b") },
            { $0.url = try HTTPURL("https://127.0.0.1:1/?b&a") },
            { $0.signing = Self.signing(secret: "") },
            { $0.signing = Self.signing(token: "canary token") },
            {
                $0.signing = Signing(
                    accessKeyID: "A", secretAccessKey: "canary", sessionToken: nil, region: "eu:west", service: "s")
            },
        ]
        for (index, change) in changes.enumerated() {
            // Nobody listens there: what is refused is refused before.
            var request = try Self.request("https://127.0.0.1:1/", Self.signing())
            try change(&request)
            let error = #expect(throws: HTTPError.self) { try HTTPClient(userAgent: "x").send(request) }
            #expect(error?.code == .request, "\(index)")
            #expect(error?.words.contains("canary") == false)
        }
    }

    @Test func printingItShowsNoSecret() {
        let signing = Self.signing(token: Self.token)
        var dumped = ""
        dump(signing, to: &dumped)
        for text in ["\(signing)", String(reflecting: signing), dumped] {
            #expect(!text.contains(DynamoDBServer.secret) && !text.contains(Self.token))
        }
    }
}
