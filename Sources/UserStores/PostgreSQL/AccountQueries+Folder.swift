#if PostgreSQL
internal import Glibc

/// The statements of the owner's users table, in files of a folder (`AUTH_APPLE_ACCOUNT_QUERIES`): `find_by_id.sql` and so on,
/// one statement each.
extension AccountQueries {
    private static let maximumBytes = 65_536

    /// Without the first nobody ever moved to another team is found again, without the second nobody is linked.
    private static let optional: Set<Purpose> = [.findByTransferSubject, .findByVerifiedEmail]

    init(folder: String) throws(PostgreSQLFailure) {
        var texts: [Purpose: String] = [:]
        for purpose in Purpose.allCases {
            let text = try Self.read("\(folder)/\(purpose.rawValue).sql")
            guard text != nil || Self.optional.contains(purpose) else {
                throw .unusable("AUTH_APPLE_ACCOUNT_QUERIES: \(purpose.rawValue).sql is missing")
            }
            texts[purpose] = text
        }
        self.init(texts: texts, isMapped: true)
    }

    /// Whether there is such a folder, and whether a verified address can find an account in it; nothing is read.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return (unsafe stat(path, &status)) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    static func canLink(_ folder: String) -> Bool {
        (unsafe access("\(folder)/\(Purpose.findByVerifiedEmail.rawValue).sql", R_OK)) == 0
    }

    /// Nil when there is no such file.
    private static func read(_ path: String) throws(PostgreSQLFailure) -> String? {
        let name = path.split(separator: "/").last ?? ""
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw .unusable("AUTH_APPLE_ACCOUNT_QUERIES: \(name) cannot be opened: let this user read it")
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o022 == 0 else {
            throw .unusable("AUTH_APPLE_ACCOUNT_QUERIES: others may write to \(name): chmod go-w, or it is no file")
        }
        var bytes = [UInt8](repeating: 0, count: maximumBytes + 1)
        var count = 0
        while count < bytes.count {
            let added = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(file, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            if added < 0, errno == EINTR { continue }
            guard added >= 0 else { throw .unusable("AUTH_APPLE_ACCOUNT_QUERIES: \(name) cannot be read") }
            if added == 0 { break }
            count += added
        }
        guard count <= maximumBytes, let text = String(validating: bytes[..<count], as: UTF8.self),
            !text.utf8.contains(0)
        else { throw .unusable("AUTH_APPLE_ACCOUNT_QUERIES: \(name) is no text of 64 KiB at most") }
        return text
    }
}
#endif
