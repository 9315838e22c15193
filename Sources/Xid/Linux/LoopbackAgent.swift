#if os(Linux)
package import FoundationEssentials

/// The browser on Linux: the system's, with a loopback redirect (RFC 8252 §7.3).
///
/// For each visit a listener on 127.0.0.1, on a port of the system's choosing unless the callback names one, that takes one redirect
/// and closes. A redirect URI of another kind cannot be caught here.
package struct LoopbackAgent: BrowserAgent {
    private let open: @Sendable (URL) throws -> Void
    private let seconds: Int64

    /// - Parameters:
    ///   - open: shows a page in the person's browser; nil for xdg-open. It gets an address on this machine that leads to the
    ///     provider, once: so what belongs to the sign-in is in no argument list that others can read.
    ///   - seconds: how long to wait for the redirect.
    package init(open: (@Sendable (URL) throws -> Void)? = nil, seconds: Int64 = 600) {
        self.open = open ?? { try SystemBrowser.open($0) }
        self.seconds = seconds
    }

    package func prepare(callback: URL?, isEphemeral: Bool) async throws(BrowserFailure) -> any BrowserVisit {
        guard let address = LoopbackAddress(callback), let listener = LoopbackListener(port: address.port) else {
            throw .cannotStart
        }
        return LoopbackVisit(address: address, listener: listener, seconds: seconds, open: open)
    }
}

/// The parts of a loopback redirect URI. Where there is none, only the way to the browser is needed, and any address will do.
struct LoopbackAddress {
    let host: String
    /// Zero: of the system's choosing.
    let port: UInt16
    let path: String
    let isCallback: Bool

    init?(_ callback: URL?) {
        isCallback = callback != nil
        let text = callback?.absoluteString ?? "http://127.0.0.1/"
        guard text.hasPrefix("http://"), !text.contains("?"), !text.contains("#") else { return nil }
        let rest = text.dropFirst("http://".count)
        let authority = rest.prefix { $0 != "/" }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        // `localhost` may be resolved to ::1, where nobody would listen.
        guard parts.count <= 2, parts[0] == "127.0.0.1" else { return nil }
        guard let port = parts.count == 2 ? UInt16(parts[1]) : 0 else { return nil }
        host = String(parts[0])
        self.port = port
        let path = rest.dropFirst(authority.count)
        self.path = path.isEmpty ? "/" : String(path)
    }
}
#endif
