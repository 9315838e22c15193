internal import Glibc

/// How far a long command is, on one line of a terminal; nothing where standard error leads elsewhere.
struct ProgressBar {
    private static let width = 30

    private let total: Int
    private let isShown: Bool
    private var shown = ""

    init(total: Int) {
        self.total = total
        isShown = isatty(STDERR_FILENO) == 1
    }

    mutating func show(_ done: Int, failed: Int) {
        guard isShown else { return }
        let filled = total == 0 ? Self.width : min(Self.width, done * Self.width / total)
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        let line = "[\(bar)] \(done) of \(total)" + (failed == 0 ? "" : ", \(failed) failed")
        guard line != shown else { return }
        shown = line
        write("\r\(line)\u{1B}[K")
    }

    /// Leaves the line to what is said next.
    mutating func end() {
        if isShown, !shown.isEmpty { write("\n") }
    }

    private func write(_ text: String) {
        Descriptor.write(Array(text.utf8), to: STDERR_FILENO)
    }
}
