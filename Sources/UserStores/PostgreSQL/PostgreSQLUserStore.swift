#if PostgreSQL
internal import Accounts

/// Accounts and sessions in PostgreSQL, for any number of machines.
///
/// One connection a process, opened when it is first needed, and anew after a failure and after a fork. The schema is made, and
/// brought up to date, by whoever comes first and may.
package final class PostgreSQLUserStore: UserStore {
    let location: PostgreSQLLocation
    let patience: Duration
    private let queryFolder: String?
    private var readQueries: AccountQueries?
    private var connection: PostgreSQLConnection?
    /// Whether the schema was seen to be ours since the connection was opened.
    private var isSchemaKnown = false

    /// - Parameters:
    ///   - location: what follows `postgres:` or `postgresql:`.
    ///   - accountQueries: a folder with the statements of the owner's users table; nil for our own.
    init(location: String, patience: Duration, accountQueries: String?) throws(StoreConfigurationError) {
        self.location = try PostgreSQLLocation(location)
        self.patience = patience
        queryFolder = accountQueries
    }

    /// The statements that touch accounts, read when they are first needed.
    func accountQueries() throws(PostgreSQLFailure) -> AccountQueries {
        if let readQueries { return readQueries }
        let queries =
            try queryFolder.map { folder throws(PostgreSQLFailure) in try AccountQueries(folder: folder) } ?? .own
        readQueries = queries
        return queries
    }

    // MARK: - Transactions

    /// One transaction under way.
    struct Transaction {
        fileprivate let connection: PostgreSQLConnection
        let queries: AccountQueries
        fileprivate let limit: TimeLimit

        /// Reads more, one round trip.
        func read(_ statements: [SQLStatement]) throws(PostgreSQLFailure) -> [SQLRows] {
            try connection.run(statements, until: limit)
        }
    }

    /// How safe a commit is when it is acknowledged.
    enum Durability {
        /// On disk, whatever the server's default is.
        case synced
        /// A moment later: what is lost with the server's power does no harm.
        case soon
    }

    /// Runs `statements` as one transaction, in one round trip. Done twice they do no more than done once.
    func perform(
        _ durability: Durability = .synced,
        _ statements: (AccountQueries) throws(PostgreSQLFailure) -> [SQLStatement]
    ) throws(StoreError) -> [SQLRows] {
        try attempt { connection, limit, isNew throws(PostgreSQLFailure) in
            let statements = try statements(try accountQueries())
            let opening = opening(durability, limit) + (isNew ? [SQLStatement.schemaStep] : [])
            let rows = try connection.run(opening + statements + [.commit], until: limit)
            try accept(rows, isNew: isNew, after: opening.count)
            return Array(rows[opening.count..<(rows.count - 1)])
        }
    }

    /// Runs one transaction in two round trips: what `reads` gives is handed to `decide`, which answers what to write. It may be
    /// run again, when another process was faster.
    func transaction<Result>(
        _ reads: (AccountQueries) throws(PostgreSQLFailure) -> [SQLStatement],
        _ decide: (Transaction, [SQLRows]) throws(PostgreSQLFailure) -> (Result, [SQLStatement])
    ) throws(StoreError) -> Result {
        try attempt { connection, limit, isNew throws(PostgreSQLFailure) in
            let queries = try accountQueries()
            let statements = try reads(queries)
            let opening = opening(.synced, limit) + (isNew ? [SQLStatement.schemaStep] : [])
            let rows = try connection.run(opening + statements, until: limit)
            try accept(rows, isNew: isNew, after: opening.count)
            let transaction = Transaction(connection: connection, queries: queries, limit: limit)
            let (result, writes) = try decide(transaction, Array(rows[opening.count...]))
            do throws(PostgreSQLFailure) {
                _ = try connection.run(writes + [.commit], until: limit)
            } catch {
                // From here on it may be done: it is not for us to do it twice.
                throw error.isOfConnection ? .unavailable("the connection broke while it committed") : error
            }
            return result
        }
    }

    private func opening(_ durability: Durability, _ limit: TimeLimit) -> [SQLStatement] {
        [.begin, .settings(schema: location.schema, durability, limit.leftForServer)]
    }

    /// The connection's first transaction looks at the schema on its way.
    private func accept(_ rows: [SQLRows], isNew: Bool, after opening: Int) throws(PostgreSQLFailure) {
        guard isNew else { return }
        let step = try rows[opening - 1].first?.integer("step") ?? 0
        guard step <= PostgreSQLSchema.steps.count else { throw .newerSchema(Int(step)) }
        guard step == PostgreSQLSchema.steps.count else { throw .state("42P01") }
        isSchemaKnown = true
    }

    /// Runs `body` until it succeeds, fails for good, or patience ends.
    private func attempt<Result>(
        _ body: (PostgreSQLConnection, TimeLimit, _ isNew: Bool) throws(PostgreSQLFailure) -> Result
    ) throws(StoreError) -> Result {
        let limit = TimeLimit(patience)
        var tries: Int32 = 0
        var taken = 0
        var isMigrated = false
        while true {
            let isReused = connection?.isOurs == true
            do throws(PostgreSQLFailure) {
                let connection = try opened(until: limit)
                do throws(PostgreSQLFailure) {
                    return try body(connection, limit, !isSchemaKnown)
                } catch {
                    // What is left of the transaction would hold its rows until the server lost patience.
                    try? rollBack(connection, until: limit, after: error)
                    throw error
                }
            } catch {
                tries += 1
                if error == .state("23505") { taken += 1 }
                if error.isOfConnection, isReused {
                    // It ended while nobody looked at it, and nothing was done yet.
                    continue
                } else if error.isOvertaken, taken < 3, limit.sleep(atMost: min(100, 2 << min(tries, 6))) {
                    continue
                } else if error.isOfMissingSchema, !isMigrated, !isSchemaKnown {
                    isMigrated = true
                    do throws(PostgreSQLFailure) {
                        _ = try migrate(until: limit)
                    } catch {
                        connection = nil
                        throw error.error(for: location.name)
                    }
                    continue
                }
                throw error.error(for: location.name)
            }
        }
    }

    /// After a failure that is not of a statement nobody knows what the connection is left in.
    private func rollBack(
        _ connection: PostgreSQLConnection, until limit: TimeLimit, after failure: PostgreSQLFailure
    ) throws(PostgreSQLFailure) {
        switch failure {
        case .state where !failure.isOfConnection, .overtaken, .unusable:
            do throws(PostgreSQLFailure) {
                _ = try connection.run([.rollBack], until: limit)
            } catch {
                close()
                throw error
            }
        default: close()
        }
    }

    package func close() {
        connection = nil
        isSchemaKnown = false
    }

    private func opened(until limit: TimeLimit) throws(PostgreSQLFailure) -> PostgreSQLConnection {
        if let connection, connection.isOurs { return connection }
        close()
        let opened = try PostgreSQLConnection(location, until: limit)
        connection = opened
        return opened
    }

    /// Runs `body` on the connection for what is no request: migrating and checking.
    func withConnection<Result>(
        _ body: (PostgreSQLConnection, TimeLimit) throws(PostgreSQLFailure) -> Result
    ) throws(StoreError) -> Result {
        let limit = TimeLimit(patience)
        do throws(PostgreSQLFailure) {
            return try body(try opened(until: limit), limit)
        } catch {
            close()
            throw error.error(for: location.name)
        }
    }

    /// Takes the steps of the schema that are missing, each in a transaction of its own.
    func migrate(until limit: TimeLimit) throws(PostgreSQLFailure) -> (from: Int, to: Int) {
        var from: Int?
        while true {
            do throws(PostgreSQLFailure) {
                let connection = try opened(until: limit)
                let version = try connection.schemaVersion(in: location.schema, until: limit)
                if from == nil { from = version }
                guard version < PostgreSQLSchema.steps.count else { return (from ?? version, version) }
                try connection.takeStep(version + 1, in: location.schema, until: limit)
            } catch {
                close()
                guard error.isOfRace, limit.sleep(atMost: 50) else { throw error }
            }
        }
    }
}

extension PostgreSQLFailure {
    static func newerSchema(_ step: Int) -> PostgreSQLFailure {
        .unusable("schema \(step) is newer than this program, which knows \(PostgreSQLSchema.steps.count): upgrade it")
    }
}
#endif
