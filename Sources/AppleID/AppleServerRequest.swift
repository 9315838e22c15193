/// One request to Apple's server API: a form by POST. It holds secrets, and does not show them when printed.
package struct AppleServerRequest: Sendable, CustomStringConvertible, CustomReflectable {
    package let url: String
    /// For `Authorization: Bearer`, which only the migration of users wants.
    package let bearer: String?
    /// application/x-www-form-urlencoded.
    package let form: [UInt8]

    package var description: String { "<request to Apple>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A complete answer, of whatever status. It may hold tokens, and does not show them when printed.
package struct AppleServerAnswer: Sendable, CustomStringConvertible, CustomReflectable {
    package let status: Int
    package let body: [UInt8]

    package init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }

    package var description: String { "<answer of Apple, status \(status)>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why there was no complete answer.
package struct NoAppleServerAnswer: Error, Hashable {
    /// The transport's word for it.
    package let code: String
    /// For the log: names the host at most.
    package let words: String

    package init(code: String, words: String) {
        self.code = code
        self.words = words
    }
}
