/// A prefix of the path that belongs to the place where the function is mounted, and not to its routes.
enum BasePath {
    /// Only a whole segment is a prefix: `/prod` is none of `/production`.
    static func strip(_ basePath: String, from path: String) -> String {
        guard !basePath.isEmpty, path.hasPrefix(basePath) else { return path }
        let rest = path.dropFirst(basePath.count)
        return rest.isEmpty ? "/" : rest.hasPrefix("/") ? String(rest) : path
    }
}
