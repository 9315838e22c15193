import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

private let cryptography = OpenSSLCryptography()

/// Wycheproof's cases for JWS and JWK sets, all of them.
@Suite(.enabled(if: Vectors.arePresent, "needs ../shared/vectors"))
struct WycheproofTests {
    /// Cases marked valid that are refused here, each for its reason. No case marked invalid is accepted.
    private static let refusedSignatures: [String: Set<Int64>] = [
        "HS256 is not an algorithm of this project": [1, 348, 352, 357, 358, 359, 372, 373, 376, 377],
        "RS384 is not": [264, 265, 266, 267],
        "RS512 is not": [268, 269, 270, 271],
        "PS256 is not": [272, 273, 274, 275, 287, 288],
        "PS384 is not": [320, 321, 322, 323],
        "PS512 is not": [325, 326, 327, 328],
        "the key says PS256, the token PS384": [346, 350],
        "the key says ES521, which does not exist, and is of P-521; the token says ES512": [347, 351],
    ]

    private static let refusedKeySets: [String: Set<Int64>] = [
        "HS256, HS384 and HS512 are not algorithms of this project, and its key sets hold no secrets": [2, 13, 14, 15]
    ]

    private struct Tally {
        var accepted: Set<Int64> = []
        var refused: Set<Int64> = []
        var valid: Set<Int64> = []
        var all: Set<Int64> { accepted.union(refused) }
    }

    private func tally(_ file: String, verify: (_ token: String, _ key: JSON) throws -> Void) throws -> Tally {
        var tally = Tally()
        for group in try #require(Vectors.json("wycheproof/\(file)")["testGroups"]?.array) {
            let key = try #require(group["public"] ?? group["private"])
            for test in try #require(group["tests"]?.array) {
                let id = try #require(test["tcId"]?.integer)
                let token = try #require(test["jws"]?.string)
                do {
                    try verify(token, key)
                    tally.accepted.insert(id)
                } catch is JOSEError {
                    tally.refused.insert(id)
                }
                if test["result"] == "valid" { tally.valid.insert(id) }
            }
        }
        return tally
    }

    private func verify(_ token: String, by key: (String?) throws -> JWK) throws {
        let jws = try CompactJWS(parsing: Array(token.utf8)[...], allowing: [.rs256, .es256])
        _ = try jws.verified(by: try key(jws.header.keyID), using: cryptography)
    }

    @Test func `JWS: what is valid by an algorithm of ours is accepted, and nothing else`() throws {
        let tally = try tally("json_web_signature_test.json") { token, key in
            try verify(token) { _ in try JWK(key) }
        }
        let exceptions = Self.refusedSignatures.values.reduce(into: Set()) { $0.formUnion($1) }
        #expect(tally.all.count == 401)
        #expect(exceptions.isSubset(of: tally.valid))
        #expect(tally.accepted == tally.valid.subtracting(exceptions))
        #expect(tally.accepted == [18, 33, 259, 260, 261, 262, 263, 345, 349, 378])
    }

    @Test func `JWK sets: what is valid by an algorithm of ours is accepted, and nothing else`() throws {
        let tally = try tally("json_web_key_test.json") { token, key in
            let keys = try KeySet(parsing: key.serialized()[...])
            try verify(token) { try keys.key(named: $0) }
        }
        let exceptions = Self.refusedKeySets.values.reduce(into: Set()) { $0.formUnion($1) }
        #expect(tally.all.count == 26)
        #expect(exceptions.isSubset(of: tally.valid))
        #expect(tally.accepted == tally.valid.subtracting(exceptions))
        #expect(tally.accepted == [5])
    }
}
