#if SQLite
internal import Accounts
internal import Glibc
internal import SQLiteShim

/// What went wrong below the store: SQLite's result code, or rows that are not ours.
///
/// SQLite's own message is left out on purpose. It is made from the statement and the data, and what was bound is
/// somebody's name or address.
enum SQLiteFailure: Error, Hashable {
    /// An extended result code (https://sqlite.org/rescode.html), and the system's `errno` behind it, or 0.
    case code(Int32, systemError: Int32 = 0)
    /// The file cannot be used as it is; the text says why and what to do.
    case unusable(String)
    /// The file's surroundings do not allow it now; the text says why and what to do.
    case unavailable(String)

    var isBusy: Bool {
        if case .code(let code, _) = self { code & 0xFF == SQLITE_BUSY } else { false }
    }

    /// What waiting, space or rights can cure is unavailable; the rest says that the file is not what we wrote.
    func error(for path: String) -> StoreError {
        switch self {
        case .unusable(let reason): return .unusable(reason: "SQLite \(path): \(reason)")
        case .unavailable(let reason): return .unavailable(reason: "SQLite \(path): \(reason)")
        case .code(let code, let systemError):
            let reason =
                "SQLite \(path): \(Self.name(code)), \(Self.explanation(code))\(Self.explanation(errno: systemError))"
            switch code & 0xFF {
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL, SQLITE_INTERRUPT, SQLITE_NOMEM, SQLITE_PERM, SQLITE_AUTH,
                SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOERR, SQLITE_NOLFS:
                return .unavailable(reason: reason)
            default:
                return .unusable(reason: reason)
            }
        }
    }

    /// `SQLITE_IOERR/13`: the primary code's name, and the extended code's number within it.
    private static func name(_ code: Int32) -> String {
        let names = [
            "OK", "ERROR", "INTERNAL", "PERM", "ABORT", "BUSY", "LOCKED", "NOMEM", "READONLY", "INTERRUPT", "IOERR",
            "CORRUPT", "NOTFOUND", "FULL", "CANTOPEN", "PROTOCOL", "EMPTY", "SCHEMA", "TOOBIG", "CONSTRAINT",
            "MISMATCH",
            "MISUSE", "NOLFS", "AUTH", "FORMAT", "RANGE", "NOTADB",
        ]
        let primary = Int(code & 0xFF)
        let name = "SQLITE_\(names.indices.contains(primary) ? names[primary] : String(primary))"
        return code >> 8 == 0 ? name : "\(name)/\(code >> 8)"
    }

    /// SQLite's fixed text for a code, which no statement and no value goes into.
    private static func explanation(_ code: Int32) -> String {
        unsafe sqlite3_errstr(code).map { unsafe String(cString: $0) } ?? "unknown"
    }

    private static func explanation(errno code: Int32) -> String {
        guard code != 0, let text = unsafe strerror(code) else { return "" }
        return unsafe " (\(String(cString: text)))"
    }
}
#endif
