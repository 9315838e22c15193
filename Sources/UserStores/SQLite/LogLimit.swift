#if SQLite
internal import SQLiteShim

/// Keeps the write-ahead log short: the commit that makes it this long copies it into the database and cuts it off.
///
/// SQLite's own checkpoint leaves the log's length to the next writer, which begins it anew if it knows that all of it was
/// copied. That is remembered in shared memory only. Where each request is a process and they come one at a time, nobody
/// remembers it: every commit then copied the whole log again and added to it (measured: 125 MB after 5500 sign-ins, each
/// with four syncs in place of one).
struct LogLimit {
    let pages: Int32
    let patience: Patience

    /// The hook of https://sqlite.org/c3ref/wal_hook.html, called after a commit is done. Whatever it returns but SQLITE_OK
    /// would make that commit look failed. Both numbers travel as its context.
    func install(on database: OpaquePointer) {
        let context = Int(pages) << 32 | Int(patience.steps)
        unsafe sqlite3_wal_hook(
            database,
            { context, database, _, length in
                let context = Int(bitPattern: context)
                let limit = LogLimit(
                    pages: Int32(context >> 32), patience: Patience(steps: Int32(context & 0xFFFF_FFFF)))
                if length >= limit.pages, let database = unsafe database { unsafe limit.cut(database) }
                return SQLITE_OK
            }, UnsafeMutableRawPointer(bitPattern: context))
    }

    /// Waits for nobody, as a request is waiting for this process: while others read or write, what can be copied is copied,
    /// and one of them comes by here next.
    private func cut(_ database: OpaquePointer) {
        unsafe patience.suspended(on: database) {
            unsafe sqlite3_wal_checkpoint_v2(database, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        }
    }
}
#endif
