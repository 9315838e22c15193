/// How long things live, in seconds.
package struct SessionPolicy: Sendable {
    /// A refresh token that is not used.
    package var refreshTokenSeconds: Int64
    /// A session, however often it is used.
    package var sessionSeconds: Int64
    /// How long after its use a refresh token gets the same successor again, for the client whose answer was lost.
    package var graceSeconds: Int64

    package init(refreshTokenSeconds: Int64 = 2_592_000, sessionSeconds: Int64 = 31_536_000, graceSeconds: Int64 = 10) {
        self.refreshTokenSeconds = refreshTokenSeconds
        self.sessionSeconds = sessionSeconds
        self.graceSeconds = graceSeconds
    }
}
