#if SQLite
internal import Glibc
internal import SQLiteShim

/// An open SQLite database, set up as every transaction here expects it: write-ahead log, `synchronous=FULL`, foreign keys
/// on, and a schema that is data rather than code.
@safe struct Connection: ~Copyable {
    private let handle: OpaquePointer
    private let idle = IdleStatements()

    /// Opens the database; nil when there is no file. SQLite never creates it: `DatabaseFile` does, with the right mode.
    ///
    /// SQLite opens for reading what it cannot open for writing. A file that was not there for the first and that another process had
    /// created by the second would stay read-only, so what is read-only is opened once more.
    static func open(_ path: String, patience: Patience) throws(SQLiteFailure) -> Connection? {
        guard var connection = try opened(path) else { return nil }
        if connection.isReadOnly {
            guard let again = try opened(path) else { return nil }
            connection = again
        }
        try connection.configure(patience)
        return connection
    }

    private static func opened(_ path: String) throws(SQLiteFailure) -> Connection? {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard let handle = unsafe opened else { throw .code(code) }
        guard code == SQLITE_OK else {
            // There is a handle even then, which has to be closed: https://sqlite.org/c3ref/open.html
            let systemError = unsafe sqlite3_system_errno(handle)
            unsafe sqlite3_close_v2(handle)
            if code == SQLITE_CANTOPEN, systemError == ENOENT { return nil }
            throw .code(code, systemError: systemError)
        }
        return unsafe Connection(takingOwnershipOf: handle)
    }

    private var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

    private init(takingOwnershipOf handle: OpaquePointer) {
        unsafe self.handle = unsafe handle
    }

    deinit {
        idle.finalizeAll()
        unsafe sqlite3_close_v2(handle)
    }

    /// Every request may be a process, and the last one to close would copy the log into the database and reset it: two
    /// more syncs for each sign-in. So closing leaves the log alone, and the commit that brings it to 250 pages (1 MB)
    /// copies it (`LogLimit`). A longer log would be copied less often, but the next process that opens the file alone
    /// reads all of it.
    private func configure(_ patience: Patience) throws(SQLiteFailure) {
        unsafe patience.install(on: handle)
        let options = [
            (SQLITE_DBCONFIG_ENABLE_FKEY, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_DEFENSIVE, 1),
            (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1),
        ]
        for (option, value) in options {
            try check(unsafe sqlite_shim_configure(handle, Int32(option), Int32(value)))
        }
        unsafe LogLimit(pages: 250, patience: patience).install(on: handle)
        try useWriteAheadLog(patience)
        try execute("PRAGMA synchronous = FULL")
    }

    /// Said at each opening, not at creation only: a file that came out of a backup (`VACUUM INTO`) has a rollback journal
    /// again, whose last step `synchronous=FULL` does not make durable.
    ///
    /// The change needs the file to itself, and SQLite does not wait for that on its own.
    private func useWriteAheadLog(_ patience: Patience) throws(SQLiteFailure) {
        var waits: Int32 = 0
        while true {
            do throws(SQLiteFailure) {
                if try text("PRAGMA journal_mode") == "wal" { return }
                try refuseAnothers()
                guard try text("PRAGMA journal_mode = WAL") == "wal" else {
                    throw .unavailable("no write-ahead log is possible here: put the file on a local, writable disk")
                }
                return
            } catch {
                guard error.isBusy, patience.wait(after: waits) else { throw error }
                waits += 1
            }
        }
    }

    /// The log is the first change that is made to a file, and stays in it.
    private func refuseAnothers() throws(SQLiteFailure) {
        try execute("BEGIN")
        defer { rollBack() }
        _ = try schemaVersion()
    }

    /// A statement, whose text is the program's own: a value can only be bound.
    func prepare(_ sql: StaticString) throws(SQLiteFailure) -> Statement {
        if let statement = unsafe idle.take(sql) {
            return unsafe Statement(takingOwnershipOf: statement, of: sql, until: idle)
        }
        var prepared: OpaquePointer?
        try check(
            unsafe sqlite3_prepare_v2(
                handle, UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self),
                Int32(sql.utf8CodeUnitCount),
                &prepared, nil))
        guard let statement = unsafe prepared else { throw .code(SQLITE_MISUSE) }
        return unsafe Statement(takingOwnershipOf: statement, of: sql, until: idle)
    }

    /// Runs one statement that gives no rows.
    func execute(_ sql: StaticString, _ values: [SQLValue] = []) throws(SQLiteFailure) {
        var statement = try prepare(sql)
        try statement.bind(values)
        while try statement.step() {}
    }

    /// Runs the statements of a schema, one after the other.
    func executeAll(_ sql: StaticString) throws(SQLiteFailure) {
        idle.finalizeAll()
        try check(
            unsafe sqlite3_exec(
                handle, UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self), nil, nil, nil))
    }

    /// The integer in the first column of the first row. The statement is run to its end: what it changes is committed by
    /// its last step and not by the first, and only there is it seen to fail.
    func integer(_ sql: StaticString, _ values: [SQLValue] = []) throws(SQLiteFailure) -> Int64? {
        var statement = try prepare(sql)
        try statement.bind(values)
        guard try statement.step() else { return nil }
        let integer = statement.integer(0)
        while try statement.step() {}
        return integer
    }

    /// The text in the first column of the first row, of a statement that is run to its end.
    func text(_ sql: StaticString) throws(SQLiteFailure) -> String? {
        var statement = try prepare(sql)
        guard try statement.step() else { return nil }
        let text = try statement.text(0)
        while try statement.step() {}
        return text
    }

    /// Runs `body` with commits that are whole and in order, but may be lost with the power
    /// (https://sqlite.org/pragma.html#pragma_synchronous, NORMAL). Never inside a transaction. After a failure the
    /// connection is not to be used again: it may still be one that does not sync.
    func withoutSync<Result>(
        _ body: (borrowing Connection) throws(SQLiteFailure) -> Result
    ) throws(SQLiteFailure) -> Result {
        try execute("PRAGMA synchronous = NORMAL")
        let result = try body(self)
        try execute("PRAGMA synchronous = FULL")
        return result
    }

    /// How many rows the last INSERT, UPDATE or DELETE changed.
    var changes: Int {
        unsafe Int(sqlite3_changes(handle))
    }

    /// Ends a transaction that failed. SQLite may have ended it by itself: https://sqlite.org/c3ref/get_autocommit.html
    func rollBack() {
        guard unsafe sqlite3_get_autocommit(handle) == 0 else { return }
        try? execute("ROLLBACK")
    }

    /// Whether the path no longer leads to this file, because somebody moved, removed or restored it. What would be written
    /// now would be lost.
    var hasMoved: Bool {
        var moved: Int32 = 0
        let code = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return code == SQLITE_OK && moved != 0
    }

    private func check(_ code: Int32) throws(SQLiteFailure) {
        guard code == SQLITE_OK else { throw unsafe .code(code, systemError: sqlite3_system_errno(handle)) }
    }
}
#endif
