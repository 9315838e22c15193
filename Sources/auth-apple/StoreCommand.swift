internal import Accounts
internal import AuthFunction
internal import JOSE
internal import UserStores

/// `auth-apple store`: the schema, and what has expired.
enum StoreCommand {
    static func migrate() -> Int32 {
        withStore { store throws(StoreError) in
            let change = try store.migrate()
            return change.from == change.to
                ? "The schema is at version \(change.to): nothing to do."
                : "The schema went from version \(change.from) to \(change.to)."
        }
    }

    static func purge() -> Int32 {
        withStore { store throws(StoreError) in
            let count = try store.purge(before: System.now())
            return """
                Removed what has expired: \(count.sessions) session(s), \(count.receipts) receipt(s), \
                \(count.marks) mark(s), \(count.attempts) count(s) of attempts, \(count.auditEntries) audit entries.
                """
        }
    }

    /// Does what `work` says and prints its answer; nil says that there is no such account.
    static func withStore(_ work: (any UserStore) throws(StoreError) -> String?) -> Int32 {
        running { store throws(StoreError) in
            guard let answer = try work(store) else {
                Descriptor.printError("auth-apple: there is no such account")
                return ExitStatus.noInput
            }
            Descriptor.print(answer)
            return ExitStatus.success
        }
    }

    /// Does what `work` says, and gives its exit status or that of the store's failure. An operator waits longer than a request: one
    /// statement or transaction may concern a whole table, or all that a busy account has.
    static func running(_ work: (any UserStore) throws(StoreError) -> Int32) -> Int32 {
        var reader = ConfigurationReader(environment: System.environment())
        let mode = reader.mode()
        let accountQueries = reader.text("ACCOUNT_QUERIES")
        guard let url = reader.store(mode: mode), reader.environment.problems.isEmpty else {
            return Report.configuration(reader.environment.problems)
        }
        let store: any UserStore
        do throws(StoreConfigurationError) {
            store = try UserStores.open(
                StoreSettings(url: url, mode: mode, accountQueries: accountQueries), patience: .seconds(30))
        } catch {
            return Report.configuration([
                ConfigurationProblem("AUTH_APPLE_STORE", "cannot be used", remedy: error.description)
            ])
        }
        do throws(StoreError) {
            return try work(store)
        } catch {
            switch error {
            case .unavailable(let reason):
                Descriptor.printError("auth-apple: the store cannot be reached: \(reason)")
                return ExitStatus.tryLater
            case .unusable(let reason):
                Descriptor.printError("auth-apple: the store cannot be used: \(reason)")
                return ExitStatus.configuration
            }
        }
    }
}

extension UserStores {
    /// The store that is configured.
    static func open(
        _ settings: StoreSettings, patience: Duration = .seconds(5)
    ) throws(StoreConfigurationError) -> any UserStore {
        try open(
            settings.url, isDevelopment: settings.mode == .development, patience: patience,
            accountQueries: settings.accountQueries, isLinking: settings.linksVerifiedEmail)
    }
}
