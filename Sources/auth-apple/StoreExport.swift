internal import Accounts
internal import AuthFunction
internal import Glibc
internal import OpenSSLCrypto
internal import UserStores

/// `auth-apple store export`: all that a store holds, so that another can take its place.
enum StoreExport {
    static func run(to place: String) -> Int32 {
        if let problem = mapping { return Report.configuration([problem]) }
        return StoreCommand.running { store throws(StoreError) in try write(store, to: place) }
    }

    /// A users table of the owner's has accounts that no other store can hold, and columns that are not ours.
    static var mapping: ConfigurationProblem? {
        var reader = ConfigurationReader(environment: System.environment())
        guard reader.text("ACCOUNT_QUERIES") != nil else { return nil }
        return ConfigurationProblem(
            "AUTH_APPLE_ACCOUNT_QUERIES", "says that the users table is yours, which does not move by itself",
            remedy: "move its database as a whole, with pg_dump")
    }

    private static func write(_ store: any UserStore, to place: String) throws(StoreError) -> Int32 {
        let file: ExportFile
        do throws(OwnFile.Problem) { file = try ExportFile(place) } catch { return refuse(place, error) }
        var bar = ProgressBar(total: try accounts(in: store))
        defer { bar.end() }
        var digest = RunningSHA256()
        var count = EntryCount()
        digest.update(StoreFile.header[...])
        var isWritten = file.append(StoreFile.header)
        try store.forEachEntry(at: System.now()) { entry in
            let line = StoreFile.line(entry)
            digest.update(line[...])
            count.add(entry)
            bar.show(count.accounts, failed: 0)
            isWritten = isWritten && file.append(line)
            return isWritten
        }
        do throws(OwnFile.Problem) {
            guard isWritten, file.append(StoreFile.trailer(count, digest: digest.finish())) else {
                throw .init(reason: "cannot be written (\(System.errorText()))")
            }
            try file.finish()
        } catch { return refuse(place, error) }
        bar.end()
        let words = "Exported \(count.words). It is as secret as the store itself."
        // Standard output may be the export.
        if place == "-" { Descriptor.printError(words) } else { Descriptor.print(words) }
        return ExitStatus.success
    }

    private static func refuse(_ place: String, _ problem: OwnFile.Problem) -> Int32 {
        Descriptor.printError("auth-apple: \(place == "-" ? "standard output" : place) \(problem.reason)")
        return ExitStatus.cannotCreate
    }

    private static func accounts(in store: any UserStore) throws(StoreError) -> Int {
        var count = 0
        var page = try store.accounts(after: nil, limit: 1000)
        while let end = page.last {
            count += page.count
            page = try store.accounts(after: end.id, limit: 1000)
        }
        return count
    }
}

extension EntryCount {
    var words: String {
        """
        \(accounts) account(s), \(sessions) session(s), \(grants) grant(s), \(auditEntries) audit entries, \
        \(revocations) revocation(s), \(marks) mark(s)
        """
    }
}
