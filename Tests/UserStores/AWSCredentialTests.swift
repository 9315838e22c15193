import Accounts
import CurlHTTP
import Foundation
import JOSE
import TestSupport
import Testing

@testable import UserStores

/// Where credentials are looked for, in which order, and for how long they are believed.
@Suite(.enabled(if: DynamoDBServer.isInstalled, "needs Tests/tools.sh"), .serialized) struct AWSCredentialTests {
    private static let server = try? DynamoDBServer()

    private func chain(_ variables: [String: String]) -> AWSCredentialChain {
        AWSCredentialChain { variables[$0] }
    }

    private func answer(expiringIn seconds: TimeInterval) -> [String: String] {
        let end = Date(timeIntervalSinceNow: seconds).formatted(.iso8601)
        return [
            "AccessKeyId": "AKIDROLE", "SecretAccessKey": "canary-secret", "Token": "canary-token", "Expiration": end,
        ]
    }

    @Test func theEnvironmentComesFirst() throws {
        let keys = try chain([
            "AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "T",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1/",
        ]).current()
        #expect(keys.accessKeyID == "A" && keys.secretAccessKey == "S" && keys.sessionToken == "T")
        let plain = try chain(["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"]).current()
        #expect(plain.sessionToken == nil)
    }

    @Test(arguments: [true, false])
    func theContainersEndpointIsAskedWithItsToken(isFile: Bool) throws {
        let server = try #require(Self.server)
        try server.endpoint(wants: ["authorization": "canary-pod"], says: answer(expiringIn: 3600))
        try withFolder { folder in
            try Data("canary-pod\n".utf8).write(to: URL(filePath: "\(folder)/token"))
            var variables = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(server.port)/credentials"]
            variables[isFile ? "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE" : "AWS_CONTAINER_AUTHORIZATION_TOKEN"] =
                isFile ? "\(folder)/token" : "canary-pod"
            let chain = chain(variables)
            _ = try server.log()
            for _ in 0..<3 {
                let keys = try chain.current()
                #expect(keys.accessKeyID == "AKIDROLE" && keys.sessionToken == "canary-token")
                #expect(!"\(keys)".contains("canary") && !String(reflecting: keys).contains("canary"))
            }
            #expect(try server.log().log.map(\.operation) == ["GET /credentials"], "they are remembered")
            chain.forget()
            _ = try chain.current()
            #expect(try server.log().log.count == 1)
        }
        let error = #expect(throws: DynamoDBFailure.self) {
            try chain(["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(server.port)/credentials"]).current()
        }
        #expect("\(String(describing: error))".contains("status 401"))
    }

    @Test func theInstancesEndpointIsAskedInItsSecondVersionOnly() throws {
        let server = try #require(Self.server)
        try server.endpoint(wants: ["x-aws-ec2-metadata-token": "instance-token"], says: answer(expiringIn: 3600))
        _ = try server.log()
        let keys = try chain(["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(server.port)"]).current()
        #expect(keys.accessKeyID == "AKIDROLE" && keys.secretAccessKey == "canary-secret")
        let folder = "/latest/meta-data/iam/security-credentials/"
        #expect(
            try server.log().log.map(\.operation)
                == ["PUT /latest/api/token", "GET \(folder)", "GET \(folder)role-name"])
    }

    /// Five minutes before they end.
    @Test(arguments: [(200.0, 2), (400.0, 1)])
    func theyAreRenewedBeforeTheyEnd(seconds: Double, fetches: Int) throws {
        let server = try #require(Self.server)
        try server.endpoint(wants: [:], says: answer(expiringIn: seconds))
        let chain = chain(["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(server.port)/credentials"])
        _ = try server.log()
        for _ in 0..<2 { _ = try chain.current() }
        #expect(try server.log().log.count == fetches)
    }

    @Test(arguments: [
        "http://example.com/credentials", "http://169.254.169.253/", "http://10.0.0.1/", "file:///etc/passwd", "x",
        "http://169.254.170.2.example.com/", "http://169.254.170.2@example.com/",
    ])
    func nobodyElseIsAskedForThemOverPlainHTTP(url: String) throws {
        for name in ["AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_EC2_METADATA_SERVICE_ENDPOINT"] {
            let error = #expect(throws: DynamoDBFailure.self) { try chain([name: url]).current() }
            guard case .unusable? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test(arguments: [
        [:], ["AccessKeyId": "A"],
        ["AccessKeyId": "A", "SecretAccessKey": "canary", "Token": "t", "Expiration": "soon"],
        ["Code": "Failed", "Message": "canary"],
    ])
    func whatIsNoAnswerIsNotBelieved(body: [String: String]) throws {
        let server = try #require(Self.server)
        try server.endpoint(wants: [:], says: body)
        let error = #expect(throws: DynamoDBFailure.self) {
            try chain(["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(server.port)/credentials"]).current()
        }
        #expect(!"\(String(describing: error))".contains("canary"))
    }

    @Test func whereThereAreNoneItIsSaidHowToGiveThem() throws {
        let store = try DynamoDBUserStore(
            location: "table?region=eu-west-1&endpoint=http://127.0.0.1:1", isDevelopment: true, patience: .seconds(1)
        ) { ["AWS_EC2_METADATA_DISABLED": "true"][$0] }
        let error = #expect(throws: StoreError.self) { try store.signIn(person("1")) { login(of: $0) } }
        guard case .unavailable(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("AWS_ACCESS_KEY_ID"))
    }

    @Test func theRegionMayComeFromTheEnvironment() throws {
        let location = try DynamoDBLocation("auth-apple", isDevelopment: false) { ["AWS_REGION": "eu-south-2"][$0] }
        #expect(location.region == "eu-south-2")
        #expect(location.url.text == "https://dynamodb.eu-south-2.amazonaws.com/")
        let china = try DynamoDBLocation("auth-apple?region=cn-north-1", isDevelopment: false) { _ in nil }
        #expect(china.url.text == "https://dynamodb.cn-north-1.amazonaws.com.cn/")
        #expect(throws: StoreConfigurationError.self) {
            try DynamoDBLocation("auth-apple", isDevelopment: false) { _ in nil }
        }
    }

    /// A role's keys have a session token, which AWS wants to see, signed; and when they have expired, there are new ones.
    @Test func expiredKeysAreFetchedAnewAndTheRequestIsMadeAgain() throws {
        let server = try #require(Self.server)
        try server.endpoint(wants: [:], says: answer(expiringIn: 3600))
        try server.know(key: "AKIDROLE", secret: "canary-secret", token: "canary-token")
        try server.withTable { url in
            let variables = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(server.port)/credentials"]
            let store = try DynamoDBUserStore(
                location: String(url.dropFirst("dynamodb:".count)), isDevelopment: true, patience: .seconds(5)
            ) { variables[$0] }
            #expect(try store.signIn(person("1")) { login(of: $0) }.isNew)
            try server.know(key: "AKIDROLE", secret: "canary-secret", token: "canary-token", isExpired: true)
            let error = #expect(throws: StoreError.self) { try store.signIn(person("1")) { login(of: $0) } }
            #expect("\(String(describing: error))".contains("expired"))
            try server.know(key: "AKIDNEW", secret: "new-secret", token: "new-token")
            var body = answer(expiringIn: 3600)
            (body["AccessKeyId"], body["SecretAccessKey"], body["Token"]) = ("AKIDNEW", "new-secret", "new-token")
            try server.endpoint(wants: [:], says: body)
            _ = try server.log()
            #expect(try !store.signIn(person("1")) { login(of: $0) }.isNew)
            let log = try server.log().log
            #expect(log.prefix(3).map(\.operation) == ["BatchGetItem", "GET /credentials", "BatchGetItem"])
            #expect(log[0].refusal == "ExpiredTokenException" && log[2].refusal == nil)
        }
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-11-30T12:34:56Z", 1_796_042_096), ("2000-02-29T23:59:59.123Z", 951_868_799),
        ("2024-03-01T00:00:00Z", 1_709_251_200),
    ])
    func timesAreReadByTheCalendar(text: String, seconds: Int64) {
        #expect(AWSCredentials.time(text)?.seconds == seconds)
    }

    @Test(arguments: ["", "2026-11-30", "2026-13-30T12:34:56Z", "2026-11-30 12:34:56Z", "2026-11-30T12:34:56+01:00"])
    func whatIsNoTimeIsNone(text: String) {
        #expect(AWSCredentials.time(text) == nil)
    }
}
