import Foundation
import Testing

@testable import KeyCache

@Suite struct KeyFileTests {
    /// A folder that is gone when the test ends.
    final class Place {
        let folder = FileManager.default.temporaryDirectory.path + "/key-file-\(UUID().uuidString)"
        var path: String { folder + "/keys.json" }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        func file() throws -> KeyFile { try #require(KeyFile(path: path, maximumSize: 1000)) }

        /// A folder and a file that are in order.
        func prepared(_ text: String = "old") throws -> KeyFile {
            let file = try file()
            try replace(file, text)
            return file
        }

        func replace(_ file: KeyFile, _ text: String) throws {
            guard let lock = try file.lock() else { throw KeyFileFault.unwritable(.lock, EWOULDBLOCK) }
            _ = try lock.replace(with: Array(text.utf8))
        }

        func mode(_ name: String) throws -> Int {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + name)
            return try #require(attributes[.posixPermissions] as? Int)
        }
    }

    static func text(_ content: KeyFile.Content) -> String? {
        if case .bytes(let bytes, _) = content { String(decoding: bytes, as: UTF8.self) } else { nil }
    }

    static func fault(_ file: KeyFile) -> KeyFileFault? {
        do {
            _ = try file.read(unless: nil)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["", "/", "x/", "/x/.", "/x/..", "/x\u{0}y"])
    func aPathMustNameAFile(path: String) {
        #expect(KeyFile(path: path, maximumSize: 1) == nil)
    }

    @Test func whatIsMissingIsAbsent() throws {
        let place = Place()
        guard case .absent = try place.file().read(unless: nil) else {
            Issue.record("found something")
            return
        }
        #expect(!FileManager.default.fileExists(atPath: place.folder))
    }

    @Test func folderAndFileAreForTheirOwnerAlone() throws {
        let place = Place()
        let deep = try #require(KeyFile(path: place.folder + "/a/b/keys.json", maximumSize: 1000))
        try place.replace(deep, "x")
        #expect(Self.text(try deep.read(unless: nil)) == "x")
        for folder in ["", "/a", "/a/b"] { #expect(try place.mode(folder) == 0o700) }
        for file in ["/a/b/keys.json", "/a/b/keys.json.lock"] { #expect(try place.mode(file) == 0o600) }
    }

    @Test func aVersionIsReadOnce() throws {
        let place = Place()
        let file = try place.prepared()
        guard case .bytes(_, let stamp) = try file.read(unless: nil), case .unchanged = try file.read(unless: stamp)
        else {
            Issue.record("the same version was read twice")
            return
        }
        try place.replace(file, "new")
        #expect(Self.text(try file.read(unless: stamp)) == "new")
    }

    @Test func theLockIsForOneAtATime() throws {
        let place = Place()
        let file = try place.prepared()
        func isFree() throws -> Bool { try file.lock() != nil }
        do {
            guard let held = try file.lock() else { throw KeyFileFault.unwritable(.lock, EWOULDBLOCK) }
            #expect(try !isFree())
            _ = consume held
        }
        #expect(try isFree())
    }

    /// A child that another thread forked shares the open lock until it executes its program; renewals were missed so.
    @Test func theLockEndsWithItsHolderAndNotWithAChildOfIts() throws {
        let place = Place()
        let file = try place.prepared()
        func isFree() throws -> Bool { try file.lock() != nil }
        var shared: Int32 = -1
        do {
            guard let held = try file.lock() else { throw KeyFileFault.unwritable(.lock, EWOULDBLOCK) }
            for number in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap({ Int32($0) })
            {
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                if target == place.path + ".lock" { shared = dup(number) }
            }
            _ = consume held
        }
        #expect(shared >= 0)
        #expect(try isFree())
        close(shared)
    }

    @Test func aDraftThatAKilledProcessLeftIsReplaced() throws {
        let place = Place()
        let file = try place.prepared()
        try Data("half".utf8).write(to: URL(fileURLWithPath: place.path + ".new"))
        try place.replace(file, "new")
        #expect(Self.text(try file.read(unless: nil)) == "new")
        #expect(!FileManager.default.fileExists(atPath: place.path + ".new"))
    }

    @Test func aFileUpToTheCapIsRead() throws {
        let place = Place()
        let file = try place.prepared(String(repeating: "x", count: 1000))
        #expect(Self.fault(file) == nil)
        try place.replace(file, String(repeating: "x", count: 1001))
        #expect(Self.fault(file) == .tooLarge)
    }

    @Test(arguments: [0o620, 0o602, 0o666]) func aFileThatOthersMayWriteIsNotTrusted(mode: mode_t) throws {
        let place = Place()
        let file = try place.prepared()
        chmod(place.path, mode)
        #expect(Self.fault(file) == .writableByOthers(.file))
        try place.replace(file, "new")
        #expect(Self.text(try file.read(unless: nil)) == "new")
    }

    @Test(arguments: [0o720, 0o702, 0o777, 0o1777]) func aFolderThatOthersMayWriteIsNotTrusted(mode: mode_t) throws {
        let place = Place()
        let file = try place.prepared()
        chmod(place.folder, mode)
        #expect(Self.fault(file) == .writableByOthers(.folder))
        #expect(throws: KeyFileFault.writableByOthers(.folder)) { try place.replace(file, "new") }
    }

    @Test(arguments: ["/keys.json", "/keys.json.lock", ""])
    func noLinkIsFollowed(name: String) throws {
        let place = Place()
        let file = try place.prepared()
        let real = place.folder + name
        try FileManager.default.moveItem(atPath: real, toPath: real + "-real")
        defer { try? FileManager.default.removeItem(atPath: real + "-real") }
        try FileManager.default.createSymbolicLink(atPath: real, withDestinationPath: real + "-real")
        switch name {
        case "/keys.json":
            #expect(Self.fault(file) == .symbolicLink(.file))
            // The link gives way; what it points to stays as it was.
            try place.replace(file, "new")
            #expect(Self.text(try file.read(unless: nil)) == "new")
            #expect(try String(contentsOfFile: real + "-real", encoding: .utf8) == "old")
        case "/keys.json.lock":
            #expect(throws: KeyFileFault.symbolicLink(.lock)) { try place.replace(file, "new") }
        default:
            #expect([.symbolicLink(.folder), .wrongKind(.folder)].contains(Self.fault(file)))
        }
    }

    @Test func whatIsNoFileIsNotRead() throws {
        let place = Place()
        let file = try place.prepared()
        unlink(place.path)
        // Opening a pipe would wait for somebody to write.
        mkfifo(place.path, 0o600)
        #expect(Self.fault(file) == .wrongKind(.file))
        unlink(place.path)
        mkdir(place.path, 0o700)
        #expect(Self.fault(file) == .wrongKind(.file))
        #expect(throws: KeyFileFault.unwritable(.file, EISDIR)) { try place.replace(file, "new") }
        #expect(!FileManager.default.fileExists(atPath: place.path + ".new"))
    }

    @Test(
        .enabled(if: geteuid() == 0, "needs the right to give files away"),
        arguments: ["/keys.json", "", "/keys.json.lock"])
    func whatBelongsToAnotherIsNotTrusted(name: String) throws {
        let place = Place()
        let file = try place.prepared()
        chown(place.folder + name, 65_534, 65_534)
        defer { chown(place.folder + name, 0, 0) }
        switch name {
        case "/keys.json":
            #expect(Self.fault(file) == .foreignOwner(.file))
            try place.replace(file, "new")
            #expect(Self.text(try file.read(unless: nil)) == "new")
        case "": #expect(Self.fault(file) == .foreignOwner(.folder))
        default: #expect(throws: KeyFileFault.foreignOwner(.lock)) { try place.replace(file, "new") }
        }
    }

    @Test func whereNoFolderCanBeMadeNothingIsWritten() throws {
        let file = try #require(KeyFile(path: "/proc/nowhere/keys.json", maximumSize: 1000))
        #expect(throws: KeyFileFault.self) { _ = try file.lock() }
        let place = Place()
        try Data().write(to: URL(fileURLWithPath: place.folder))
        #expect(throws: KeyFileFault.wrongKind(.folder)) { _ = try place.file().lock() }
    }
}
