internal import CurlHTTP
internal import Glibc
internal import JOSE

/// Finds the credentials where the AWS SDKs do, in their order: the environment, the container's endpoint, the instance's. They
/// are remembered until shortly before they end.
///
/// Files and single sign-on are left out: a function has neither. Of the instance's endpoint only the second version is asked,
/// which a request that was tricked out of somebody cannot use.
/// https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
final class AWSCredentialChain {
    private let variable: (String) -> String?
    private let client = HTTPClient(userAgent: "auth-apple")
    private var found: AWSCredentials?

    init(variable: @escaping (String) -> String? = AWSCredentialChain.environment) {
        self.variable = variable
    }

    static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }

    func current() throws(DynamoDBFailure) -> AWSCredentials {
        if let found, found.isGood(at: Self.now()) { return found }
        let new = try find()
        found = new
        return new
    }

    /// AWS said that they have expired.
    func forget() { found = nil }

    private func find() throws(DynamoDBFailure) -> AWSCredentials {
        if let keys = AWSCredentials(
            accessKeyID: variable("AWS_ACCESS_KEY_ID"), secretAccessKey: variable("AWS_SECRET_ACCESS_KEY"),
            sessionToken: variable("AWS_SESSION_TOKEN"))
        {
            return keys
        }
        if let path = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            return try container("http://169.254.170.2\(path)")
        }
        if let url = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") { return try container(url) }
        guard variable("AWS_EC2_METADATA_DISABLED")?.lowercased() != "true" else { throw Self.none }
        return try instance(variable("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? "http://169.254.169.254")
    }

    private static let none = DynamoDBFailure.unavailable(
        "there are no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role")

    // MARK: The container's endpoint

    /// https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html
    private func container(_ url: String) throws(DynamoDBFailure) -> AWSCredentials {
        let hosts = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"]
        var headers: [HTTPRequest.Header] = []
        if let token = try authorization() { headers.append(.init("authorization", token)) }
        let body = try fetch(.get, try Self.url(url, plainHosts: hosts), headers, from: "the container's endpoint")
        guard let keys = AWSCredentials(body) else { throw Self.unreadable("the container's endpoint") }
        return keys
    }

    /// From the file anew each time, as it is replaced.
    private func authorization() throws(DynamoDBFailure) -> String? {
        guard let path = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") else {
            return variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .unavailable("the file that AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names cannot be read")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe read(descriptor, buffer.baseAddress, buffer.count)
        }
        guard count > 0, count < bytes.count else {
            throw .unavailable("the file that AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE names holds no token")
        }
        return String(decoding: bytes[..<count], as: UTF8.self).filter { !$0.isNewline }
    }

    // MARK: The instance's endpoint

    /// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
    private func instance(_ endpoint: String) throws(DynamoDBFailure) -> AWSCredentials {
        let hosts = ["169.254.169.254", "[fd00:ec2::254]"]
        let name = "the instance's endpoint"
        let base = (endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint) + "/latest/"
        let address = { (path: String) throws(DynamoDBFailure) in try Self.url(base + path, plainHosts: hosts) }
        let token = try fetch(
            .put, try address("api/token"), [.init("x-aws-ec2-metadata-token-ttl-seconds", "300")], from: name)
        let headers = [HTTPRequest.Header("x-aws-ec2-metadata-token", String(decoding: token, as: UTF8.self))]
        let folder = "meta-data/iam/security-credentials/"
        let role = try fetch(.get, try address(folder), headers, from: name)
        let first = role.prefix { $0 != UInt8(ascii: "\n") }
        let body = try fetch(.get, try address(folder + String(decoding: first, as: UTF8.self)), headers, from: name)
        guard let keys = AWSCredentials(body) else { throw Self.unreadable(name) }
        return keys
    }

    // MARK: Both

    /// Plain HTTP is for this machine, and for the addresses that the machine below answers at.
    private static func url(_ text: String, plainHosts: [String]) throws(DynamoDBFailure) -> HTTPURL {
        for host in plainHosts {
            let allowed = try? HTTPURL(text, allowing: .runtime(authority: host))
            if let allowed { return allowed }
        }
        guard let url = try? HTTPURL(text, allowing: .loopback), url.scheme != .file else {
            throw .unusable(
                "credentials may be asked for by https, or by http on this machine and at AWS's own addresses")
        }
        return url
    }

    private func fetch(
        _ method: HTTPRequest.Method, _ url: HTTPURL, _ headers: [HTTPRequest.Header], from name: String
    ) throws(DynamoDBFailure) -> [UInt8] {
        var request = HTTPRequest(method, url, headers: headers)
        request.limits.connect = .seconds(1)
        request.limits.total = .seconds(2)
        do throws(HTTPError) {
            let response = try client.send(request)
            guard response.status == 200 else {
                throw HTTPError(.transfer, "status \(response.status)")
            }
            return response.body
        } catch {
            throw .unavailable("\(name) gives no credentials (\(error.words)): \(Self.remedy)")
        }
    }

    private static let remedy = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role"

    private static func unreadable(_ name: String) -> DynamoDBFailure {
        .unavailable("\(name) answers with something else than credentials")
    }

    private static func now() -> UnixTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
