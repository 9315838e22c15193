import Foundation
import Testing

@testable import Xid

/// The storage on Linux.
@Suite struct FileTokenStorageTests {
    static func inFolder(_ work: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.path() + "xid-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await work(folder)
    }

    static func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    /// All but the locks, which hold nothing.
    static func files(in folder: String) throws -> [String] {
        #expect(try mode(folder + "/.lock") == 0o600)
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }
    }

    @Test func whatIsSavedIsLoadedUntilItIsDeleted() async throws {
        try await Self.inFolder { folder in
            let storage = try FileTokenStorage(folder: folder + "/a/b")
            #expect(try storage.load(key: "k") == nil)
            try storage.delete(key: "k")
            try storage.save(key: "k", value: "one")
            try storage.save(key: "k", value: "zwei €")
            #expect(try storage.load(key: "k") == "zwei €")
            #expect(try FileTokenStorage(folder: folder + "/a/b").load(key: "k") == "zwei €")
            try storage.delete(key: "k")
            #expect(try storage.load(key: "k") == nil)
            #expect(try Self.files(in: folder + "/a/b").isEmpty)
        }
    }

    @Test func onlyTheOwnerCanReadWhateverTheUmask() async throws {
        try await Self.inFolder { folder in
            let storage = try FileTokenStorage(folder: folder)
            try storage.save(key: "k", value: "x")
            #expect(try Self.mode(folder) == 0o700)
            #expect(try Self.mode(folder + "/k") == 0o600)
        }
    }

    @Test func aFileThatOthersCanReadOrALinkIsNotBelieved() async throws {
        try await Self.inFolder { folder in
            let storage = try FileTokenStorage(folder: folder)
            try storage.save(key: "k", value: "x")
            chmod(folder + "/k", 0o640)
            #expect(throws: XidError.self) { try storage.load(key: "k") }
            // A link to a file that would be fine by itself.
            try storage.save(key: "m", value: "x")
            symlink("m", folder + "/l")
            #expect(throws: XidError.self) { try storage.load(key: "l") }
            mkdir(folder + "/d", 0o700)
            #expect(throws: XidError.self) { try storage.load(key: "d") }
            // A pipe would keep the reader waiting.
            mkfifo(folder + "/p", 0o600)
            #expect(throws: XidError.self) { try storage.load(key: "p") }
            // Saving replaces the link and not what it leads to.
            try storage.save(key: "l", value: "y")
            #expect(try storage.load(key: "l") == "y")
            chmod(folder, 0o770)
            #expect(throws: XidError.self) { try storage.load(key: "l") }
            #expect(throws: XidError.self) { try storage.save(key: "l", value: "z") }
            chmod(folder, 0o700)
        }
    }

    /// Whoever may read a folder may lock it: `xid logout` waited for as long as another user of the machine liked.
    @Test func nobodyElsesLockOnTheFolderIsWaitedFor() async throws {
        try await Self.inFolder { folder in
            let storage = try FileTokenStorage(folder: folder)
            try storage.save(key: "k", value: "x")
            let other = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(other) }
            try #require(other >= 0 && flock(other, LOCK_EX | LOCK_NB) == 0)
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                try? storage.save(key: "k", value: "y")
                done.signal()
            }
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                Thread.detachNewThread {
                    #expect(done.wait(timeout: .now() + 30) == .success)
                    continuation.resume()
                }
            }
            #expect(try storage.load(key: "k") == "y")
        }
    }

    @Test(arguments: ["../k", "a/b", "", ".", "..", ".hidden", "a\0b", "é", String(repeating: "k", count: 201)])
    func aKeyNamesNothingOutsideTheFolder(key: String) async throws {
        try await Self.inFolder { folder in
            let storage = try FileTokenStorage(folder: folder)
            #expect(throws: XidError.self) { try storage.save(key: key, value: "x") }
            #expect(throws: XidError.self) { try storage.load(key: key) }
            #expect(throws: XidError.self) { try storage.delete(key: key) }
        }
    }

    @Test func aDraftOfAProcessThatWasKilledIsReplacedAndErased() async throws {
        try await Self.inFolder { folder in
            let storage = try FileTokenStorage(folder: folder)
            try storage.save(key: "k", value: "x")
            try "half".write(toFile: folder + "/k.new", atomically: false, encoding: .utf8)
            try storage.save(key: "k", value: "y")
            #expect(try storage.load(key: "k") == "y")
            try "half".write(toFile: folder + "/k.new", atomically: false, encoding: .utf8)
            try storage.delete(key: "k")
            #expect(try Self.files(in: folder).isEmpty)
        }
    }

    @Test func aPlaceThatIsNoneIsUnavailableAndNotEmpty() async throws {
        try await Self.inFolder { folder in
            try "x".write(toFile: folder, atomically: false, encoding: .utf8)
            let storage = try FileTokenStorage(folder: folder)
            #expect(throws: XidError.self) { try storage.load(key: "k") }
            #expect(throws: XidError.self) { try storage.save(key: "k", value: "x") }
        }
    }

    @Test func aReaderSeesTheOldOrTheNewAndNothingBetween() async throws {
        try await Self.inFolder { folder in
            let storage = try FileTokenStorage(folder: folder)
            let values = ["a", "b", "c"].map { String(repeating: $0, count: 20_000) }
            try storage.save(key: "k", value: values[0])
            // Threads, as the pool has too few for them to meet.
            let faults = Guarded(0)
            let done = DispatchGroup()
            let run = { (work: @escaping @Sendable () throws -> Void) in
                done.enter()
                Thread.detachNewThread {
                    do { try work() } catch { faults.withLock { $0 += 1 } }
                    done.leave()
                }
            }
            for value in values + values {
                run { for _ in 0..<50 { try storage.save(key: "k", value: value) } }
            }
            run {
                for _ in 0..<500 {
                    let value = try storage.load(key: "k")
                    #expect(value.map(values.contains) == true)
                }
            }
            await withCheckedContinuation { continuation in
                done.notify(queue: .global()) { continuation.resume() }
            }
            #expect(faults.withLock { $0 } == 0)
            #expect(try Self.files(in: folder) == ["k"])
        }
    }

    @Test func itKeepsARealSession() async throws {
        try await Self.inFolder { folder in
            let trial = try Trial(dpop: .required, isLocal: true, scopes: ["openid", "offline_access"])
            try trial.xid.setTokenStorage(FileTokenStorage(folder: folder))
            let session = try await trial.xid.signIn()
            let later = trial.restarted()
            try later.xid.setTokenStorage(FileTokenStorage(folder: folder))
            #expect(try await later.xid.getSession() == session)
            _ = try await later.xid.getAccessToken(forceRefresh: true)
            try await later.xid.signOut()
            #expect(try Self.files(in: folder).isEmpty)
        }
    }

    /// Two commands at once lost the session: the one whose refresh token was spent already was answered first, and erased it.
    @Test func twoProcessesSpendOneRefreshToken() async throws {
        try await Self.inFolder { folder in
            let trial = try Trial(dpop: .required, scopes: ["openid", "offline_access"])
            defer { trial.site?.stop() }
            try trial.xid.setTokenStorage(FileTokenStorage(folder: folder))
            let former = try await trial.xid.signIn()
            let other = trial.restarted()
            try other.xid.setTokenStorage(FileTokenStorage(folder: folder))
            trial.clock.advance(1000)
            let gate = Gate()
            trial.provider.locked { trial.provider.beforeTokenAnswer = { gate.pass() } }
            let first = Task { try await trial.xid.getAccessToken() }
            await gate.reached()
            let second = Task { try await other.xid.getAccessToken() }
            // Time enough to ask the provider a second time.
            try await Task.sleep(for: .milliseconds(500))
            #expect(trial.provider.count("/token") == 2, "the sign-in's and the first's")
            gate.open(2)
            let token = try await first.value
            #expect(try await second.value == token && token != former.accessToken)
            #expect(!trial.provider.locked { trial.provider.isFamilyRevoked })
        }
    }
}
