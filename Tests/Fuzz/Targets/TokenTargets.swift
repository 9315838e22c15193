import JOSE

@testable import Accounts
@testable import AppleID

extension FuzzTarget {
    /// Header, claims and the nonce that an app sent, a line each, as a token whose signature is taken for good. What is
    /// accepted obeys the rules, which are written here once more.
    static let appleToken = FuzzTarget("apple-token") { input in
        let (token, lines) = token(of: input)
        let verifier = AppleTokenVerifier(policy: FuzzSite.policy, cryptography: CredulousCryptography())
        guard
            let verified = try? verifier.verify(
                token[...], keys: FuzzSite.Keys(keySet: FuzzSite.appleKeys), at: FuzzSite.now)
        else { return .interesting }
        let claims = verified.claims
        try demand(try header(lines)["alg"] == "RS256", "alg is RS256")
        try demand(try header(lines)["crit"] == nil, "no crit")
        try demand(claims["iss"] == "https://appleid.apple.com", "iss is Apple's")
        let audiences = claims["aud"]?.array ?? [claims["aud"] ?? .null]
        try demand(audiences.contains(.string(FuzzSite.audience)), "aud is ours")
        guard let expiry = claims["exp"]?.integer, let issued = claims["iat"]?.integer else {
            throw Violation(description: "exp and iat are integers")
        }
        let now = FuzzSite.now.seconds
        try demand(expiry > now - 61, "not expired")
        try demand(issued <= now + 60, "not of the future")
        try demand(issued >= now - 86_460, "not too old")
        let nonce = lines.count > 2 ? String(decoding: lines[2], as: UTF8.self) : nil
        guard let identity = try? verified.identity(nonce: nonce) else { return .interesting }
        try demand(identity.subject == claims["sub"]?.string, "the person is sub")
        try demand((1...255).contains(identity.subject.unicodeScalars.count), "sub has 1 to 255 characters")
        if let claim = claims["nonce"] { try demand(claim.string != nil, "a nonce is a string") }
        if nonce != nil, claims["nonce"] == nil {
            let supported = claims["nonce_supported"]
            try demand(supported == .bool(false) || supported == "false", "a nonce that was sent comes back")
        }
        try demand((identity.email?.address.utf8.count ?? 1) <= 320, "an address has 320 bytes at most")
        return .interesting
    }

    /// The same for access tokens of ours.
    static let accessToken = FuzzTarget("access-token") { input in
        let (token, lines) = token(of: input)
        let verifier = FuzzSite.accessTokens(by: CredulousCryptography())
        guard let verified = try? verifier.verify(token[...], at: FuzzSite.now) else { return .interesting }
        let claims = try JSON(parsing: lines[1], limits: JSON.Limits(bytes: 8192))
        let type = try header(lines)["typ"]?.string?.lowercased()
        try demand(type == "at+jwt" || type == "application/at+jwt", "typ is at+jwt")
        try demand(claims["iss"] == "https://auth.example", "iss is ours")
        try demand(claims["aud"] == "https://api.example", "aud is the API's")
        try demand((claims["exp"]?.integer ?? 0) > FuzzSite.now.seconds, "not expired")
        try demand(claims["sid"]?.string?.lowercased() == verified.sessionID.description, "sid is the session")
        try demand(claims["sub"]?.string?.lowercased() == verified.accountID.description, "sub is the account")
        return .interesting
    }

    /// A receipt as it lies in a store, or (after a `+`) what a genuine one holds. Only what we sealed opens, and what opens is
    /// written and opened again as it was.
    static let receipt = FuzzTarget("receipt") { input in
        let name = [UInt8](repeating: 9, count: 32)
        let isInner = input.first == UInt8(ascii: "+")
        let sealed =
            isInner
            ? (["kid": "ours", "sealed": .string(Base64URL.encode(input.dropFirst()))] as JSON).serialized() : input
        let kept = Receipt(name: name, sealed: sealed, expiresAt: FuzzSite.now)
        let genuine = repetition(FuzzSite.cryptography)
        try demand(genuine.signedIn(from: kept, at: FuzzSite.now) == nil, "nothing opens that was not sealed")
        let credulous = repetition(CredulousCryptography())
        guard let opened = credulous.signedIn(from: kept, at: FuzzSite.now) else { return .interesting }
        let first = try credulous.receipt(for: opened, at: FuzzSite.now)
        guard let again = credulous.signedIn(from: first, at: FuzzSite.now) else {
            throw Violation(description: "a receipt opens")
        }
        try demand(
            try credulous.receipt(for: again, at: FuzzSite.now).sealed == first.sealed,
            "a receipt keeps what it was given")
        return .interesting
    }

    private static func repetition(_ cryptography: any Cryptography) -> Idempotency {
        Idempotency(
            key: Array("key".utf8), credential: Array("token".utf8)[...], seconds: 600, keys: FuzzSite.signingKeys,
            cryptography: cryptography)
    }

    private static func token(of input: [UInt8]) -> (token: [UInt8], lines: [ArraySlice<UInt8>]) {
        let lines = input.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false)
        let claims = lines.count > 1 ? lines[1] : []
        let dot = [UInt8(ascii: ".")]
        return (
            Base64URL.encodedBytes(lines[0]) + dot + Base64URL.encodedBytes(claims) + dot + Array("AAAA".utf8), lines
        )
    }

    private static func header(_ lines: [ArraySlice<UInt8>]) throws -> JSON {
        try JSON(parsing: lines[0], limits: JSON.Limits(bytes: 8192))
    }
}
