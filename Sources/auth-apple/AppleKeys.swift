internal import AuthFunction
internal import CurlHTTP
internal import KeyCache

/// Apple's key set as it is fetched: the transport that `KeyCache` is handed.
struct AppleKeys {
    private let url: String
    private let http: AppleHTTP

    init(_ configuration: Configuration, deadline: Deadline = Deadline()) {
        url = configuration.keysURL
        http = AppleHTTP(configuration, deadline: deadline)
    }

    func fetch(entityTag: String?) throws(KeyFetchFailure) -> KeyResponse {
        do throws(HTTPError) {
            var headers = [HTTPRequest.Header("accept", "application/json")]
            if let entityTag { headers.append(HTTPRequest.Header("if-none-match", entityTag)) }
            let response = try http.send(.get, url, headers: headers)
            return KeyResponse(
                status: response.status, cacheControl: response[field: "cache-control"], age: response[field: "age"],
                entityTag: response[field: "etag"], body: response.body)
        } catch {
            throw .noResponse(code: error.code.rawValue, words: error.words)
        }
    }
}
