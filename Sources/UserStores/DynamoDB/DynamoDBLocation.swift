internal import CurlHTTP

/// What follows `dynamodb:` in a store's URL: `TABLE?region=eu-west-1&endpoint=https://…`.
struct DynamoDBLocation {
    let table: String
    let region: String
    let url: HTTPURL

    /// - Parameter isDevelopment: whether the endpoint may be asked by http on this machine.
    init(
        _ text: String, isDevelopment: Bool,
        variable: (String) -> String? = AWSCredentialChain.environment
    ) throws(StoreConfigurationError) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        table = String(parts[0])
        // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html
        guard (3...255).contains(table.utf8.count), table.utf8.allSatisfy(Self.mayStandInName) else {
            throw .invalid(reason: "dynamodb: wants the name of a table, as in dynamodb:auth-apple?region=eu-west-1")
        }
        let values = try Self.parameters(parts.count > 1 ? parts[1] : "")
        guard let region = values["region"] ?? variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION"),
            !region.isEmpty, region.utf8.allSatisfy({ Self.mayStandInName($0) && $0 != UInt8(ascii: ".") })
        else {
            throw .invalid(reason: "dynamodb: wants a region: add ?region=eu-west-1, or set AWS_REGION")
        }
        self.region = region
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        var endpoint = values["endpoint"] ?? "https://dynamodb.\(region).\(domain)"
        if !endpoint.hasSuffix("/") { endpoint += "/" }
        let url = try? HTTPURL(endpoint, allowing: isDevelopment ? .loopback : .httpsOnly)
        guard let url, url.scheme != .file, endpoint.count(where: { $0 == "/" }) == 3 else {
            throw .invalid(
                reason: isDevelopment
                    ? "dynamodb: takes an endpoint that is https://HOST, or http on this machine"
                    : "dynamodb: takes an endpoint that is https://HOST; http on this machine in development only")
        }
        self.url = url
    }

    private static func parameters(_ text: Substring) throws(StoreConfigurationError) -> [String: String] {
        var values: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, ["region", "endpoint"].contains(parts[0]), values[parts[0]] == nil else {
                throw .invalid(reason: "dynamodb: takes region and endpoint, once each, and no other parameter")
            }
            values[parts[0]] = parts[1]
        }
        return values
    }

    private static func mayStandInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
