package import JOSE

/// What is left to do at Apple when an answer is written: it takes a while, and the client need not wait for it. What is not
/// done, because the process dies, is done at the next occasion.
package enum Errand: Sendable {
    /// Get Apple's refresh token for the code that came with a sign-in.
    case exchange(AuthorizationCode)
    /// Tell Apple of grants that are to be revoked.
    case revoke
}

/// Apple's authorization code (good once, for five minutes), and whose it is said to be. It does not show when printed.
package struct AuthorizationCode: Sendable, CustomStringConvertible, CustomReflectable {
    package let code: SecretBytes
    package let accountID: UUIDv7
    /// The `sub` of the token that it came with: a code of somebody else's is not kept.
    package let subject: String
    /// The client id that the token's `aud` names: no other can exchange it.
    package let clientID: String
    /// What was in the request to Apple; nil for native codes, which have none.
    package let redirectURI: String?

    package init(
        code: SecretBytes, accountID: UUIDv7, subject: String, clientID: String, redirectURI: String? = nil
    ) {
        self.code = code
        self.accountID = accountID
        self.subject = subject
        self.clientID = clientID
        self.redirectURI = redirectURI
    }

    package var description: String { "<authorization code>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
