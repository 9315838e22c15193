import Testing
import UserStores

@Suite struct StoreURLTests {
    @Test(arguments: [
        "", "accounts.db", "/var/lib/accounts.db", "mysql://canary:canary@host/db", "sqlite:", "sqlite::memory:",
        "sqlite:folder/", "sqlite://host/accounts.db", "sqlite:a.db?mode=ro", "sqlite:a\0b", "memory:x",
        "dynamodb:?region=eu-west-1",
        "dynamodb:ca?region=eu-west-1", "dynamodb:ca/nary?region=eu-west-1",
        "dynamodb:canary?region=Canary!", "dynamodb:canary?region=a&region=b", "dynamodb:canary?region=a&key=canary",
        "dynamodb:canary?region=a&endpoint=http://canary.example.com",
        "dynamodb:canary?region=a&endpoint=file:///canary",
        "dynamodb:canary?region=a&endpoint=https://h/canary", "dynamodb:canary?region=a&endpoint=https://u:canary@h",
        "postgres:", "postgres:canary", "postgres:host='canary",
        "postgres:password=canary port=canary", "postgres:canary=canary", "postgres:host=a\0canary",
        "postgres://canary:can%ary@host/db", "postgres://canary:can@ary@host/db", "postgres://host:canary/db",
        "postgres://host:0/db", "postgres://[canary/db", "postgres://[::1]canary/db", "postgres://host/db?canary",
        "postgres://host/db?canary=canary", "postgres://host/db?sslmode=canary", "postgres://host/db?schema=Canary",
        "postgres://host/db?schema=canary;drop", "postgres://host/db?schema=pg_canary", "postgres://host/db?schema=",
        "postgres://host/db?connect_timeout=canary", "postgres://host/db?client_encoding=canary",
        "postgres://host/canary%00", "postgres://host/canary%ff", "postgres://host/db?replication=canary",
    ])
    func aURLThatNamesNoStoreOfThisBuildIsRefusedWithoutRepeatingIt(_ url: String) throws {
        let error = try #require(throws: StoreConfigurationError.self) { try UserStores.open(url) }
        #expect(!error.description.contains("canary"))
        #expect(!error.description.isEmpty)
    }

    @Test(arguments: ["postgres://host/db", "POSTGRESQL://host/db", "sqlite:a.db"])
    func aStoreThatThisBuildLacksIsNamed(_ url: String) {
        #if SQLite
        if url.hasPrefix("sqlite") { return }
        #endif
        #if PostgreSQL
        if url.lowercased().hasPrefix("postgres") { return }
        #endif
        let error = #expect(throws: StoreConfigurationError.self) { try UserStores.open(url) }
        guard case .absent(let store, let remedy)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(url.lowercased().hasPrefix(store.lowercased().prefix(6)))
        #expect(!remedy.isEmpty)
    }

    /// Plain HTTP on this machine is for development, as for Apple's endpoints.
    @Test(arguments: ["http://127.0.0.1:8000", "http://localhost:8000/", "http://[::1]:8000"])
    func dynamoDBIsAskedOverPlainHTTPInDevelopmentOnly(endpoint: String) throws {
        let url = "dynamodb:auth-apple?region=eu-west-1&endpoint=\(endpoint)"
        #expect(throws: StoreConfigurationError.self) { try UserStores.open(url, isDevelopment: false) }
        _ = try UserStores.open(url, isDevelopment: true)
        _ = try UserStores.open(url.replacing("http:", with: "https:"), isDevelopment: false)
    }
}
