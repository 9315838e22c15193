#if PostgreSQL
/// What every transaction begins and ends with.
extension SQLStatement {
    /// Row locks and unique keys do what is to be done; the level is named so that no server's default changes it.
    static let begin = SQLStatement("BEGIN ISOLATION LEVEL READ COMMITTED")
    static let commit = SQLStatement("COMMIT")
    static let rollBack = SQLStatement("ROLLBACK")
    static let schemaStep = SQLStatement("SELECT step FROM schema_steps ORDER BY step DESC LIMIT 1")

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
