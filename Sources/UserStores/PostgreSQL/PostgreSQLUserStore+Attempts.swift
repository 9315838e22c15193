#if PostgreSQL
package import Accounts
package import JOSE

extension PostgreSQLUserStore {
    /// One statement and one round trip, and no wait for the disk: a count that is lost with the power does no harm.
    package func count(_ key: AttemptKey, window: UnixTime, of seconds: Int64) throws(StoreError) -> Int64 {
        let rows = try perform(.soon) { _ throws(PostgreSQLFailure) in [.count(key, window: window, of: seconds)] }
        return try read { () throws(PostgreSQLFailure) in
            guard let count = try rows[0].first?.integer("count") else { throw .unusable("a count is missing") }
            return count
        }
    }
}
#endif
