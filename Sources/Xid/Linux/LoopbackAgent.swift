#if os(Linux)
package import FoundationEssentials

/// The browser on Linux: a loopback redirect (RFC 8252 §7.3).
package struct LoopbackAgent: BrowserAgent {
    /// - Parameter open: shows a page in the person's browser; nil for xdg-open. It gets an address on this machine that leads to the
    ///   provider once, so that what belongs to the sign-in is in no argument list.
    package init(open: (@Sendable (URL) throws -> Void)? = nil) {}

    package func prepare(callback: URL?, isEphemeral: Bool) async throws(BrowserFailure) -> any BrowserVisit {
        throw .cannotStart
    }
}
#endif
