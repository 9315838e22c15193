#if PostgreSQL
internal import PostgreSQLShim

/// libpq, opened when the process first needs a database and never closed.
enum PostgreSQLLibrary {
    /// Nil when it is not installed, or older than 14.
    nonisolated(unsafe) static let opened: UnsafePointer<PostgreSQLShimLibrary>? = {
        let library = UnsafeMutablePointer<PostgreSQLShimLibrary>.allocate(capacity: 1)
        guard unsafe postgresql_shim_open(library) else {
            unsafe library.deallocate()
            return nil
        }
        return unsafe UnsafePointer(library)
    }()
}
#endif
