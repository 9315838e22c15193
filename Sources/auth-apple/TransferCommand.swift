internal import Accounts
internal import AppleID
internal import AuthFunction
internal import Glibc
internal import JOSE
internal import OpenSSLCrypto
internal import UserStores

/// `auth-apple transfer`: all accounts on the way to another developer team, one request to Apple each.
struct TransferCommand {
    enum Direction {
        case export(to: String, again: Bool)
        case `import`
    }

    let direction: Direction
    var clientID: String?
    /// Requests a second, at most.
    var rate: Int64 = 10

    /// Nil for words that are none of this command's.
    init?(_ words: ArraySlice<String>) {
        var options: [String: String] = [:]
        let isAgain = words.contains("--again")
        var rest = words.dropFirst().filter { $0 != "--again" }[...]
        while let name = rest.popFirst() {
            guard ["--to", "--client", "--rate"].contains(name), options[name] == nil, let value = rest.popFirst()
            else {
                return nil
            }
            options[name] = value
        }
        switch (words.first, options["--to"]) {
        case ("export"?, let team?) where AppleCredentials.isIdentifier(team):
            direction = .export(to: team, again: isAgain)
        case ("import"?, nil) where !isAgain: direction = .import
        default: return nil
        }
        clientID = options["--client"]
        if let text = options["--rate"] {
            guard let number = Int64(text), (1...1000).contains(number) else { return nil }
            rate = number
        }
    }

    func run() -> Int32 {
        let cryptography = OpenSSLCryptography()
        var reader = ConfigurationReader(environment: System.environment())
        let mode = reader.mode()
        let caBundle = reader.text("CA_BUNDLE")
        let endpoints = reader.appleEndpoints(mode: mode, judgedBy: AppleHTTP.fault)
        let credentials = reader.appleCredentials(using: cryptography)
        let clientID = reader.client(named: clientID)
        guard let credentials, let clientID, reader.environment.problems.isEmpty else {
            return Report.configuration(reader.environment.problems)
        }
        let http = AppleHTTP(mode: mode, caBundle: caBundle, deadline: Deadline())
        let server = AppleServer(
            endpoints: endpoints, credentials: credentials, cryptography: cryptography,
            send: AppleServerTransport(http).send)
        return StoreCommand.running { store throws(StoreError) in
            try run(AppleTransfer(server: server, users: store, clientID: clientID), over: store)
        }
    }

    private func run(_ first: AppleTransfer, over store: any UserStore) throws(StoreError) -> Int32 {
        var transfer = first
        var tally = Tally()
        var pace = Pace(perSecond: rate)
        var bar = ProgressBar(total: try count(in: store))
        defer { bar.end() }
        try forEach(in: store) { account throws(StoreError) in
            bar.show(tally.count, failed: tally.failures.count)
            tally.add(try attempt(account, &transfer, &pace), of: account.id)
            return tally.stop == nil
        }
        bar.show(tally.count, failed: tally.failures.count)
        bar.end()
        return tally.report(as: isExport ? "Exported" : "Imported")
    }

    /// An outage is waited for a little; who runs the command is there to see it.
    private func attempt(
        _ account: Account, _ transfer: inout AppleTransfer, _ pace: inout Pace
    ) throws(StoreError) -> AppleTransfer.Step {
        var step = AppleTransfer.Step.skipped
        for pause: UInt32 in [1, 2, 0] {
            pace.wait()
            switch direction {
            case .export(let team, let again):
                step = try transfer.export(account, to: team, again: again, at: System.now())
            case .import: step = try transfer.import(account, origin: Self.origin, at: System.now())
            }
            guard case .failed(let failure) = step, failure.isOutage else { break }
            sleep(pause)
        }
        return step
    }

    private static let origin = AuditEntry.Origin(requestID: "auth-apple transfer")

    private var isExport: Bool {
        if case .export = direction { true } else { false }
    }

    private func concerns(_ account: Account) -> Bool {
        switch direction {
        case .export(_, let again): AppleTransfer.isExportable(account, again: again)
        case .import: AppleTransfer.isImportable(account)
        }
    }

    private func count(in store: any UserStore) throws(StoreError) -> Int {
        var count = 0
        try forEach(in: store) { _ in
            count += 1
            return true
        }
        return count
    }

    /// The accounts that there is something to do about, until `work` says no.
    private func forEach(
        in store: any UserStore, _ work: (Account) throws(StoreError) -> Bool
    ) throws(StoreError) {
        var last: UUIDv7?
        while true {
            let page = try store.accounts(after: last, limit: 200)
            guard let end = page.last else { return }
            for account in page where concerns(account) {
                guard try work(account) else { return }
            }
            last = end.id
        }
    }
}

extension ConfigurationReader {
    /// The app that moves: the one that was named, or the only audience.
    fileprivate mutating func client(named name: String?) -> String? {
        if let name { return name }
        let audiences = list("AUDIENCES", default: [])
        if audiences.count != 1 {
            environment.report(
                "AUDIENCES", "does not say which app moves", remedy: "name it with --client, by its Bundle ID")
        }
        return audiences.first
    }
}

/// So many steps a second, at most.
private struct Pace {
    private let interval: Int64
    private var next: Int64 = 0

    init(perSecond rate: Int64) { interval = 1_000_000 / rate }

    mutating func wait() {
        let now = Int64(System.clock.monotonicMilliseconds() * 1000)
        if now < next { usleep(UInt32(next - now)) }
        next = max(now, next) + interval
    }
}

/// What came of the accounts.
private struct Tally {
    private(set) var done = 0
    private(set) var skipped = 0
    private(set) var failures: [(account: UUIDv7, failure: TransferFailure)] = []
    /// What ended the run before its time.
    private(set) var stop: TransferFailure?

    var count: Int { done + skipped + failures.count }

    mutating func add(_ step: AppleTransfer.Step, of account: UUIDv7) {
        switch step {
        case .done: done += 1
        case .skipped: skipped += 1
        case .failed(let failure) where failure.concernsAll: stop = failure
        case .failed(let failure): failures.append((account, failure))
        }
    }

    func report(as verb: String) -> Int32 {
        let changed = skipped == 0 ? "" : ", \(skipped) changed meanwhile"
        Descriptor.print("\(verb) \(done) account(s), \(failures.count) failed\(changed).")
        for (account, failure) in failures { Descriptor.print("  \(account)  \(failure.words)") }
        guard let stop else { return failures.isEmpty ? ExitStatus.success : ExitStatus.dataError }
        if stop.isOutage {
            Descriptor.printError("auth-apple: stopped: \(stop.words). Run it again later: it goes on where it was.")
            return ExitStatus.tryLater
        }
        Descriptor.printError(
            """
            auth-apple: stopped: \(stop.words). Check AUTH_APPLE_TEAM_ID, AUTH_APPLE_KEY_ID, AUTH_APPLE_PRIVATE_KEY and the client \
            id: export wants the old team's, import the new team's.
            """)
        return ExitStatus.configuration
    }
}
