internal import CurlHTTP
internal import JOSE

/// One table, asked over HTTPS with signed requests. It tries again what may be tried again, for as long as its schedule lasts.
///
/// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.LowLevelAPI.html
final class DynamoDBTable {
    let name: String
    let region: String
    private let url: HTTPURL
    private let credentials: AWSCredentialChain
    private let client: HTTPClient
    /// Of the method of the store that is being carried out.
    var schedule: RetrySchedule

    /// A page has at most 1 MB of values, which JSON and its types make several of.
    private static let largestAnswer = 8 << 20

    init(name: String, region: String, url: HTTPURL, credentials: AWSCredentialChain) {
        self.name = name
        self.region = region
        self.url = url
        self.credentials = credentials
        client = HTTPClient(userAgent: "auth-apple")
        schedule = RetrySchedule(lasting: .zero)
    }

    func close() {
        client.close()
    }

    /// Asks until there is an answer. What was asked before in the same words has the same effect: transactions have a token,
    /// other writes a condition.
    func ask(_ operation: String, _ members: JSON.Object) throws(DynamoDBFailure) -> JSON {
        var members = members
        if members["TableName"] == nil, operation != "BatchGetItem", operation != "BatchWriteItem",
            operation != "TransactWriteItems"
        {
            members["TableName"] = .string(name)
        }
        let body = JSON.object(members).serialized()
        var hasRenewed = false
        while true {
            let refusal: Refusal
            switch send(try request(operation, body)) {
            case .success(let response) where response.status == 200:
                schedule.progress()
                return try Self.parsed(response.body)
            case .success(let response):
                refusal = Refusal(status: response.status, body: response.body, operation: operation, table: name)
            case .failure(let error): refusal = Refusal(error)
            }
            switch refusal {
            case .later(let reason): guard schedule.wait() else { throw .unavailable(reason) }
            case .expired where !hasRenewed:
                hasRenewed = true
                credentials.forget()
            case .expired: throw .unavailable("the AWS credentials have expired: give new ones")
            case .final(let failure): throw failure
            }
        }
    }

    private func send(_ request: HTTPRequest) -> Result<HTTPResponse, HTTPError> {
        do throws(HTTPError) { return .success(try client.send(request)) } catch { return .failure(error) }
    }

    private func request(_ operation: String, _ body: [UInt8]) throws(DynamoDBFailure) -> HTTPRequest {
        let keys = try credentials.current()
        var request = HTTPRequest(
            .post, url,
            headers: [
                .init("content-type", "application/x-amz-json-1.0"),
                .init("x-amz-target", "DynamoDB_20120810.\(operation)"),
            ], body: body)
        request.signing = Signing(
            accessKeyID: keys.accessKeyID, secretAccessKey: keys.secretAccessKey, sessionToken: keys.sessionToken,
            region: region, service: "dynamodb")
        request.limits.connect = .milliseconds(min(1500, schedule.remaining + 1))
        request.limits.total = .milliseconds(schedule.longestAttempt)
        request.limits.bodyBytes = Self.largestAnswer
        return request
    }

    private static func parsed(_ body: [UInt8]) throws(DynamoDBFailure) -> JSON {
        guard let json = try? JSON(parsing: body, limits: JSON.Limits(bytes: largestAnswer)) else {
            throw .unavailable("DynamoDB's answer is no JSON: is something else at this address?")
        }
        return json
    }
}
