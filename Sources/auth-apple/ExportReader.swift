internal import Accounts
internal import Glibc
internal import OpenSSLCrypto
internal import UserStores

/// Reads an export from its first line to its last, and says whether it is what was written.
struct ExportReader: ~Copyable {
    enum Fault: Error {
        case notAnExport, newer
        /// A line that is no entry, by its number.
        case line(Int)
        /// It ends before its last line.
        case incomplete
        /// Its last line says otherwise.
        case changed
        case unreadable

        var words: String {
            switch self {
            case .notAnExport: "is no export of auth-apple store export"
            case .newer: "was written by a newer version: upgrade this one"
            case .line(let number): "is damaged: line \(number) is no entry"
            case .incomplete: "is not whole: it ends too early"
            case .changed: "was changed: its last line has another count or another SHA-256"
            case .unreadable: "cannot be read (\(System.errorText()))"
            }
        }
    }

    /// An account with a hundred thousand audit entries is a line of 20 MB.
    private static let longestLine = 256 << 20

    private var lines: LineReader
    private var digest = RunningSHA256()
    private var count = EntryCount()
    private var number = 0

    init(descriptor: Int32) {
        lines = LineReader(descriptor: descriptor, limit: Self.longestLine)
    }

    /// Gives each entry to `body`. How many accounts there are, or why it is not to be believed.
    consuming func read(_ body: (StoreEntry) throws(StoreError) -> Void) throws(StoreError) -> Result<Int, Fault> {
        while let input = lines.next() {
            number += 1
            guard case .bytes(let line) = input else {
                if case .tooLong = input { return .failure(.line(number)) }
                return .failure(.unreadable)
            }
            let mark = StoreFile.mark(of: line)
            if number == 1 {
                if mark == .newerHeader { return .failure(.newer) }
                guard mark == .header else { return .failure(.notAnExport) }
            } else if case .trailer(let accounts) = mark {
                let end = Array(line) + [0x0A]
                guard lines.next() == nil, StoreFile.trailer(count, digest: digest.finish()) == end else {
                    return .failure(.changed)
                }
                return .success(accounts)
            } else if let entry = StoreEntry(line: line) {
                count.add(entry)
                try body(entry)
            } else {
                return .failure(.line(number))
            }
            digest.update(line)
            digest.update([0x0A])
        }
        return .failure(number == 0 ? .notAnExport : .incomplete)
    }
}
