#if PostgreSQL
/// What every transaction begins and ends with.
extension SQLStatement {
    /// Row locks and unique keys do what is to be done; the level is named so that no server's default changes it.
    static let begin = SQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED")
    static let commit = SQLStatement("COMMIT")
    static let rollBack = SQLStatement("ROLLBACK")
    static let schemaStep = SQLStatement("SELECT step FROM schema_steps ORDER BY step DESC LIMIT 1")

    /// Many rows in few statements: each costs the server ten times what a row does. (It takes 65 535 parameters.)
    static func many<Row>(_ rows: [Row], _ statement: ([Row]) -> SQLStatement) -> [SQLStatement] {
        stride(from: 0, to: rows.count, by: 1000).map { statement(Array(rows[$0..<min($0 + 1000, rows.count)])) }
    }

    /// `$1, $2, $3`
    static func places(_ count: Int, from first: Int = 1) -> String {
        (first..<(first + count)).map { "$\($0)" }.joined(separator: ", ")
    }

    /// For this transaction only, since behind PgBouncer the next one has another server: where the tables are, that nothing
    /// takes longer than the request's patience, and that a commit is on disk when it is acknowledged.
    static func settings(
        schema: String, _ durability: PostgreSQLUserStore.Durability, _ milliseconds: String
    ) -> SQLStatement {
        SQLStatement(
            """
            SELECT set_config('search_path', $1, true), set_config('statement_timeout', $2, true),
            set_config('lock_timeout', $2, true), set_config('idle_in_transaction_session_timeout', $2, true),
            set_config('synchronous_commit', CASE WHEN $3 THEN
            CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END
            ELSE 'off' END, true)
            """, [.text(schema), .text(milliseconds), .bool(durability == .synced)])
    }
}
#endif
