package import CurlHTTP
package import KeyCache

extension HTTPClient {
    /// Joins the two rooms as `auth-apple` does.
    package func fetchKeys(from url: HTTPURL, entityTag: String?) throws(KeyFetchFailure) -> KeyResponse {
        let headers = entityTag.map { [HTTPRequest.Header("If-None-Match", $0)] } ?? []
        do {
            let response = try send(HTTPRequest(.get, url, headers: headers))
            return KeyResponse(
                status: response.status, cacheControl: response[field: "cache-control"], age: response[field: "age"],
                entityTag: response[field: "etag"], body: response.body)
        } catch {
            throw .noResponse(code: error.code.rawValue, words: error.words)
        }
    }
}
