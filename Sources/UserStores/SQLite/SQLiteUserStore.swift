#if SQLite
internal import Accounts

/// Accounts and sessions in one SQLite file, for one machine and any number of processes on it.
///
/// The file is created, and its schema brought up to date, by whoever comes first.
package final class SQLiteUserStore: UserStore {
    let file: DatabaseFile
    let patience: Patience
    private var connection: Connection?

    /// - Parameter location: what follows `sqlite:`, a path.
    init(location: String, patience: Duration) throws(StoreConfigurationError) {
        guard !location.isEmpty, location != ":memory:", !location.hasSuffix("/"), !location.utf8.contains(0) else {
            throw .invalid(reason: "sqlite: wants the path of a file, as in sqlite:/var/lib/auth-apple/accounts.db")
        }
        guard !location.hasPrefix("//") || location.hasPrefix("///"), !location.contains("?") else {
            throw .invalid(
                reason: "sqlite: takes a path, no host and no parameters: sqlite:accounts.db, sqlite:/…/accounts.db")
        }
        // SQLite reads file:… as a URI with parameters of its own; a path that begins otherwise is a path.
        file = DatabaseFile(path: location.hasPrefix("/") ? location : "./" + location)
        self.patience = Patience(patience)
    }

    /// Runs `body` on the open database. After a failure it is opened anew: nobody has to know what a connection is left in.
    func perform<Result>(
        _ body: (borrowing Connection) throws(SQLiteFailure) -> Result
    ) throws(StoreError) -> Result {
        do throws(SQLiteFailure) {
            if !isOpen { connection = try opened() }
            switch connection {
            case .some(let connection): return try body(connection)
            case nil: throw .unavailable("the database is not open")
            }
        } catch {
            connection = nil
            throw error.error(for: file.path)
        }
    }

    /// https://sqlite.org/howtocorrupt.html#_carrying_an_open_database_file_across_a_fork_
    package func close() {
        connection = nil
    }

    private var isOpen: Bool {
        switch connection {
        case .some(let connection): !connection.hasMoved
        case nil: false
        }
    }

    /// Runs `body` as one transaction.
    func transaction<Result>(
        _ body: (borrowing Connection) throws(SQLiteFailure) -> Result
    ) throws(StoreError) -> Result {
        try perform { connection throws(SQLiteFailure) in try connection.transaction(body) }
    }

    /// The database with the schema of this program, created if need be.
    private func opened() throws(SQLiteFailure) -> Connection {
        let connection = try openedOrCreated()
        if try !connection.hasCurrentSchema() { _ = try connection.migrate() }
        return connection
    }

    func openedOrCreated() throws(SQLiteFailure) -> Connection {
        // Before SQLite looks at anything: opening takes in a log that lies beside the file, whoever put it there.
        if file.exists { try file.checkProtection() }
        if let existing = try Connection.open(file.path, patience: patience) { return existing }
        try file.create()
        guard let created = try Connection.open(file.path, patience: patience) else {
            throw .unavailable("the file cannot be created: does its name lead elsewhere?")
        }
        return created
    }
}
#endif
