#if PostgreSQL
import Foundation
import TestSupport
import Testing

/// The disk of the database server is full. Its tables have no room then; its log still has some, or it would stop altogether.
@Suite struct FullServerTests {
    @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
    func aServerWithoutRoomIsAnOutageAndLosesNothing() throws {
        guard let disk = try SmallDisk(megabytes: 128, owner: PostgreSQLServer.user) else { return }
        let server = try PostgreSQLServer(data: disk.path, settings: ["max_wal_size=32MB", "min_wal_size=32MB"])
        defer { server.kill() }
        let function = try ConfinedFunction()
        let schema = PostgreSQLServer.newSchema()
        function.site.environment["AUTH_APPLE_STORE"] = server.url(schema: schema)
        #expect(try function.run("store", "migrate").status == 0)
        // So that few rows want a new page.
        try server.psql(
            """
            DO $$ DECLARE name text; BEGIN
                FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = '\(schema)' LOOP
                    EXECUTE format('ALTER TABLE \(schema).%I SET (fillfactor = 10)', name);
                END LOOP;
            END $$
            """)
        function.mend = { disk.empty() }
        var ledger = Ledger()
        for number in 0..<12 {
            // The server's pages are of 8 KiB.
            try disk.fill(leaving: 2 * (number % 3))
            try ledger.signIn("001.full.\(number)", function)
            try disk.fill(leaving: 2 * (number % 3))
            try ledger.refresh(function)
        }
        #expect(function.outcomes[.unavailable] ?? 0 > 2 && function.outcomes[.silent] == nil, "\(function.outcomes)")
        #expect(function.refusals == [503])
        // And after a loss of power, from its log alone.
        server.kill()
        try server.start()
        try ledger.check(function)
    }
}
#endif
