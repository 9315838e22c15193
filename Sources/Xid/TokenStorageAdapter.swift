/// Where tokens are kept between runs of the app: a few short texts by name.
///
/// Three things are asked of an implementation. `save` replaces the value at once: who reads meanwhile gets the old one or
/// the new one. `load` gives nil only when there is nothing, and throws when it cannot look, for instance while the
/// device is locked: nil means signed out. `delete` of what is not there succeeds. Values are secrets; do not log them, and do
/// not put them into an error. Calls may come from any thread, one at a time for each key.
///
/// ```swift
/// struct EnterpriseKeychain: TokenStorageAdapter {
///     func save(key: String, value: String) throws { /* ... */ }
///     func load(key: String) throws -> String? { /* ... */ }
///     func delete(key: String) throws { /* ... */ }
/// }
/// try Xid.shared.setTokenStorage(EnterpriseKeychain())
/// ```
///
/// What it throws reaches the caller as `XidError` with the code `storage_failed`, without its text. Throw an ``XidError`` of your own
/// to say more, such as `storage_unavailable` while the device is locked.
public protocol TokenStorageAdapter: Sendable {
    /// Keeps `value` under `key`, in place of what was there.
    func save(key: String, value: String) throws

    /// What is kept under `key`; nil when there is nothing.
    func load(key: String) throws -> String?

    /// Removes what is kept under `key`.
    func delete(key: String) throws
}
