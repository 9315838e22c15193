#if PostgreSQL
extension String {
    /// Whether `other` is in it, byte by byte. Swift's own `contains` comes with the library of regular expressions: 1.5 MB
    /// more in a static program.
    func holds(_ other: String) -> Bool {
        let (bytes, part) = (Array(utf8), Array(other.utf8))
        guard bytes.count >= part.count else { return false }
        return (0...(bytes.count - part.count)).contains { bytes[$0...].starts(with: part) }
    }
}
#endif
