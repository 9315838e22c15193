import Accounts
import JOSE
import OpenSSLCrypto

extension FuzzTarget {
    /// What is read, written and read again is equal; nothing that is not UTF-8 is read.
    static let json = FuzzTarget("json", maximumSize: 16_384) { input in
        let limits = JSON.Limits(bytes: 16_384, depth: 32)
        guard let value = try? JSON(parsing: input, limits: limits) else { return .interesting }
        try demand(String(validating: input, as: UTF8.self) != nil, "JSON is UTF-8")
        let written = value.serialized()
        // Escapes of control characters may be longer than they came.
        let again = try JSON(parsing: written, limits: JSON.Limits(bytes: 6 * 16_384, depth: 32))
        try demand(again == value, "what is written is read as it was")
        try demand(again.serialized() == written, "there is one way to write a value")
        try demand(!written.contains { $0 < 0x20 }, "a written text has no control characters")
        try demand(hasUniqueNames(value), "no name comes twice in one object")
        return .interesting
    }

    private static func hasUniqueNames(_ value: JSON) -> Bool {
        switch value {
        case .object(let object):
            Set(object.members.map { Array($0.name.utf8) }).count == object.members.count
                && object.members.allSatisfy { hasUniqueNames($0.value) }
        case .array(let elements): elements.allSatisfy(hasUniqueNames)
        case .null, .bool, .integer, .decimal, .string: true
        }
    }

    /// There is one spelling: what is read is written as it came. So for what is made of it, refresh tokens and ids.
    static let base64URL = FuzzTarget("base64url", maximumSize: 512) { input in
        if let bytes = Base64URL.decode(input[...]) {
            try demand(Base64URL.encodedBytes(bytes) == input, "a text that is read is the one spelling of its bytes")
        }
        try demand(Base64URL.decode(Base64URL.encodedBytes(input)[...]) == input, "what is written is read as it was")
        let text = String(decoding: input, as: UTF8.self)
        if let token = RefreshToken(text) { try demand(token.text == text, "a refresh token has one spelling") }
        if let id = UUIDv7(text) {
            try demand(id.description == text.lowercased(), "an id has one spelling but for case")
        }
        return .interesting
    }

    /// A token that is taken apart is the canonical spelling of its parts, and one that verifies says what was signed: the
    /// two examples of RFC 7515, and nothing else.
    static let jws = FuzzTarget("jws", maximumSize: CompactJWS.maximumSize + 2) { input in
        guard let jws = try? CompactJWS(parsing: input[...], allowing: [.rs256, .es256]) else { return .interesting }
        let parts = input.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        try demand(parts.count == 3, "a token has three parts")
        for part in parts {
            let bytes = Base64URL.decode(part)
            try demand(bytes.map { Base64URL.encodedBytes($0) == Array(part) } ?? false, "each part is canonical")
        }
        try demand((jws.header.keyID?.unicodeScalars.count ?? 1) <= 64, "a kid has 64 characters at most")
        for key in FuzzSite.appleKeys.keys + FuzzSite.signingKeys.publicKeys.keys {
            guard let verified = try? jws.verified(by: key, using: FuzzSite.cryptography) else { continue }
            let signed = String(decoding: Base64URL.encodedBytes(verified.payload), as: UTF8.self)
            try demand(signed == examplePayload, "only what was signed verifies")
        }
        return .interesting
    }

    private static let examplePayload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    /// A set that is read is written and read again as equal; each key of it is strong enough, and verifies nothing by chance.
    static let keySet = FuzzTarget("key-set", maximumSize: 8192) { input in
        guard let set = try? KeySet(parsing: input[...]) else { return .interesting }
        let written = set.json.serialized()
        try demand(try KeySet(parsing: written[...]) == set, "a written set is read as it was")
        for key in set.keys.prefix(3) {
            if case .rsa(let rsa) = key.key {
                let bits = rsa.modulus.count * 8 - (rsa.modulus.first?.leadingZeroBitCount ?? 0)
                try demand((2048...8192).contains(bits), "an RSA key has 2048 to 8192 bits")
                try demand(rsa.exponent != [1], "an exponent of one signs nothing")
            }
            let isValid = FuzzSite.cryptography.isValid(
                [UInt8](repeating: 1, count: 64)[...], over: input[...], by: key.key, algorithm: key.algorithm)
            try demand(!isValid, "no key takes a made-up signature")
        }
        return .interesting
    }
}
