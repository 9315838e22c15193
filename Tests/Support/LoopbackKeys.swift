package import CurlHTTP
package import KeyCache

extension HTTPClient {
    /// Joins the two rooms as `auth-apple` does.
    package func fetchKeys(
        from url: HTTPURL, entityTag: String?, total: Duration = .seconds(5)
    ) throws(KeyFetchFailure) -> KeyResponse {
        let headers = entityTag.map { [HTTPRequest.Header("If-None-Match", $0)] } ?? []
        var request = HTTPRequest(.get, url, headers: headers)
        request.limits.total = total
        do {
            let response = try send(request)
            return KeyResponse(
                status: response.status, cacheControl: response[field: "cache-control"], age: response[field: "age"],
                entityTag: response[field: "etag"], body: response.body)
        } catch {
            throw .noResponse(code: error.code.rawValue, words: error.words)
        }
    }
}
