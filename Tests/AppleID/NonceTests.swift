import AppleID
import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

struct NonceTests {
    private func outcome(
        sent: String?, claim: JSON?, supported: JSON? = .bool(true), isRequired: Bool = false
    ) throws -> TokenRefusal? {
        try Verdict(requiresNonce: isRequired)
            .refusal(TokenForge().with(["nonce": claim, "nonce_supported": supported]).token, nonce: sent)
    }

    /// Every combination of what was sent, what the token has, what it says of the device, and what we demand.
    @Test(
        arguments: [
            JSON.bool(true), .bool(false), nil, "true", "false", .null, .integer(0), "no",
        ] as [JSON?], [false, true])
    func `The whole table`(supported: JSON?, isRequired: Bool) throws {
        func outcome(sent: String?, claim: JSON?) throws -> TokenRefusal? {
            try self.outcome(sent: sent, claim: claim, supported: supported, isRequired: isRequired)
        }
        // Only the word false, as Boolean or as string, excuses a token without a nonce, and only if one was sent.
        let isExcused = supported == .bool(false) || supported == "false"
        #expect(try outcome(sent: "n", claim: "n") == nil)
        #expect(try outcome(sent: "n", claim: "m") == .nonceMismatch)
        #expect(try outcome(sent: "n", claim: nil) == (isExcused ? nil : .nonceMissing))
        #expect(try outcome(sent: nil, claim: "n") == (isRequired ? .nonceUnexpected : nil))
        #expect(try outcome(sent: nil, claim: nil) == (isRequired ? .nonceMissing : nil))
    }

    private static let raw = "4f1d9c4e-7f5b-4a52-9a4e-0f4b6b6f2d11"
    private static let digest = TokenForge.cryptography.sha256(Array(raw.utf8)[...])
    private static let base64 = Data(digest).base64EncodedString()

    private static let spellings: [(String, String)] = [
        ("raw", raw), ("hex", digest.hex), ("HEX", digest.hex.uppercased()),
        ("hex in both cases", digest.hex.prefix(32) + digest.hex.dropFirst(32).uppercased()),
        ("base64url", Base64URL.encode(digest)), ("base64url padded", Base64URL.encode(digest) + "="),
        ("base64", base64),
        ("base64 unpadded", String(base64.dropLast())),
    ]

    @Test(arguments: spellings)
    func `The raw nonce and its digest match in every spelling`(name: String, claim: String) throws {
        #expect(try outcome(sent: Self.raw, claim: .string(claim)) == nil)
        #expect(try outcome(sent: Self.raw + "x", claim: .string(claim)) == .nonceMismatch)
        #expect(try outcome(sent: "", claim: .string(claim)) == .nonceMismatch)
    }

    @Test(arguments: spellings)
    func `A spelling with one character changed, more or less does not match`(name: String, claim: String) throws {
        let characters = Array(claim.utf8)
        for index in characters.indices {
            var changed = characters
            changed[index] = changed[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            #expect(
                try outcome(sent: Self.raw, claim: .string(String(decoding: changed, as: UTF8.self))) == .nonceMismatch)
        }
        // The last “=” may go, and may come once, but no other character.
        let isBase64 = name.hasPrefix("base64")
        for near in [claim + "0", " " + claim, claim + " ", claim + "==", String(claim.dropFirst())] {
            #expect(try outcome(sent: Self.raw, claim: .string(near)) == .nonceMismatch)
        }
        if !isBase64 {
            #expect(try outcome(sent: Self.raw, claim: .string(String(claim.dropLast()))) == .nonceMismatch)
        }
    }

    @Test func `The unused bits of base64 must be zero`() throws {
        let text = Base64URL.encode(Self.digest)
        let last = try #require(text.last)
        let index = try #require(Base64URL.alphabet.firstIndex(of: last))
        for unused in 1...3 {
            let near = text.dropLast() + String(Base64URL.alphabet[index | unused])
            guard near != text else { continue }
            #expect(try outcome(sent: Self.raw, claim: .string(String(near))) == .nonceMismatch)
        }
    }

    @Test func `The digest of the digest, and a digest for a raw nonce, do not match`() throws {
        let twice = TokenForge.cryptography.sha256(Array(Self.digest.hex.utf8)[...])
        #expect(try outcome(sent: Self.raw, claim: .string(twice.hex)) == .nonceMismatch)
        #expect(try outcome(sent: Self.digest.hex, claim: .string(Self.raw)) == .nonceMismatch)
        #expect(try outcome(sent: "e\u{301}", claim: "\u{E9}") == .nonceMismatch)
    }

    @Test(arguments: [.null, .integer(1), .bool(true), .array(["n"]), .object([:])] as [JSON])
    func `A nonce that is not a string is malformed, whether one was sent or not`(_ claim: JSON) throws {
        #expect(try outcome(sent: "n", claim: claim) == .malformed)
        #expect(try outcome(sent: nil, claim: claim) == .malformed)
    }
}
