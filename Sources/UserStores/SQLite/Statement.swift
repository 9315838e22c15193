#if SQLite
internal import Accounts
internal import JOSE
internal import SQLiteShim

/// A value to bind. Its text never becomes part of a statement.
enum SQLValue {
    case integer(Int64?)
    case text(String?)
    case blob([UInt8]?)
}

/// A prepared statement, in use. Its connection keeps it for the next one who has the same text.
@safe struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let sql: StaticString
    private let idle: IdleStatements

    init(takingOwnershipOf handle: OpaquePointer, of sql: StaticString, until idle: IdleStatements) {
        self.sql = sql
        self.idle = idle
        unsafe self.handle = unsafe handle
    }

    deinit {
        unsafe idle.keep(handle, of: sql)
    }

    /// Binds `values` to ?1, ?2, … SQLite copies them. Lengths are given in bytes, so a NUL is a character like any other.
    mutating func bind(_ values: [SQLValue]) throws(SQLiteFailure) {
        for (index, value) in values.enumerated() {
            let place = Int32(index + 1)
            let code: Int32
            switch value {
            case .integer(nil), .text(nil), .blob(nil):
                code = unsafe sqlite3_bind_null(handle, place)
            case .integer(let integer?):
                code = unsafe sqlite3_bind_int64(handle, place, integer)
            case .text(var text?):
                code = text.withUTF8 { utf8 in
                    unsafe utf8.withMemoryRebound(to: CChar.self) { characters in
                        unsafe sqlite3_bind_text64(
                            handle, place, characters.baseAddress, UInt64(characters.count),
                            sqlite_shim_transient(), UInt8(SQLITE_UTF8))
                    }
                }
            case .blob(let bytes?):
                code = unsafe bytes.withUnsafeBytes { buffer in
                    unsafe sqlite3_bind_blob64(
                        handle, place, buffer.baseAddress, UInt64(buffer.count), sqlite_shim_transient())
                }
            }
            guard code == SQLITE_OK else { throw .code(code) }
        }
    }

    /// Whether there is another row. After false the statement can be bound and run again.
    mutating func step() throws(SQLiteFailure) -> Bool {
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE:
            unsafe sqlite3_reset(handle)
            return false
        default:
            let systemError = unsafe sqlite3_system_errno(sqlite3_db_handle(handle))
            unsafe sqlite3_reset(handle)
            throw .code(code, systemError: systemError)
        }
    }

    func integer(_ column: Int32) -> Int64? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(handle, column)
    }

    /// Nil for NULL. Text that is not UTF-8 was not written by us.
    func text(_ column: Int32) throws(SQLiteFailure) -> String? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT else { return nil }
        guard let start = unsafe sqlite3_column_text(handle, column) else { throw .code(SQLITE_NOMEM) }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
        guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
            throw .unusable("a text is not UTF-8: restore the file from a backup")
        }
        return text
    }

    func blob(_ column: Int32) -> [UInt8]? {
        guard unsafe sqlite3_column_type(handle, column) == SQLITE_BLOB else { return nil }
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
    }

    func id(_ column: Int32) -> UUIDv7? {
        blob(column).flatMap { UUIDv7(bytes: $0) }
    }

    func time(_ column: Int32) -> UnixTime? {
        integer(column).map(UnixTime.init(milliseconds:))
    }
}
#endif
