import Foundation
import Testing

/// Strict memory safety makes every use of unchecked memory say `unsafe`. Here each file that does says why it must, so that a
/// new one is a decision.
@Suite struct UnsafeTests {
    /// Calls into C that take or give pointers; Swift passes buffers that it bounds itself, or strings that it ends with a NUL.
    private static let system = "calls of the operating system that take or fill memory"
    private static let openSSL = "libcrypto's handles, owned by one value each, and buffers with their lengths"
    private static let curl = "libcurl is loaded at run time: its functions, handles and callbacks are pointers"
    private static let postgreSQL = "libpq is loaded at run time: its functions and handles are pointers"
    private static let clock = "the monotonic clock"
    private static let sqlite = "SQLite's handles, owned by one value each, and its callbacks"

    static let reasons = [
        "CurlHTTP/CurlHandle.swift": curl,
        "CurlHTTP/CurlLibrary.swift": curl,
        "CurlHTTP/ResponseReceiver.swift": "bytes that libcurl lends for the time of a callback, copied at once",
        "KeyCache/Descriptor.swift": system,
        "KeyCache/KeyCache.swift": clock,
        "KeyCache/KeyFile.swift": "mkdir takes a C string",
        "KeyCache/KeyFileFault.swift": "strerror gives a C string, copied at once",
        "OpenSSLCrypto/BigNumber.swift": openSSL,
        "OpenSSLCrypto/ECDSASignature.swift": openSSL,
        "OpenSSLCrypto/KeyParameters.swift": "a list of OSSL_PARAM whose memory is owned, scrubbed and freed here",
        "OpenSSLCrypto/Library.swift": openSSL,
        "OpenSSLCrypto/OpenSSLCryptography+PrivateKey.swift": openSSL,
        "OpenSSLCrypto/OpenSSLCryptography+Sealing.swift": openSSL,
        "OpenSSLCrypto/OpenSSLCryptography.swift": openSSL,
        "OpenSSLCrypto/P256+Pair.swift": openSSL,
        "OpenSSLCrypto/PKey+Generation.swift": openSSL,
        "OpenSSLCrypto/PKey+Signatures.swift": openSSL,
        "OpenSSLCrypto/PKey.swift": openSSL,
        "OpenSSLCrypto/RunningSHA256.swift": openSSL,
        "UserStores/DynamoDB/AWSCredentialChain.swift": system,
        "UserStores/DynamoDB/RetrySchedule.swift": clock,
        "UserStores/PostgreSQL/AccountQueries+Folder.swift": system,
        "UserStores/PostgreSQL/PostgreSQLConnection.swift": postgreSQL,
        "UserStores/PostgreSQL/PostgreSQLLibrary.swift": postgreSQL,
        "UserStores/PostgreSQL/TimeLimit.swift": clock,
        "UserStores/SQLite/Connection.swift": sqlite,
        "UserStores/SQLite/DatabaseFile.swift": system,
        "UserStores/SQLite/IdleStatements.swift": sqlite,
        "UserStores/SQLite/LogLimit.swift": sqlite,
        "UserStores/SQLite/Patience.swift": sqlite,
        "UserStores/SQLite/SQLiteFailure.swift": "SQLite's words on an error are a C string, copied at once",
        "UserStores/SQLite/Statement.swift":
            "bound and read values are buffers with their lengths, copied on either side",
        "Xid/Apple/CryptoKitCryptography.swift": "Security fills a buffer whose length it is told",
        "Xid/Apple/KeychainTokenStorage.swift": "the Keychain's answer comes by reference",
        "Xid/Guarded.swift":
            "a mutex of the system's has one address for its whole life; it guards the value beside it",
        "Xid/Linux/DetachedThread.swift": "a thread gets what it is to do as a pointer that it owns",
        "Xid/Linux/FileTokenStorage+Turn.swift": system,
        "Xid/Linux/FileTokenStorage.swift": system,
        "Xid/Linux/LoopbackListener.swift": "socket addresses are read as their general form",
        "Xid/Linux/LoopbackVisit.swift": system,
        "Xid/Linux/Platform+Linux.swift": "the clock",
        "Xid/Linux/SystemBrowser.swift": system,
        "apple-simulator/Keys/KeyFile.swift": system,
        "apple-simulator/Serve/Connection.swift": system,
        "apple-simulator/Serve/Errand.swift": "a thread gets what it is to do as a pointer that it owns",
        "apple-simulator/Serve/HTTPServer.swift": system,
        "apple-simulator/Serve/Listener.swift": "socket addresses are read as their general form",
        "apple-simulator/Serve/StopSignal.swift": "a signal's handler reaches one pipe, which is there before it is",
        "apple-simulator/StandIn/MemoryFile.swift": system,
        "apple-simulator/StandIn/Registry.swift": system,
        "apple-simulator/System.swift": system,
        "auth-apple/CGIDoorway.swift": "getenv gives a C string, of which only its being there is looked at",
        "auth-apple/Descriptor.swift": system,
        "auth-apple/ExportFile.swift": system,
        "auth-apple/OwnFile.swift": system,
        "auth-apple/StoreImport.swift": system,
        "auth-apple/Successor.swift": system,
        "auth-apple/System.swift": system,
        "xid-command/Interrupt.swift": "a signal's handler reaches what is there before it is",
        "xid-command/SessionText.swift": system,
        "xid-command/Terminal.swift": system,
    ]

    /// Rooms at the edge. Everywhere else no memory is touched that Swift has not checked.
    static let edges: Set = [
        "CurlHTTP", "KeyCache", "OpenSSLCrypto", "UserStores", "apple-simulator", "auth-apple", "Xid", "xid-command",
    ]

    private static func files() throws -> [(path: String, text: String)] {
        try FileManager.default.subpathsOfDirectory(atPath: Room.sources.path()).filter { $0.hasSuffix(".swift") }
            .map { ($0, try String(contentsOf: Room.sources.appending(path: $0), encoding: .utf8)) }
    }

    /// Whether a line of code, not of comment, says it.
    private static func isUnsafe(_ text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            line.firstMatch(of: /\bunsafe\b/) != nil && !line.drop { $0 == " " }.hasPrefix("//")
        }
    }

    @Test func `Every file that says unsafe says why, and no other file has a reason`() throws {
        let unsafe = try Set(Self.files().filter { Self.isUnsafe($0.text) }.map(\.path))
        #expect(unsafe.subtracting(Self.reasons.keys).sorted() == [], "give the reason in the table")
        #expect(Set(Self.reasons.keys).subtracting(unsafe).sorted() == [], "take the reason out of the table")
    }

    @Test func `Only the edge may`() throws {
        for file in try Self.files() where Self.isUnsafe(file.text) {
            #expect(Self.edges.contains(String(file.path.prefix { $0 != "/" })), "\(file.path)")
        }
    }

    /// A type that vouches for itself is one of the wrappers that have a reason.
    @Test func `The check is on in every room, and only wrappers vouch for themselves`() throws {
        for file in try Self.files() where file.text.contains("@safe") {
            #expect(Self.reasons[file.path] != nil, "\(file.path) says @safe")
        }
        let manifest = try String(
            contentsOf: Room.sources.deletingLastPathComponent().appending(path: "Package.swift"), encoding: .utf8)
        #expect(manifest.contains(".strictMemorySafety()"))
        #expect(!manifest.contains("unsafeFlags"))
    }

    @Test func `The check sees code and not comments`() {
        #expect(Self.isUnsafe("    let a = unsafe b"))
        #expect(Self.isUnsafe("    nonisolated(unsafe) let a = 1"))
        #expect(!Self.isUnsafe("    /// It is unsafe.\n    // unsafe\n    let unsafeties = 0"))
    }
}
