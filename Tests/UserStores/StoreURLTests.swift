import Testing
import UserStores

@Suite struct StoreURLTests {
    @Test(arguments: [
        "", "accounts.db", "/var/lib/accounts.db", "mysql://canary:canary@host/db", "sqlite:", "sqlite::memory:",
        "sqlite:folder/", "sqlite://host/accounts.db", "sqlite:a.db?mode=ro", "sqlite:a\0b", "memory:x",
        "postgres://canary:canary@host/db", "postgresql://canary@host/db", "dynamodb:canary?region=eu-west-1",
    ])
    func aURLThatNamesNoStoreOfThisBuildIsRefusedWithoutRepeatingIt(_ url: String) throws {
        let error = try #require(throws: StoreConfigurationError.self) { try UserStores.open(url) }
        #expect(!error.description.contains("canary"))
        #expect(!error.description.isEmpty)
    }

    @Test(arguments: ["postgres://host/db", "POSTGRESQL://host/db", "dynamodb:table", "sqlite:a.db"])
    func aStoreThatThisBuildLacksIsNamed(_ url: String) {
        #if SQLite
        if url.hasPrefix("sqlite") { return }
        #endif
        let error = #expect(throws: StoreConfigurationError.self) { try UserStores.open(url) }
        guard case .absent(let store, let remedy)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(url.lowercased().hasPrefix(store.lowercased().prefix(6)))
        #expect(!remedy.isEmpty)
    }
}
