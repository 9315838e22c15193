#if SQLite
internal import SQLiteShim

/// The statements of one connection that nobody uses at the moment, for whoever prepares the same text again. Whoever
/// takes one finds it as new: reset, and with nothing bound.
///
/// When another process has changed the schema, SQLite compiles them anew by itself: https://sqlite.org/c3ref/prepare.html
@safe final class IdleStatements {
    @safe private struct Entry {
        let sql: StaticString
        let handle: OpaquePointer
    }

    private var idle: [Entry] = []

    deinit {
        finalizeAll()
    }

    /// Texts are told apart by where they are in the program: each ends in a NUL, so no two begin at one place.
    func take(_ sql: StaticString) -> OpaquePointer? {
        guard let index = idle.firstIndex(where: { unsafe $0.sql.utf8Start == sql.utf8Start }) else { return nil }
        return unsafe idle.remove(at: index).handle
    }

    /// Keeps a statement, unless it is a PRAGMA: some of those do their work while they are compiled
    /// (https://sqlite.org/pragma.html). SQLite 3.40 does compile each anew, but that is nowhere promised.
    func keep(_ handle: OpaquePointer, of sql: StaticString) {
        guard !sql.withUTF8Buffer({ unsafe $0.starts(with: "PRAGMA".utf8) }) else {
            unsafe sqlite3_finalize(handle)
            return
        }
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
        idle.append(unsafe Entry(sql: sql, handle: handle))
    }

    func finalizeAll() {
        while let entry = idle.popLast() { unsafe sqlite3_finalize(entry.handle) }
    }
}
#endif
