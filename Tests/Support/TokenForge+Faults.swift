import AppleID
import Foundation
import JOSE
import OpenSSLCrypto

extension TokenForge {
    /// A way for a token to be bad at `TokenForge.now`, and the one reason for which it must be refused.
    package struct Fault: Sendable, CustomStringConvertible {
        package let name: String
        package let refusal: TokenRefusal
        package let token: String

        /// Whether the fault lies in the payload, which nobody looks at before the signature is verified.
        package let needsVerifiedClaims: Bool

        package var description: String { name }

        fileprivate init(_ name: String, _ refusal: TokenRefusal, _ token: String, inPayload: Bool = false) {
            self.name = name
            self.refusal = refusal
            self.token = token
            needsVerifiedClaims = inPayload
        }
    }

    /// Every kind of bad token that is bad by itself, without a nonce or a special key set.
    package static let faults: [Fault] =
        shapeFaults + encodingFaults + algorithmFaults + headerFaults + signatureFaults + claimFaults

    /// Tokens whose header offers a key of the attacker's, signed by that key.
    package static let embeddedKeyFaults: [Fault] = {
        let forge = TokenForge(key: foreignKey).withHeader(["kid": .string(key.keyID)])
        let offers: [(String, JSON)] = [
            ("jwk", foreignKey.jwk.json), ("jku", "https://attacker.example/keys"),
            ("x5u", "https://attacker.example/chain"), ("x5c", .array(["MIIB"])),
        ]
        return offers.map { name, value in
            Fault("\(name) header with a key of its own", .signature, forge.withHeader([name: value]).token)
        }
    }()

    private static let shapeFaults: [Fault] = {
        let good = TokenForge().token
        let parts = good.split(separator: ".").map(String.init)
        return [
            Fault("empty", .malformed, ""),
            Fault("one part", .malformed, parts[0]),
            Fault("two parts", .malformed, parts[0] + "." + parts[1]),
            Fault("four parts", .malformed, good + "." + parts[2]),
            Fault("four parts, the last empty", .malformed, good + "."),
            Fault("five parts", .malformed, good + ".a2V5.a2V5"),
            Fault("only dots", .malformed, ".."),
            Fault("no header", .malformed, ".\(parts[1]).\(parts[2])"),
            Fault("no payload", .signature, "\(parts[0])..\(parts[2])"),
            Fault("no signature", .signature, "\(parts[0]).\(parts[1])."),
            Fault("larger than 8 KiB", .tooLarge, TokenForge().with(["pad": .string(padding)]).token),
            Fault("JSON serialization of a JWS", .malformed, #"{"payload":"\#(parts[1])","signature":"\#(parts[2])"}"#),
        ]
    }()

    private static let padding = String(repeating: "x", count: CompactJWS.maximumSize)

    private static let encodingFaults: [Fault] = {
        let good = TokenForge().token
        let parts = good.split(separator: ".").map(String.init)
        // An RS256 signature of 256 bytes leaves two bytes' worth of bits, so its last character has four unused ones.
        let tail = Base64URL.alphabet[(Base64URL.alphabet.firstIndex(of: Character(String(good.suffix(1)))) ?? 0) + 1]
        return [
            Fault("non-canonical tail", .malformed, String(good.dropLast()) + String(tail)),
            Fault("padding", .malformed, good + "=="),
            Fault("padded header", .malformed, "\(parts[0])=.\(parts[1]).\(parts[2])"),
            Fault("space in front", .malformed, " " + good),
            Fault("line feed at the end", .malformed, good + "\n"),
            Fault(
                "line feed inside", .malformed,
                "\(parts[0]).\(parts[1].prefix(8))\n\(parts[1].dropFirst(8)).\(parts[2])"),
            Fault("zero byte at the end", .malformed, good + "\0"),
            Fault("base64 in place of base64url", .malformed, "\(parts[0]).\(parts[1]).+/\(parts[2].dropFirst(2))"),
            Fault("letters outside ASCII", .malformed, "\(parts[0]).\(parts[1]).é\(parts[2].dropFirst(2))"),
            Fault("Bearer in front", .malformed, "Bearer " + good),
        ]
    }()

    private static let algorithmFaults: [Fault] = {
        let unsigned = ["none", "None", "NONE", "nOnE"].flatMap { name in
            let input = signingInput(
                header: #"{"alg":"\#(name)","kid":"\#(key.keyID)"}"#, payload: JSON.object(TokenForge().claims).text)
            return [
                Fault("alg \(name), unsigned", .algorithm, input + "."),
                Fault("alg \(name), signed", .algorithm, TokenForge().withHeader(["alg": .string(name)]).token),
            ]
        }
        let secrets = [("PEM", PublicKeyText.pem), ("DER", PublicKeyText.der), ("n", PublicKeyText.modulus)]
        let macs = secrets.map { name, secret in
            let input = signingInput(
                header: #"{"alg":"HS256","kid":"\#(key.keyID)"}"#, payload: JSON.object(TokenForge().claims).text)
            let code = cryptography.hmacSHA256(Array(input.utf8)[...], key: secret(key)[...])
            return Fault("HS256 with the public key as \(name)", .algorithm, input + "." + Base64URL.encode(code))
        }
        let others = ["RS384", "RS512", "PS256", "ES256", "HS256", "rs256", "RS256 ", "", "EdDSA", "RSA-SHA256"].map {
            name in
            Fault("alg “\(name)”", .algorithm, TokenForge().withHeader(["alg": .string(name)]).token)
        }
        return unsigned + macs + others + [
            Fault("no alg", .malformed, TokenForge().withHeader(["alg": JSON?.none]).token),
            Fault("alg a number", .malformed, TokenForge().withHeader(["alg": .integer(256)]).token),
            Fault("alg a list", .malformed, TokenForge().withHeader(["alg": .array(["RS256"])]).token),
            Fault("alg null", .malformed, TokenForge().withHeader(["alg": .null]).token),
        ]
    }()

    private static let headerFaults: [Fault] = {
        let payload = JSON.object(TokenForge().claims).text
        let name = key.keyID
        func kid(_ value: JSON?) -> String { TokenForge().withHeader(["kid": value]).token }
        return [
            Fault("no kid", .keyIDMissing, kid(nil)),
            Fault("kid a number", .malformed, kid(.integer(1))),
            Fault("kid null", .malformed, kid(.null)),
            Fault("kid a list", .malformed, kid(.array([.string(name)]))),
            Fault("kid empty", .malformed, kid("")),
            Fault("kid of 65 characters", .malformed, kid(.string(String(repeating: "k", count: 65)))),
            Fault("kid unknown", .keyUnknown, kid("UNKNOWN001")),
            Fault("kid unknown by its case", .keyUnknown, kid(.string(name.lowercased()))),
            Fault("kid a prefix", .keyUnknown, kid(.string(String(name.dropLast())))),
            Fault("kid a path", .keyUnknown, kid("../../etc/passwd")),
            Fault("crit", .critical, TokenForge().withHeader(["crit": .array(["exp"])]).token),
            Fault("crit empty", .critical, TokenForge().withHeader(["crit": .array([])]).token),
            Fault("crit null", .critical, TokenForge().withHeader(["crit": .null]).token),
            Fault(
                "crit b64", .critical, TokenForge().withHeader(["crit": .array(["b64"]), "b64": .bool(false)]).token),
            Fault("typ a number", .malformed, TokenForge().withHeader(["typ": .integer(1)]).token),
            Fault(
                "alg twice", .malformed,
                token(header: #"{"alg":"none","alg":"RS256","kid":"\#(name)"}"#, payload: payload)),
            Fault(
                "alg twice, one of them escaped", .malformed,
                token(header: #"{"\u0061lg":"none","alg":"RS256","kid":"\#(name)"}"#, payload: payload)),
            Fault(
                "kid twice", .malformed,
                token(header: #"{"alg":"RS256","kid":"\#(name)","kid":"\#(name)"}"#, payload: payload)),
            Fault("header a list", .malformed, token(header: #"["RS256"]"#, payload: payload)),
            Fault("header null", .malformed, token(header: "null", payload: payload)),
            Fault("header not JSON", .malformed, token(header: "RS256", payload: payload)),
            Fault(
                "text after the header", .malformed,
                token(header: #"{"alg":"RS256","kid":"\#(name)"}{}"#, payload: payload)),
            Fault(
                "byte order mark", .malformed,
                token(header: "\u{FEFF}" + #"{"alg":"RS256","kid":"\#(name)"}"#, payload: payload)),
        ]
    }()

    private static let signatureFaults: [Fault] = {
        let good = TokenForge()
        let input = signingInput(header: JSON.object(good.header).text, payload: JSON.object(good.claims).text)
        let signature = TokenForge.signature(over: input)
        func signed(_ name: String, _ signature: [UInt8]) -> Fault {
            Fault(name, .signature, input + "." + Base64URL.encode(signature))
        }
        var flipped = signature
        flipped[100] ^= 1
        let other = good.with(["sub": "000000.attacker.0000"])
        let otherInput = signingInput(header: JSON.object(good.header).text, payload: JSON.object(other.claims).text)
        return [
            signed("one bit of the signature", flipped),
            signed("signature of zeros", [UInt8](repeating: 0, count: 256)),
            signed("signature a byte short", signature.dropLast()),
            signed("signature a byte long", [0] + signature),
            signed("signature over other bytes", TokenForge.signature(over: "other")),
            signed("signature by another key", TokenForge.signature(over: input, by: foreignKey)),
            Fault("other claims under a good signature", .signature, otherInput + "." + Base64URL.encode(signature)),
            Fault(
                "other header under a good signature", .signature,
                signingInput(
                    header: JSON.object(good.withHeader(["typ": "JWT"]).header).text,
                    payload: JSON.object(good.claims).text) + "." + Base64URL.encode(signature)),
        ]
    }()

    private static let claimFaults: [Fault] = {
        func changed(_ name: String, _ refusal: TokenRefusal, _ changes: [String: JSON?]) -> Fault {
            Fault(name, refusal, TokenForge().with(changes).token, inPayload: true)
        }
        func text(_ name: String, _ payload: String) -> Fault {
            let header = JSON.object(TokenForge().header).text
            return Fault(name, .malformed, token(header: header, payload: payload), inPayload: true)
        }
        let now = TokenForge.now.seconds
        return [
            text("payload a list", "[]"),
            text("payload a string", #""claims""#),
            text("payload not JSON", "claims"),
            text("payload empty", ""),
            text("a claim twice", #"{"sub":"a","sub":"b"}"#),
            text("a claim twice, one of them escaped", #"{"sub":"a","\u0073ub":"b"}"#),
            changed("no issuer", .issuer, ["iss": JSON?.none]),
            changed("another issuer", .issuer, ["iss": "https://account.apple.com"]),
            changed("issuer with a slash", .issuer, ["iss": "https://appleid.apple.com/"]),
            changed("issuer a list", .issuer, ["iss": .array([.string(issuer)])]),
            changed("no audience", .audience, ["aud": JSON?.none]),
            changed("another audience", .audience, ["aud": "com.attacker.app"]),
            changed("audience a prefix", .audience, ["aud": "com.finnova"]),
            changed("audience a suffix more", .audience, ["aud": "com.finnova.app.evil"]),
            changed("audience in another case", .audience, ["aud": "com.Finnova.app"]),
            changed("audience an empty list", .audience, ["aud": .array([])]),
            changed("audience null", .audience, ["aud": .null]),
            changed("no exp", .malformed, ["exp": JSON?.none]),
            changed("exp a string", .malformed, ["exp": .string(String(now + 600))]),
            changed("exp a fraction", .malformed, ["exp": .decimal("\(now + 600).5")]),
            changed("exp beyond 64 bits", .malformed, ["exp": .decimal("9223372036854775808")]),
            changed("no iat", .malformed, ["iat": JSON?.none]),
            changed("iat null", .malformed, ["iat": .null]),
            changed("expired", .expired, ["exp": .integer(now - 60), "iat": .integer(now - 600)]),
            changed("expired since ever", .expired, ["exp": .integer(.min)]),
            changed("issued in the future", .notYetValid, ["iat": .integer(now + 61)]),
            changed("issued at the end of time", .notYetValid, ["iat": .integer(.max), "exp": .integer(.max)]),
            changed("not before in the future", .notYetValid, ["nbf": .integer(now + 61)]),
            changed("not before a string", .malformed, ["nbf": "0"]),
            changed("too old", .tooOld, ["iat": .integer(now - 86_400 - 61)]),
            changed("issued before time", .tooOld, ["iat": .integer(.min)]),
        ]
    }()
}

extension Base64URL {
    /// The alphabet in order (RFC 4648 §5).
    package static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
}

/// The spellings of an RSA public key that confused verifiers have taken for an HMAC secret.
private enum PublicKeyText {
    static func modulus(_ key: SigningKey) -> [UInt8] {
        guard case .rsa(let key) = key.privateKey.publicKey else { return [] }
        return key.modulus
    }

    /// SubjectPublicKeyInfo (RFC 5280 §4.1, RFC 8017 A.1.1).
    static func der(_ key: SigningKey) -> [UInt8] {
        guard case .rsa(let key) = key.privateKey.publicKey else { return [] }
        let rsaEncryption: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00]
        let numbers = element(0x30, integer(key.modulus) + integer(key.exponent))
        return element(0x30, element(0x30, rsaEncryption) + element(0x03, [0] + numbers))
    }

    static func pem(_ key: SigningKey) -> [UInt8] {
        let text = Data(der(key)).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n".utf8)
    }

    private static func integer(_ bytes: [UInt8]) -> [UInt8] {
        element(0x02, (bytes.first ?? 0) & 0x80 == 0 ? bytes : [0] + bytes)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch content.count {
        case ..<0x80: [tag, UInt8(content.count)] + content
        case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
        default: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
    }
}
