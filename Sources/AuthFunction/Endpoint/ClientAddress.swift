/// Whose address a request has.
///
/// The runtime knows who opened the connection. Where that is a proxy of ours, the proxy has written the client's address at
/// the end of X-Forwarded-For; what stands before it, the client may have written itself. So entries are counted from the
/// end, and only as many are believed as there are proxies of ours.
struct ClientAddress {
    /// How many proxies of ours, each adding an entry, stand before the function's own web server.
    let trustedProxies: Int

    func of(_ request: Request) -> String? {
        guard trustedProxies > 0, let header = request.headers["x-forwarded-for"] else {
            return request.context.sourceAddress
        }
        let entries = header.utf8.split(separator: UInt8(ascii: ",")).map { entry in
            String(decoding: entry.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        }
        guard entries.count >= trustedProxies else { return request.context.sourceAddress }
        return Self.address(entries[entries.count - trustedProxies])?.description ?? request.context.sourceAddress
    }

    /// An entry's address. Some proxies write the client's port behind it, Azure's do: `192.0.2.1:443`, `[2001:db8::1]:443`.
    private static func address(_ entry: String) -> IPAddress? {
        if let address = IPAddress(entry) { return address }
        let isBracketed = entry.hasPrefix("[")
        let host = isBracketed ? entry.dropFirst().prefix { $0 != "]" } : entry.prefix { $0 != ":" }
        var rest = entry[host.endIndex...]
        if isBracketed, rest.popFirst() != "]" { return nil }
        let isPort =
            rest.first == ":" && (1...5).contains(rest.utf8.count - 1)
            && rest.utf8.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return rest.isEmpty || isPort ? IPAddress(String(host)) : nil
    }
}
