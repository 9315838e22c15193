#if PostgreSQL
import Accounts
import Foundation
import JOSE
import TestSupport
import Testing

@testable import UserStores

/// How the database is reached, and what holds for every transaction.
@Suite struct PostgreSQLConnectionTests {
    @Test(arguments: [
        (
            "//ana:p%40ss%2Fword@db.example:6432/finnova?sslmode=verify-full&schema=auth",
            [
                "user=ana", "password=p@ss/word", "host=db.example", "port=6432", "dbname=finnova",
                "sslmode=verify-full",
            ],
            "auth"
        ),
        ("//", [], "auth_apple"),
        (
            "//[2001:db8::1]:5433,other/db?ssl=true",
            ["host=2001:db8::1,other", "port=5433,", "dbname=db", "sslmode=require"], "auth_apple"
        ),
        ("///db?host=%2Frun%2Fpostgresql", ["dbname=db", "host=/run/postgresql"], "auth_apple"),
        (
            " host=/run/postgresql dbname = 'my db' password='it\\'s \\\\' schema=s_1 ",
            ["host=/run/postgresql", "dbname=my db", "password=it's \\"], "s_1"
        ),
    ])
    func bothFormsOfALocationAreReadAsLibpqReadsThem(_ text: String, _ parameters: [String], _ schema: String) throws {
        let location = try PostgreSQLLocation(text)
        #expect(Set(location.parameters.map { "\($0.keyword)=\($0.value)" }) == Set(parameters))
        #expect(location.schema == schema)
        #expect(!location.name.contains("word") && !location.name.contains("it's"))
    }

    @Test func whoIsAskedForATrustedNameGetsOneOrNothing() throws {
        let server = PostgreSQLServer.shared
        let role = PostgreSQLServer.newSchema()
        try server.psql(
            "CREATE ROLE \(role) LOGIN PASSWORD 'canary-right'; GRANT CREATE ON DATABASE postgres TO \(role)")
        let url = { (host: String, password: String, more: String) in
            "postgres://\(role):\(password)@\(host):\(server.port)/postgres?schema=\(role)&sslmode=verify-full\(more)"
        }
        let trusted = "&sslrootcert=\(server.authority)"
        #expect(
            try UserStores.open(url("localhost", "canary-right", trusted)).signIn(person("1")) { login(of: $0) }.isNew)
        #expect(try UserStores.open(url("localhost", "canary-right", trusted)).check().hasSuffix("TLSv1.3"))
        for (url, word) in [
            (url("localhost", "canary-wrong", trusted), "password"),
            (url("127.0.0.1", "canary-right", trusted), "127.0.0.1"),
            (url("localhost", "canary-right", "&sslrootcert=/etc/ssl/certs/ca-certificates.crt"), "certificate"),
        ] {
            let refusal = try StoreProbe(url, "canary-subject").refusal()
            #expect(refusal.contains("unavailable") && refusal.contains(word), "\(refusal)")
        }
    }

    @Test func aCommitIsOnDiskWhateverTheServersDefaultIs() throws {
        let url = PostgreSQLServer.shared.url("&options=-c%20synchronous_commit%3Doff")
        let store = try PostgreSQLUserStore(
            location: String(url.dropFirst("postgres:".count)), patience: .seconds(5), accountQueries: nil)
        let setting = SQLStatement("SELECT current_setting('synchronous_commit') AS value")
        let ask = { (durability: PostgreSQLUserStore.Durability) throws -> String? in
            try store.perform(durability) { _ throws(PostgreSQLFailure) in [setting] }[0].first?.text("value")
        }
        #expect(try ask(.synced) == "on")
        #expect(try ask(.soon) == "off", "but for counts")
        #expect(try ask(.synced) == "on")
    }

    @Test func aServerThatDoesNotSyncIsRefusedByTheCheck() throws {
        let server = try PostgreSQLServer(settings: ["fsync=off"])
        let error = #expect(throws: StoreError.self) { try UserStores.open(server.url()).check() }
        #expect("\(String(describing: error))".contains("fsync"))
    }

    @Test func noStatementTakesLongerThanThePatience() throws {
        let url = PostgreSQLServer.shared.url()
        let store = try PostgreSQLUserStore(
            location: String(url.dropFirst("postgres:".count)), patience: .seconds(2), accountQueries: nil)
        _ = try UserStores.open(url).migrate()
        let began = ContinuousClock.now
        let error = #expect(throws: StoreError.self) {
            try store.perform { _ throws(PostgreSQLFailure) in [SQLStatement("SELECT pg_sleep(30)::text")] }
        }
        #expect("\(String(describing: error))".contains("57014"), "the server ends it: \(String(describing: error))")
        #expect(began.duration(to: .now) < .seconds(20))
    }

    /// U+0000, and the character that stands for it.
    @Test(arguments: ["", "a", "\0", "\u{10}", "\u{10}0", "\0\u{10}\0", "\u{10}\u{10}0"])
    func everyTextHasASpellingOfItsOwn(_ text: String) {
        let stored = StoredText.encode(text)
        #expect(!stored.contains(0))
        #expect(StoredText.decode(stored).map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test func timesBeyondThoseOfPostgreSQLAreItsInfinities() {
        for milliseconds in [0, -1, 1, 1_760_000_000_123, 946_684_800_000, 946_684_799_999] as [Int64] {
            let time = UnixTime(milliseconds: milliseconds)
            #expect(Timestamp.decode(Timestamp.encode(time)) == time)
        }
        #expect(Timestamp.encode(UnixTime(milliseconds: .min)) == .min)
        #expect(Timestamp.encode(UnixTime(milliseconds: .max)) == .max)
        #expect(Timestamp.decode(-1) == UnixTime(milliseconds: 946_684_799_999))
    }

    /// For people's queries, where it can be.
    @Test func deviceInfoIsJSONBWhereJSONBHasIt() throws {
        let server = PostgreSQLServer.shared
        let schema = PostgreSQLServer.newSchema()
        let store = try UserStores.open(server.url(schema: schema))
        for device in [["platform": "ios", "n": .integer(1)] as JSON, ["x": "a\0"], ["y": .decimal("1e400000")]] {
            _ = try store.signIn(person("1")) { login(of: $0, on: device) }
        }
        let found = try server.psql(
            "SELECT coalesce(device_info->>'platform', 'none'), count(*) FROM \(schema).sessions GROUP BY 1 ORDER BY 1")
        #expect(found == "ios|1\nnone|2")
    }
}
#endif
