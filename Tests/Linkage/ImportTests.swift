import Testing

/// Who knows whom. A new room gets a line here before it gets a test.
@Suite struct ImportTests {
    /// What each room of Swift may import, in its own words: the centre nothing but itself, the edge Glibc and one library.
    static let allowed: [String: Set<String>] = [
        "JOSE": [],
        "AppleID": ["JOSE"],
        "Accounts": ["AppleID", "JOSE"],
        "OpenSSLCrypto": ["JOSE", "OpenSSLShim", "Glibc", "Synchronization"],
        "CurlHTTP": ["CurlShim", "Glibc"],
        "KeyCache": ["AppleID", "JOSE", "Glibc"],
        "UserStores": ["Accounts", "AppleID", "CurlHTTP", "JOSE", "SQLiteShim", "PostgreSQLShim", "Glibc"],
        "AuthFunction": ["Accounts", "AppleID", "JOSE", "Glibc"],
        "StartShim": [],
        "auth-apple": [
            "Accounts", "AppleID", "AuthFunction", "CurlHTTP", "JOSE", "KeyCache", "OpenSSLCrypto", "UserStores",
            "Glibc",
        ],
        "xid-command": ["FoundationEssentials", "Glibc", "JOSE", "Synchronization", "Xid"],
        "apple-simulator": ["CurlHTTP", "JOSE", "OpenSSLCrypto", "Glibc", "Synchronization"],
    ]

    /// The C rooms, with the headers of the library that each of them, and nobody else, includes.
    static let libraries = [
        "OpenSSLShim": "openssl/", "CurlShim": "curl/", "SQLiteShim": "sqlite3", "PostgreSQLShim": "postgresql/",
    ]

    @Test func everyRoomImportsOnlyTheRoomsThatItMayKnow() throws {
        for room in try Room.all() where Self.libraries[room.name] == nil && room.name != "Xid" {
            let allowed = try #require(Self.allowed[room.name], "\(room.name) has no line in the table")
            for item in room.imports where item.name.contains("/") == false {
                #expect(allowed.contains(item.name), "\(item)")
            }
        }
    }

    @Test func theRoomsOfTheTableAreThere() throws {
        let rooms = Set(try Room.all().map(\.name))
        #expect(rooms.isSuperset(of: Self.allowed.keys))
    }

    /// Its API speaks of URLs and dates. On Linux the small half of Foundation has both; on Apple's systems there is but one.
    @Test func foundationComesOnlyWithXidAndThereNoMoreOfItThanNeeded() throws {
        let xid: Set = ["Xid", "xid-command"]
        for room in try Room.all() {
            for item in room.imports where item.name.hasPrefix("Foundation") {
                let isApple = item.conditions.contains("canImport(AuthenticationServices)")
                let isEssential = item.name == "FoundationEssentials"
                let isElse = item.conditions.contains("not canImport(FoundationEssentials)")
                #expect(isApple || (xid.contains(room.name) && (isEssential || isElse)), "\(item)")
            }
        }
    }

    /// The client and the function share `JOSE`; of the function itself an app gets nothing.
    @Test func xidImportsTheCentreTheTwoLibrariesAndTheSystem() throws {
        let allowed: Set = [
            "JOSE", "CurlHTTP", "OpenSSLCrypto", "Glibc", "FoundationEssentials", "Foundation", "os",
        ]
        let xid = try Room("Xid")
        #expect(!xid.imports.isEmpty)
        for item in xid.imports where !item.conditions.contains("canImport(AuthenticationServices)") {
            #expect(allowed.contains(item.name), "\(item)")
        }
    }

    @Test(arguments: libraries.sorted { $0.key < $1.key })
    func aLibraryIsIncludedByItsOwnShimOnly(shim: String, headers: String) throws {
        for room in try Room.all() where room.name != shim {
            for item in room.imports { #expect(!item.name.hasPrefix(headers), "\(item)") }
        }
    }

    /// Nothing imports a program. (In the tests programs are run, not linked.)
    @Test func theSimulatorIsPartOfNoOtherRoom() throws {
        for item in try Room.all().flatMap(\.imports) { #expect(item.name != "apple_simulator", "\(item)") }
    }

    @Test func theCheckSeesEveryFormOfImport() {
        let text = """
            import A
            package import B
            @testable internal import C
            @_implementationOnly import struct D.Thing
              import E.Sub // why
            // import F
            let x = "import G"
            #if canImport(AuthenticationServices)
            import Foundation
            #else
            import Foundation
            #endif
            @preconcurrency private import func H.f
            """
        let imports = Import.all(inSwift: text, named: "x")
        #expect(imports.map(\.name) == ["A", "B", "C", "D", "E", "Foundation", "Foundation", "H"])
        #expect(imports[5].conditions == ["canImport(AuthenticationServices)"])
        #expect(imports[6].conditions == ["not canImport(AuthenticationServices)"])
        #expect(imports[7].conditions.isEmpty)
        #expect(
            Import.all(inC: "# include <curl/curl.h>\n#include \"a.h\"\n", named: "y").map(\.name) == [
                "curl/curl.h", "a.h",
            ])
    }
}
