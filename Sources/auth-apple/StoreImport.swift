internal import Accounts
internal import AuthFunction
internal import Glibc
internal import JOSE
internal import UserStores

/// `auth-apple store import`: what another store held, into this one. What is there already stays as it is, so that an import that was
/// broken off is begun again and goes on.
struct StoreImport {
    private let name: String
    private let now = System.now()
    private var bar: ProgressBar?
    private var seen = 0
    private var restored = EntryCount()
    private var present = 0
    private var expired = 0
    private var differing: [String] = []

    static func run(from place: String) -> Int32 {
        if let problem = StoreExport.mapping { return Report.configuration([problem]) }
        let name = place == "-" ? "standard input" : place
        let descriptor = place == "-" ? STDIN_FILENO : unsafe open(place, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            Descriptor.printError("auth-apple: \(place) cannot be opened (\(System.errorText()))")
            return ExitStatus.noInput
        }
        return StoreCommand.running { store throws(StoreError) in
            var move = StoreImport(name: name)
            return try move.run(from: descriptor, into: store)
        }
    }

    private init(name: String) { self.name = name }

    /// A file is read twice: nothing is written of one that is not whole. What comes through a pipe is seen once, and only its end tells.
    private mutating func run(from descriptor: Int32, into store: any UserStore) throws(StoreError) -> Int32 {
        let start = lseek(descriptor, 0, SEEK_CUR)
        if start >= 0 {
            switch try ExportReader(descriptor: descriptor).read({ _ in }) {
            case .success(let accounts): bar = ProgressBar(total: accounts)
            case .failure(let fault):
                Descriptor.printError("auth-apple: \(name) \(fault.words). Nothing was written.")
                return ExitStatus.dataError
            }
            lseek(descriptor, start, SEEK_SET)
        }
        defer { bar?.end() }
        let end = try ExportReader(descriptor: descriptor).read { entry throws(StoreError) in
            try restore(entry, into: store)
        }
        bar?.end()
        return report(end)
    }

    private mutating func restore(_ entry: StoreEntry, into store: any UserStore) throws(StoreError) {
        if case .account = entry { seen += 1 }
        if let alive = entry.alive(at: now) {
            if try store.restore(alive) {
                restored.add(alive)
            } else if try store.counterpart(of: alive, at: now).map(StoreFile.line) == StoreFile.line(alive) {
                present += 1
            } else {
                differing.append(entry.name)
            }
        } else {
            expired += 1
        }
        bar?.show(seen, failed: differing.count)
    }

    private func report(_ end: Result<Int, ExportReader.Fault>) -> Int32 {
        Descriptor.print("Imported \(restored.words).")
        if present > 0 { Descriptor.print("Of \(present) there was the very same already.") }
        if expired > 0 { Descriptor.print("\(expired) had expired meanwhile.") }
        for name in differing.prefix(100) {
            Descriptor.print("  \(name)  is there already and differs: it stays as it is")
        }
        if differing.count > 100 { Descriptor.print("  and \(differing.count - 100) more") }
        switch end {
        case .success(let accounts):
            if differing.isEmpty { Descriptor.print("All \(accounts) account(s) of \(name) are there.") }
            return differing.isEmpty ? ExitStatus.success : ExitStatus.dataError
        case .failure(let fault):
            Descriptor.printError(
                "auth-apple: \(name) \(fault.words). What came before is written; get it whole and import it again.")
            return ExitStatus.dataError
        }
    }
}

extension StoreEntry {
    /// By what an operator finds it, without anything of the person.
    fileprivate var name: String {
        switch self {
        case .account(let account, _, _, _): "account \(account.id)"
        case .formerAudit(let id, _): "audit of \(id)"
        case .revocation(let revocation): "revocation \(revocation.grant.accountID) \(revocation.grant.clientID)"
        case .mark: "mark"
        }
    }
}
