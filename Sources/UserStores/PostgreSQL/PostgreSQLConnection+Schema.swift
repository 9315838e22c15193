#if PostgreSQL
extension PostgreSQLConnection {
    /// "SiwA": one lock for all who migrate, whatever the schema.
    private static let lock: Int64 = 0x5369_7741

    /// The schema's version; 0 when there is none yet. Another program's tables, or newer ones of ours, are refused.
    func schemaVersion(in schema: String, until limit: TimeLimit) throws(PostgreSQLFailure) -> Int {
        let tables = SQLStatement(
            "SELECT tablename::text AS name FROM pg_catalog.pg_tables WHERE schemaname = $1", [.text(schema)])
        let rows = try run([tables], until: limit)[0].all
        let names = try rows.map { row throws(PostgreSQLFailure) in try row.text("name") }
        guard names.contains("schema_steps") else {
            guard names.isEmpty else {
                throw .unusable("the schema \(schema) has tables of another program: add ?schema=NAME to the URL")
            }
            return 0
        }
        let settings = SQLStatement.settings(schema: schema, .synced, limit.leftForServer)
        let version = try run([.begin, settings, .schemaStep, .commit], until: limit)[2].first?.integer("step") ?? 0
        guard version <= PostgreSQLSchema.steps.count else { throw .newerSchema(Int(version)) }
        return Int(version)
    }

    /// One step in one transaction, while nobody else takes one. Where there are no such locks the steps are safe all the
    /// same: each can be repeated, and two who record it at once get in each other's way.
    func takeStep(_ step: Int, in schema: String, until limit: TimeLimit) throws(PostgreSQLFailure) {
        let hasLocks =
            try run(
                [
                    SQLStatement(
                        "SELECT 1 AS one FROM pg_catalog.pg_proc WHERE proname = 'pg_advisory_xact_lock' LIMIT 1")
                ],
                until: limit)[0].count == 1
        let settings = SQLStatement.settings(schema: schema, .synced, limit.leftForServer)
        let lock = SQLStatement("SELECT pg_advisory_xact_lock($1)::text", [.integer(Self.lock)])
        let exists = SQLStatement(
            "SELECT 1 AS one FROM pg_catalog.pg_namespace WHERE nspname = $1", [.text(schema)])
        let begun = try run([.begin, settings] + (hasLocks ? [lock] : []) + [exists], until: limit)
        // Not asked for when it is there: who may only use it may not even try.
        var statements = begun.last?.count == 0 ? [SQLStatement("CREATE SCHEMA IF NOT EXISTS \(schema)")] : []
        statements.append(SQLStatement(PostgreSQLSchema.stepsTable))
        statements += PostgreSQLSchema.steps[step - 1].map { SQLStatement($0) }
        statements.append(SQLStatement(PostgreSQLSchema.recorded(step)))
        _ = try run(statements + [.commit], until: limit)
    }
}

extension PostgreSQLFailure {
    /// Another process made the same thing at the same moment: CREATE … IF NOT EXISTS may fail of that.
    var isOfRace: Bool {
        switch self {
        case .state(let state): ["23505", "40001", "40P01", "42P06", "42P07", "42710", "XX000"].contains(state)
        default: false
        }
    }
}
#endif
