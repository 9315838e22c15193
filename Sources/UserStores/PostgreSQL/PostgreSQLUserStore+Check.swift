#if PostgreSQL
package import Accounts
internal import JOSE

extension PostgreSQLUserStore {
    package func hasCurrentSchema() throws(StoreError) -> Bool {
        try withConnection { connection, limit throws(PostgreSQLFailure) in
            try connection.schemaVersion(in: location.schema, until: limit) == PostgreSQLSchema.steps.count
        }
    }

    package func check() throws(StoreError) -> String {
        try withConnection { connection, limit throws(PostgreSQLFailure) in
            let server = try connection.run(
                [
                    .begin, .settings(schema: location.schema, .synced, limit.leftForServer),
                    SQLStatement(
                        """
                        SELECT current_setting('fsync') = 'off' AS is_unsafe,
                        current_setting('transaction_read_only') = 'on' AS is_read_only,
                        has_database_privilege(current_database(), 'CREATE') AS can_create
                        """), .commit,
                ], until: limit)[2].first
            if try server?.bool("is_unsafe") == true {
                throw .unusable("fsync is off there: what is acknowledged is lost with the power. Switch it on")
            }
            if try server?.bool("is_read_only") == true {
                throw .unavailable("it is read-only: let the URL name the primary (target_session_attrs=read-write)")
            }
            let version = try connection.schemaVersion(in: location.schema, until: limit)
            guard version > 0 else {
                guard try server?.bool("can_create") == true else {
                    throw .unavailable(
                        "there is no schema \(location.schema), and this role may not make it: auth-apple store migrate"
                    )
                }
                return "\(location.name): empty, the first sign-in creates the schema"
            }
            let queries = try accountQueries()
            let mapping = queries.isMapped ? try checkMapping(queries, connection, until: limit) : nil
            let counts = try connection.run(
                [
                    .begin, .settings(schema: location.schema, .synced, limit.leftForServer),
                    SQLStatement(
                        """
                        SELECT (SELECT count(*) FROM accounts) AS accounts, (SELECT count(*) FROM sessions) AS sessions
                        """), .commit,
                ], until: limit)[2].first
            let steps = PostgreSQLSchema.steps.count
            let schema = version == steps ? "schema \(version)" : "schema \(version), to become \(steps)"
            let accounts = try counts?.integer("accounts") ?? 0
            let sessions = try counts?.integer("sessions") ?? 0
            return """
                \(location.name): \(schema), \(mapping ?? "\(accounts) accounts"), \(sessions) sessions, \
                \(connection.protection)\(advice)
                """
        }
    }

    /// libpq's default takes any certificate, and does without TLS where the server offers none.
    private var advice: String {
        let hosts = (location.value("host") ?? location.value("hostaddr") ?? "").split(separator: ",")
        let isLocal = hosts.allSatisfy { $0.hasPrefix("/") || ["localhost", "127.0.0.1", "::1"].contains(String($0)) }
        return isLocal || location.value("sslmode") == "verify-full" ? "" : "; sslmode=verify-full is advised"
    }
}
#endif
