import Foundation
import TestSupport
import Testing

/// A disk in memory that a test can fill, unmounted with its value. Only root can mount one.
final class SmallDisk {
    let path: String
    private var filler: String { path + "/filler" }

    /// Nil where not even root may mount, which is made known.
    ///
    /// - Parameter owner: whose it is, where that is not whoever runs the tests.
    init?(megabytes: Int, owner: (uid: uid_t, gid: gid_t)? = nil) throws {
        path = FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString)").path()
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let (uid, gid) = owner ?? (geteuid(), getegid())
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(megabytes)m,mode=700,uid=\(uid),gid=\(gid)") == 0 else {
            withKnownIssue("this machine does not let root mount") { Issue.record("mount: \(errno)") }
            rmdir(path)
            return nil
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
    }

    /// A file takes all the space but so many pages of 4 KiB.
    func fill(leaving pages: Int) throws {
        _ = FileManager.default.createFile(atPath: filler, contents: nil)
        let file = try FileHandle(forWritingTo: URL(filePath: filler))
        var size: UInt64 = 0
        let block = Data(count: 1 << 20)
        while (try? file.write(contentsOf: block)) != nil { size += UInt64(block.count) }
        size = try file.seekToEnd()
        try file.truncate(atOffset: size - min(size, UInt64(pages) * 4096))
        try file.close()
    }

    func empty() {
        unlink(filler)
    }

    func makeReadOnly(_ isReadOnly: Bool) {
        #expect(mount(nil, path, nil, UInt(isReadOnly ? MS_REMOUNT | MS_RDONLY : MS_REMOUNT), nil) == 0)
    }
}
