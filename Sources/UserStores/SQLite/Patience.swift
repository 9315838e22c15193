#if SQLite
internal import Glibc
internal import SQLiteShim

/// How a process waits for another one that writes.
///
/// All wait in equal steps. SQLite's own timeout waits longer the longer a process has waited already, so that under load
/// the newcomers overtake the old ones and some of those starve.
struct Patience {
    let steps: Int32

    private static let step: Int32 = 3

    init(_ duration: Duration) {
        let milliseconds = duration / .milliseconds(Int(Self.step))
        steps = Int32(max(0, min(milliseconds, 1_000_000)))
    }

    /// Sleeps one step, or says that `waits` of them were enough.
    func wait(after waits: Int32) -> Bool {
        guard waits < steps else { return false }
        usleep(UInt32(Self.step) * 1000)
        return true
    }

    /// The handler of https://sqlite.org/c3ref/busy_handler.html; the number of steps travels as its context.
    func install(on database: OpaquePointer) {
        unsafe sqlite3_busy_handler(
            database,
            { context, waits in
                Patience(steps: Int32(Int(bitPattern: context))).wait(after: waits) ? 1 : 0
            }, UnsafeMutableRawPointer(bitPattern: Int(steps)))
    }

    /// Lets `body` work without waiting for anybody.
    func suspended(on database: OpaquePointer, _ body: () -> Void) {
        unsafe sqlite3_busy_handler(database, nil, nil)
        body()
        unsafe install(on: database)
    }

    init(steps: Int32) {
        self.steps = steps
    }
}
#endif
