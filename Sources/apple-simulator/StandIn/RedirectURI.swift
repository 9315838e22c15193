/// Where an answer may be sent: `https` with a host and no fragment, as Apple wants it; and, because this is for development,
/// `http` to this machine, which Apple refuses.
enum RedirectURI {
    static let rule = "https://…, or http:// on localhost or 127.0.0.1, without a fragment"
    static let regla = "https://…, o http:// en localhost o 127.0.0.1, sin fragmento"

    static func isAllowed(_ text: String) -> Bool {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.utf8.contains(where: { ##""#<>\^`{|}"##.utf8.contains($0) })
        else { return false }
        for (scheme, isLocal) in [("https://", false), ("http://", true)] where text.hasPrefix(scheme) {
            let authority = text.dropFirst(scheme.count).prefix { !"/?".contains($0) }
            guard !authority.isEmpty, !authority.contains("@") else { return false }
            let host = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
            return !isLocal || host == "localhost" || host == "127.0.0.1" || host == "[::1]"
        }
        return false
    }
}
