import JOSE
import TestSupport
import Testing

struct CompactJWSTests {
    private func parse(_ token: String) throws -> CompactJWS {
        try CompactJWS(parsing: Array(token.utf8)[...], allowing: [.rs256])
    }

    @Test func `A token of 8192 bytes is looked at, and one byte more is not`() throws {
        let header = Base64URL.encode(Array(#"{"alg":"RS256"}"#.utf8))
        func token(_ size: Int) -> String {
            // 4n characters for the payload, the rest for the signature, each of a possible length.
            let rest = size - header.utf8.count - 2
            return "\(header).\(String(repeating: "A", count: rest - 342)).\(String(repeating: "A", count: 342))"
        }
        #expect(throws: Never.self) { try parse(token(8192)) }
        #expect(throws: JOSEError.tooLarge) { try parse(token(8193)) }
    }

    @Test func `A name of 64 characters is taken, and one more is not`() throws {
        func token(_ count: Int) -> String {
            TokenForge().withHeader(["kid": .string(String(repeating: "é", count: count))]).token
        }
        #expect(try parse(token(64)).header.keyID?.count == 64)
        #expect(throws: JOSEError.malformed) { try parse(token(65)) }
    }

    @Test func `The signature is checked over the original bytes, however they are spelled`() throws {
        let spelled = "{ \"alg\" : \"RS256\",\n\"kid\":\"\(TokenForge.key.keyID)\" }"
        let token = TokenForge.token(header: spelled, payload: "{ \"a\" : 1 }")
        let verified = try parse(token).verified(by: TokenForge.key.jwk, using: TokenForge.cryptography)
        #expect(verified.payload == Array("{ \"a\" : 1 }".utf8))
    }

    @Test func `A token inside a larger buffer is the slice and nothing around it`() throws {
        let token = TokenForge().token
        let bytes = Array("x.y\(token)z.w".utf8)
        let jws = try CompactJWS(parsing: bytes[3..<bytes.count - 3], allowing: [.rs256])
        #expect(throws: Never.self) { try jws.verified(by: TokenForge.key.jwk, using: TokenForge.cryptography) }
        #expect(throws: JOSEError.malformed) { try CompactJWS(parsing: bytes[...], allowing: [.rs256]) }
    }

    @Test func `An algorithm that is not asked for is refused, also one of ours`() throws {
        let token = Array(TokenForge().token.utf8)
        #expect(throws: JOSEError.algorithm) { try CompactJWS(parsing: token[...], allowing: [.es256]) }
        #expect(throws: JOSEError.algorithm) { try CompactJWS(parsing: token[...], allowing: []) }
    }

    @Test func `Every token with one byte changed is refused`() throws {
        let token = Array(TokenForge().token.utf8)
        let key = TokenForge.key.jwk
        for index in token.indices {
            for change: UInt8 in [1, 2, 32, 128] {
                var changed = token
                changed[index] ^= change
                #expect(throws: JOSEError.self) {
                    try CompactJWS(parsing: changed[...], allowing: [.rs256]).verified(
                        by: key, using: TokenForge.cryptography)
                }
            }
        }
    }
}
