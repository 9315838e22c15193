internal import AuthFunction
internal import CurlHTTP
internal import KeyCache

/// Apple's key set as it is fetched: the transport that `KeyCache` is handed.
struct AppleKeys {
    private let url: String
    private let allowance: HTTPURL.Allowance
    private let client: HTTPClient

    init(_ configuration: Configuration) {
        url = configuration.keysURL
        allowance = Self.allowance(in: configuration.mode)
        client = HTTPClient(
            userAgent: "auth-apple/\(Program.version)", certificateAuthorities: configuration.caBundle)
    }

    /// Why nothing could ever be fetched from `url`; nil when it may be asked.
    static func fault(_ url: String, in mode: Configuration.Mode) -> EdgeJudgement.Fault? {
        do throws(HTTPError) {
            _ = try HTTPURL(url, allowing: allowance(in: mode))
            return nil
        } catch {
            return ("cannot be used (\(error.words))", "correct it, or unset it for Apple's")
        }
    }

    private static func allowance(in mode: Configuration.Mode) -> HTTPURL.Allowance {
        mode == .development ? .loopback : .httpsOnly
    }

    func fetch(entityTag: String?) throws(KeyFetchFailure) -> KeyResponse {
        do throws(HTTPError) {
            var headers = [HTTPRequest.Header("accept", "application/json")]
            if let entityTag { headers.append(HTTPRequest.Header("if-none-match", entityTag)) }
            let response = try client.send(HTTPRequest(.get, try HTTPURL(url, allowing: allowance), headers: headers))
            return KeyResponse(
                status: response.status, cacheControl: response[field: "cache-control"], age: response[field: "age"],
                entityTag: response[field: "etag"], body: response.body)
        } catch {
            throw .noResponse(code: error.code.rawValue, words: error.words)
        }
    }
}
