package import JOSE

/// An HTTP response before a doorway gives it its shape.
package struct Response: Sendable {
    package var status: Int
    package var headers: Headers
    package var body: [UInt8]

    package init(status: Int, headers: Headers = Headers(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A JSON answer. Browsers are told to believe the type and nothing else (CVE-2020-24553).
    package init(status: Int, json: JSON, type: String = "application/json", headers: Headers = Headers()) {
        self.status = status
        self.headers = ["content-type": type, "x-content-type-options": "nosniff"]
        for field in headers.fields { self.headers.append(field.name, field.value) }
        body = json.serialized()
    }
}
