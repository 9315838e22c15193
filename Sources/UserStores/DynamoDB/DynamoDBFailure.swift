internal import CurlHTTP
internal import JOSE

/// Why something was not done.
enum DynamoDBFailure: Error {
    /// Somebody else wrote meanwhile: what was decided has to be read and decided again.
    ///
    /// - Parameters:
    ///   - failed: which writes of a transaction had a condition that did not hold.
    ///   - found: of a write alone, the item as it is.
    case conflict(failed: [Int] = [], found: Item? = nil)
    case noTable
    case unavailable(String)
    case unusable(String)

    static let damaged = DynamoDBFailure.unusable("an item is damaged: restore the table to a point in time before")
}

/// What DynamoDB's refusals mean for us. Their own text is never repeated: that of a wrong signature quotes the request.
///
/// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
enum Refusal {
    /// Nothing was done, and it may be in a moment.
    case later(String)
    /// The credentials are past their time.
    case expired
    case final(DynamoDBFailure)

    init(status: Int, body: [UInt8], operation: String, table: String) {
        let json = try? JSON(parsing: body, limits: JSON.Limits(bytes: 1 << 20))
        // `com.amazonaws.dynamodb.v20120810#Name`, or the name alone.
        let type = json?["__type"]?.string?.split(separator: "#").last.map(String.init)
        let name = type.map { $0.filter { $0.isASCII && $0.isLetter } } ?? "status \(status)"
        switch name {
        case "ConditionalCheckFailedException":
            self = .final(.conflict(found: json?["Item"].flatMap { Item($0) }))
        case "TransactionCanceledException":
            self = Self.canceled(json?["CancellationReasons"]?.array?.map { $0["Code"]?.string ?? "None" } ?? [])
        case "TransactionConflictException": self = .final(.conflict())
        case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded",
            "LimitExceededException", "TransactionInProgressException", "ReplicatedWriteConflictException":
            self = .later("DynamoDB refuses for now (\(name)): give the table more capacity")
        case "ResourceNotFoundException": self = .final(.noTable)
        case "ResourceInUseException": self = .final(.conflict())
        case "ExpiredTokenException", "ExpiredToken": self = .expired
        case "AccessDeniedException":
            self = .final(
                .unavailable("the role may not \(operation): give it the policy of deploy/dynamodb (\(name))"))
        case "UnrecognizedClientException", "MissingAuthenticationTokenException", "InvalidClientTokenId":
            self = .final(.unavailable("AWS does not know the credentials (\(name)): give others"))
        case "InvalidSignatureException", "IncompleteSignatureException":
            self = .final(
                .unavailable("AWS does not believe the signature (\(name)): check the secret key and the clock"))
        default:
            self =
                status >= 500 || status == 429
                ? .later("DynamoDB is not well (\(name))")
                : .final(.unusable("DynamoDB refuses \(operation) (\(name))"))
        }
    }

    /// There was no answer. What was asked may have been done all the same.
    init(_ error: HTTPError) {
        switch error.code {
        case .connect, .timeout, .transfer: self = .later("DynamoDB cannot be reached (\(error.words))")
        case .library, .url, .request, .tls, .tooLarge:
            self = .final(.unavailable("DynamoDB cannot be asked (\(error.words))"))
        }
    }

    /// One code a write, in their order; `None` for those that are not to blame.
    private static func canceled(_ codes: [String]) -> Refusal {
        let failed = codes.indices.filter { codes[$0] == "ConditionalCheckFailed" }
        if !failed.isEmpty { return .final(.conflict(failed: failed)) }
        if codes.contains("TransactionConflict") { return .final(.conflict()) }
        let other = codes.first { $0 != "None" }.map { $0.filter { $0.isASCII && $0.isLetter } } ?? "no reason"
        return ["ThrottlingError", "ProvisionedThroughputExceeded"].contains(other)
            ? .later("DynamoDB refuses for now (\(other)): give the table more capacity")
            : .final(.unusable("DynamoDB cancels the transaction (\(other))"))
    }
}
