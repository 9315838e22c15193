/// What the server said when it was asked for its keys. Handed in by whoever can ask, so that this room does no network.
package struct KeyResponse: Sendable {
    package var status: Int
    /// `Cache-Control`, as it came.
    package var cacheControl: String?
    /// `Age`, as it came.
    package var age: String?
    /// `ETag`, as it came.
    package var entityTag: String?
    package var body: [UInt8]

    package init(
        status: Int, cacheControl: String? = nil, age: String? = nil, entityTag: String? = nil, body: [UInt8] = []
    ) {
        self.status = status
        self.cacheControl = cacheControl
        self.age = age
        self.entityTag = entityTag
        self.body = body
    }
}

/// Why a fetch brought no key set.
package enum KeyFetchFailure: Error, Hashable, Sendable {
    /// There was no complete answer: the transport's code, and its words for the log.
    case noResponse(code: String, words: String)
    /// Neither 200 nor, when we had keys to compare with, 304.
    case status(Int)
    /// The body is not a JWK set.
    case notKeySet
    /// A JWK set without any key that could verify a token of Apple's.
    case noUsableKey
}

extension KeyFetchFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noResponse(let code, let words): "no response (\(code): \(words))"
        case .status(let status): "status \(status)"
        case .notKeySet: "the body is not a key set"
        case .noUsableKey: "the key set has no usable key"
        }
    }
}
