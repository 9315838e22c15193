#if SQLite
package import Accounts
package import JOSE

extension SQLiteUserStore {
    /// One statement, and so one transaction. It is not synced: a count that is lost with the power does no harm, and the sync
    /// would cost as much as the sign-in that it guards. The next commit that is synced takes it along.
    package func count(_ key: AttemptKey, window: UnixTime, of seconds: Int64) throws(StoreError) -> Int64 {
        try perform { connection throws(SQLiteFailure) in
            try connection.withoutSync { connection throws(SQLiteFailure) in
                let count = try connection.integer(
                    """
                    INSERT INTO attempts (key, window_start, count) VALUES (?1, ?2, 1)
                    ON CONFLICT (key) DO UPDATE SET
                    count = iif(window_start BETWEEN ?2 AND ?3, count + 1, 1),
                    window_start = iif(window_start BETWEEN ?2 AND ?3, window_start, ?2)
                    RETURNING count
                    """,
                    [
                        .blob(key.bytes), .integer(window.milliseconds),
                        .integer(AttemptWindow.latest(countedIn: window, of: seconds).milliseconds),
                    ])
                guard let count else { throw .unusable("a count is missing") }
                return count
            }
        }
    }
}
#endif
