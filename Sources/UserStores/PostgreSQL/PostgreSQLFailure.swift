#if PostgreSQL
internal import Accounts

/// What went wrong below the store.
///
/// A server's messages are left out on purpose: they repeat statements and data, and what was bound is somebody's name or
/// address. Only SQLSTATE is taken of them (https://www.postgresql.org/docs/current/errcodes-appendix.html).
enum PostgreSQLFailure: Error, Hashable {
    case state(String)
    /// No connection came about. The text is libpq's own, of a time when nothing but the location was known.
    case unreachable(String)
    /// The connection broke. Whether a transaction that was being committed is done is not known.
    case lost
    /// The patience of a request came to its end.
    case timedOut
    /// Another process was faster: what was read is past, and the transaction has to be run again.
    case overtaken
    /// The database cannot be used as it is; the text says why and what to do.
    case unusable(String)
    /// The database does not allow it now; the text says why and what to do.
    case unavailable(String)

    /// Whether the same transaction, run again, may succeed: what it met was made by another process a moment ago, and the
    /// next run finds it. 22012 is the division by nought of `SQLStatement.orOvertaken`, the only one there is.
    var isOvertaken: Bool {
        switch self {
        case .overtaken: true
        case .state(let state): ["40001", "40P01", "23505", "22012"].contains(state)
        default: false
        }
    }

    /// Whether the connection is gone, or the server is about to end it.
    var isOfConnection: Bool {
        switch self {
        case .lost: true
        case .state(let state): state.hasPrefix("08") || state.hasPrefix("57P")
        default: false
        }
    }

    /// The table, or a column of it, is not there.
    var isOfMissingSchema: Bool {
        switch self {
        case .state(let state): ["42P01", "42703", "3F000"].contains(state)
        default: false
        }
    }

    /// What waiting, space or rights can cure is unavailable; the rest says that the database is not what we made.
    func error(for name: String) -> StoreError {
        switch self {
        case .unusable(let reason): .unusable(reason: "\(name): \(reason)")
        case .unavailable(let reason): .unavailable(reason: "\(name): \(reason)")
        case .unreachable(let reason): .unavailable(reason: "\(name): no connection: \(reason)")
        case .lost: .unavailable(reason: "\(name): the connection broke")
        case .timedOut: .unavailable(reason: "\(name): no answer in time")
        case .overtaken: .unavailable(reason: "\(name): others were faster again and again")
        case .state(let state):
            Self.isPassing(state)
                ? .unavailable(reason: "\(name): \(Self.explanation(state)) (SQLSTATE \(state))")
                : .unusable(reason: "\(name): \(Self.explanation(state)) (SQLSTATE \(state))")
        }
    }

    private static func isPassing(_ state: String) -> Bool {
        ["08", "25", "28", "3D", "40", "53", "55", "57", "58"].contains(String(state.prefix(2)))
            || ["22012", "42501"].contains(state)
    }

    private static func explanation(_ state: String) -> String {
        switch state {
        case "25006": "it is read-only: a standby, or default_transaction_read_only"
        case "25P03": "the transaction was idle for too long"
        case "22012", "40001", "40P01": "others were faster again and again"
        case "23505": "an id is taken that should not be"
        case "42501": "the role may not do this: see deploy/postgresql/role.sql, or migrate as a role that may"
        case "53100": "the disk is full"
        case "53300": "there are too many connections"
        case "55P03": "another transaction holds a row for too long"
        case "57014": "a statement took too long"
        case "57P01", "57P02", "57P03": "it is being shut down or started"
        case let state where state.hasPrefix("42"): "the tables are not those of this program"
        case let state where state.hasPrefix("XX"): "it reports damage: look at its log"
        default: "it refuses"
        }
    }
}
#endif
