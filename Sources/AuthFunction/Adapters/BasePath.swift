/// A prefix of the path that belongs to the place where the function is mounted, and not to its routes.
enum BasePath {
    /// Only a whole segment is a prefix: `/prod` is none of `/production`.
    static func strip(_ basePath: String, from path: String) -> String {
        guard !basePath.isEmpty, path.utf8.starts(with: basePath.utf8) else { return path }
        let rest = path.utf8.dropFirst(basePath.utf8.count)
        switch rest.first {
        case nil: return "/"
        case UInt8(ascii: "/"): return String(Substring(rest))
        default: return path
        }
    }
}
