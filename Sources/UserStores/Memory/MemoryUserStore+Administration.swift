package import Accounts
package import JOSE

extension MemoryUserStore {
    package func count(_ key: AttemptKey, window: UnixTime, of seconds: Int64) throws(StoreError) -> Int64 {
        if let (current, count) = attempts[key], current >= window,
            current <= AttemptWindow.latest(countedIn: window, of: seconds)
        {
            attempts[key] = (current, count + 1)
            return count + 1
        }
        attempts[key] = (window, 1)
        return 1
    }

    package func migrate() throws(StoreError) -> SchemaChange {
        SchemaChange(from: 0, to: 0)
    }

    package func purge(before time: UnixTime, auditDays: Int64) throws(StoreError) -> PurgeCount {
        let before = (sessions.count, receipts.count, attempts.count, auditEntryCount, marks.count)
        sessions = sessions.filter { $0.value.isAlive(at: time) }
        receipts = receipts.filter { $0.value.receipt.expiresAt > time }
        marks = marks.filter { $0.value > time }
        attempts = attempts.filter { $0.value.window > AttemptWindow.over(at: time) }
        let kept = time.adding(seconds: -auditDays * 86_400)
        audit = audit.mapValues { $0.filter { $0.time >= kept } }.filter { !$0.value.isEmpty }
        return PurgeCount(
            sessions: before.0 - sessions.count, receipts: before.1 - receipts.count,
            marks: before.4 - marks.count, attempts: before.2 - attempts.count,
            auditEntries: before.3 - auditEntryCount)
    }

    package func accounts(after last: UUIDv7?, limit: Int) throws(StoreError) -> [Account] {
        let later = accounts.values.filter { account in
            last.map { $0.bytes.lexicographicallyPrecedes(account.id.bytes) } ?? true
        }
        return Array(later.sorted { $0.id.bytes.lexicographicallyPrecedes($1.id.bytes) }.prefix(limit))
    }

    private var auditEntryCount: Int { audit.values.reduce(0) { $0 + $1.count } }

    package func close() {}

    package func check() throws(StoreError) -> String {
        "memory: \(accounts.count) accounts, \(sessions.count) sessions; all is lost when the process ends"
    }
}
