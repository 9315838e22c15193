#if SQLite
import Accounts
import Foundation
import Testing
import UserStores

/// Disks that are full and files that may not be written: unavailable, nothing lost, nothing half done.
@Suite(.serialized) struct SQLiteFaultTests {
    @Test func aFileThatMayNotGrowIsUnavailable() throws {
        try withDatabase { path, store in
            _ = try store.signIn(person("1")) { login(of: $0) }
            // The log can take no further page.
            let refusal = try StoreProbe("sqlite:\(path)", "canary-subject", ["--file-size", "32768"]).refusal()
            #expect(refusal.contains("unavailable"), "\(refusal)")
            #expect(try store.check().contains("1 accounts, 1 sessions"))
            #expect(try StoreProbe("sqlite:\(path)", "canary-subject").signedIn().isNew)
            // An attempt that could not be counted must not pass for the first one.
            let uncounted = try StoreProbe(
                "sqlite:\(path)", command: ["count", "sign-in", "1760000000", "1", "--file-size", "32768"]
            ).refusal()
            #expect(uncounted.contains("unavailable"), "\(uncounted)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
    func aFullDiskIsUnavailableUntilThereIsSpaceAgain() throws {
        try withFolder { folder in
            let disk = "\(folder)/disk"
            try make(disk, mode: 0o700)
            guard mount("tmpfs", disk, "tmpfs", 0, "size=256k,mode=700") == 0 else {
                withKnownIssue("this machine does not let root mount") { Issue.record("mount: \(errno)") }
                return
            }
            defer { umount2(disk, Int32(MNT_DETACH)) }
            let url = "sqlite:\(disk)/accounts.db"
            _ = try StoreProbe(url, "first").signedIn()
            let filler = "\(disk)/filler"
            _ = FileManager.default.createFile(atPath: filler, contents: nil)
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: filler))
            for _ in 0..<64 { if (try? handle.write(contentsOf: Data(count: 4096))) == nil { break } }
            try handle.close()
            for _ in 0..<3 {
                let refusal = try StoreProbe(url, "canary-subject").refusal()
                #expect(refusal.contains("unavailable") && refusal.contains("SQLITE_FULL"), "\(refusal)")
            }
            try FileManager.default.removeItem(atPath: filler)
            #expect(try StoreProbe(url, "canary-subject").signedIn().isNew)
            #expect(try !StoreProbe(url, "first").signedIn().isNew)
            #expect(try UserStores.open(url).check().contains("2 accounts, 3 sessions"))
        }
    }

    enum Obstacle: CaseIterable {
        case readOnlyFile, readOnlyFolder, unreadableFile, foreignLog, folderInPlaceOfFile
    }

    /// Root may write everywhere, so a root's test lets the process become nobody.
    @Test(arguments: Obstacle.allCases)
    func whatMayNotBeWrittenIsUnavailable(_ obstacle: Obstacle) throws {
        try withFolder { folder in
            let nobody = geteuid() == 0 ? ["--user", "65534"] : []
            let state = "\(folder)/state"
            let path = "\(state)/accounts.db"
            try make(state, mode: 0o700)
            if geteuid() == 0 {
                chmod(folder, 0o711)
                chown(state, 65534, 65534)
            }
            switch obstacle {
            case .readOnlyFile, .unreadableFile, .foreignLog:
                _ = try StoreProbe("sqlite:\(path)", "1", nobody).signedIn()
                if obstacle == .foreignLog {
                    chmod(path + "-wal", 0)
                } else {
                    chmod(path, obstacle == .readOnlyFile ? 0o400 : 0)
                }
            case .readOnlyFolder: chmod(state, 0o500)
            case .folderInPlaceOfFile: try make(path, mode: 0o755)
            }
            let refusal = try StoreProbe("sqlite:\(path)", "canary-subject", nobody + ["--patience", "50"]).refusal()
            #expect(refusal.contains("unavailable"), "\(refusal)")
        }
    }
}
#endif
