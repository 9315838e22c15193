import Accounts
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

/// Our own access tokens, presented to us (RFC 9068 §4).
struct AccessTokenVerifierTests {
    private let bench = SignInBench()
    private let now = TokenForge.now

    /// The refusal of a token; nil when it is taken.
    private func refusal(_ token: String?, at time: UnixTime? = nil) throws -> SessionRefusal? {
        do {
            _ = try bench.sessions.current(accessToken: token, at: time ?? now)
            return nil
        } catch {
            guard case .refused(let refusal) = error else { throw error }
            return refusal
        }
    }

    private func claims(of token: String) throws -> JSON.Object {
        let payload = try #require(Base64URL.decode(String(token.split(separator: ".")[1])))
        return try #require(try JSON(parsing: payload, limits: JSON.Limits(bytes: 8192)).object)
    }

    /// A token that says what a good one says, but for the changes; nil removes a claim.
    private func token(
        _ changes: [String: JSON?] = [:], type: String = "at+jwt", key: SigningKey = SignInBench.signingKey
    ) throws -> String {
        var claims = try claims(of: try bench.signIn().tokens.accessToken)
        for (name, value) in changes { claims[name] = value }
        return try CompactJWS.signed(
            JSON.object(claims).serialized(), type: type, by: key, using: TokenForge.cryptography)
    }

    @Test func `A good token is taken, and gives its account and its session`() throws {
        let signedIn = try bench.signIn()
        let (account, session) = try bench.sessions.current(accessToken: signedIn.tokens.accessToken, at: now)
        #expect(account == signedIn.account)
        #expect(session.id == signedIn.sessionID)
        #expect(try refusal(try token()) == nil)
    }

    @Test(arguments: ["at+jwt", "AT+JWT", "application/at+jwt", "Application/At+JWT"])
    func `RFC 9068 §4: the type is at+jwt, in either spelling and any case`(_ type: String) throws {
        #expect(try refusal(try token(type: type)) == nil)
    }

    @Test(arguments: ["JWT", "jwt", "", "at+jwt ", "at+jwtx", "logout+jwt", "secevent+jwt", "application/jwt"])
    func `A token of another type is none of ours, though our key signed it`(_ type: String) throws {
        #expect(try refusal(try token(type: type)) == .accessTokenMalformed)
    }

    @Test func `A token without a type is none of ours`() throws {
        let claims = JSON.object(try claims(of: try token())).text
        let header = #"{"alg":"ES256","kid":"SIGNING001"}"#
        #expect(
            try refusal(TokenForge.token(header: header, payload: claims, key: SignInBench.signingKey))
                == .accessTokenMalformed)
    }

    private static let claimRefusals: [(SessionRefusal, [String: JSON?])] = [
        (.accessTokenIssuer, ["iss": JSON?.none]), (.accessTokenIssuer, ["iss": "https://api.finnova.example/"]),
        (.accessTokenIssuer, ["iss": "HTTPS://api.finnova.example"]), (.accessTokenIssuer, ["iss": .null]),
        (.accessTokenIssuer, ["iss": .array(["https://api.finnova.example"])]),
        (.accessTokenAudience, ["aud": JSON?.none]), (.accessTokenAudience, ["aud": "finnova-api-2"]),
        (.accessTokenAudience, ["aud": "finnova"]), (.accessTokenAudience, ["aud": "com.finnova.app"]),
        (.accessTokenAudience, ["aud": .array(["other"])]),
        (.accessTokenExpired, ["exp": JSON?.none]), (.accessTokenExpired, ["exp": .integer(0)]),
        (.accessTokenExpired, ["exp": .integer(.min)]), (.accessTokenExpired, ["exp": "9999999999"]),
        (.accessTokenExpired, ["exp": .decimal("1e12")]), (.accessTokenExpired, ["exp": .null]),
        (.accessTokenMalformed, ["sub": JSON?.none]), (.accessTokenMalformed, ["sub": "ana"]),
        (.accessTokenMalformed, ["sub": .integer(1)]), (.accessTokenMalformed, ["sid": JSON?.none]),
        (.accessTokenMalformed, ["sid": ""]), (.accessTokenMalformed, ["iat": JSON?.none]),
        (.accessTokenMalformed, ["iat": "now"]),
        (.sessionUnknown, ["sid": "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"]),
        (.sessionUnknown, ["sub": "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"]),
    ]

    @Test(arguments: claimRefusals.indices)
    func `Every claim is checked: issuer, audience, expiry, account, session`(_ index: Int) throws {
        let (expected, changes) = Self.claimRefusals[index]
        #expect(try refusal(try token(changes)) == expected)
    }

    @Test func `A token ends after its seconds, to the millisecond, without leeway: the clock is our own`() throws {
        let token = try token()
        #expect(try refusal(token, at: UnixTime(milliseconds: now.milliseconds + 899_999)) == nil)
        #expect(try refusal(token, at: now.adding(seconds: 900)) == .accessTokenExpired)
    }

    @Test func `A token by another key is refused: of the same name, of a name that we do not know, of none`() throws {
        let claims = JSON.object(try claims(of: try token())).text
        #expect(try refusal(try token(key: TokenForge.newKey("SIGNING001", for: .es256))) == .accessTokenSignature)
        #expect(try refusal(try token(key: TokenForge.newKey("OTHER", for: .es256))) == .accessTokenKey)
        let header = #"{"alg":"ES256","typ":"at+jwt"}"#
        #expect(
            try refusal(TokenForge.token(header: header, payload: claims, key: SignInBench.signingKey))
                == .accessTokenKey)
        // RS256 by a key that is ours by name only.
        #expect(try refusal(try token(key: TokenForge.newKey("SIGNING001", for: .rs256))) == .accessTokenKey)
    }

    @Test func `A changed token is refused, whichever part of it was changed`() throws {
        let good = try token()
        let parts = good.split(separator: ".").map(String.init)
        let claims = try claims(of: good)
        var other = claims
        other["sub"] = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
        let payload = Base64URL.encode(JSON.object(other).serialized())
        let header = Base64URL.encode(Array(#"{"alg":"ES256","kid":"SIGNING001","typ":"at+jwt","x":1}"#.utf8))
        #expect(try refusal("\(parts[0]).\(payload).\(parts[2])") == .accessTokenSignature)
        #expect(try refusal("\(header).\(parts[1]).\(parts[2])") == .accessTokenSignature)
        #expect(
            try refusal("\(parts[0]).\(parts[1]).\(Base64URL.encode([UInt8](repeating: 0, count: 64)))")
                == .accessTokenSignature)
        #expect(try refusal("\(parts[0]).\(parts[1]).") == .accessTokenSignature)
        for text in ["\(parts[0]).\(parts[1])", good + ".", good + "=", " " + good, "", ".", "..", "\(good).\(good)"] {
            #expect(try refusal(text) == .accessTokenMalformed, "\(text)")
        }
    }

    @Test func `alg none, and HS256 keyed with our public key, are no signatures`() throws {
        let claims = JSON.object(try claims(of: try token())).text
        let jwk = SignInBench.signingKey.jwk.json
        let point: [UInt8] =
            [4] + ["x", "y"].compactMap { jwk[$0]?.string }.compactMap { Base64URL.decode($0) }.joined()
        let secrets: [[UInt8]] = [jwk.serialized(), point, Array(jwk.text.utf8), []]
        for algorithm in ["none", "None", "", "HS256", "HS512", "ES384", "PS256"] {
            let header = #"{"alg":"\#(algorithm)","kid":"SIGNING001","typ":"at+jwt"}"#
            let input = TokenForge.signingInput(header: header, payload: claims)
            for secret in secrets {
                let tag = TokenForge.cryptography.hmacSHA256(Array(input.utf8)[...], key: secret[...])
                for signature in [tag, []] {
                    #expect(try refusal("\(input).\(Base64URL.encode(signature))") == .accessTokenMalformed)
                }
            }
        }
    }

    @Test func `Apple's identity token is no access token, and neither is a refresh token`() throws {
        let signedIn = try bench.signIn()
        #expect(try refusal(TokenForge().token) == .accessTokenMalformed)
        #expect(try refusal(TokenForge().withHeader(["typ": "at+jwt"]).token) == .accessTokenKey)
        #expect(try refusal(signedIn.tokens.refreshToken) == .accessTokenMalformed)
        #expect(throws: SessionFailure.refused(.refreshMalformed)) {
            try bench.refresh(signedIn.tokens.accessToken)
        }
    }

    @Test func `No token at all is its own refusal`() throws {
        #expect(try refusal(nil) == .accessTokenMissing)
    }

    @Test func `Tokens of the key before, the key of now and the next key are good, and of the one before not`() throws
    {
        let first = try bench.signIn().tokens.accessToken
        bench.rotateKeys()
        let second = try bench.signIn().tokens.accessToken
        #expect(try refusal(first) == nil)
        #expect(try refusal(second) == nil)
        bench.rotateKeys()
        #expect(try refusal(first) == .accessTokenKey)
        #expect(try refusal(second) == nil)
    }

    @Test func `RS256 by choice: sign-in, verification, refresh and logout with an RSA key`() throws {
        let bench = SignInBench(signingKey: TokenForge.newKey("RSA1", for: .rs256))
        let signedIn = try bench.signIn()
        let header = try #require(
            Base64URL.decode(String(signedIn.tokens.accessToken.prefix { $0 != "." }))
                .flatMap { try? JSON(parsing: $0, limits: JSON.Limits(bytes: 8192)) })
        #expect(header["alg"] == "RS256" && header["kid"] == "RSA1" && header["typ"] == "at+jwt")
        #expect(try bench.sessions.current(accessToken: signedIn.tokens.accessToken, at: now).0 == signedIn.account)
        let successor = try bench.refresh(signedIn.tokens.refreshToken)
        #expect(try bench.refresh(signedIn.tokens.refreshToken) == successor)
        // From RSA to EC, and the session lives.
        bench.rotateKeys()
        #expect(bench.signingKeys.current.privateKey.algorithm == .es256)
        #expect(try bench.refresh(signedIn.tokens.refreshToken) == successor)
        #expect(throws: Never.self) {
            try bench.sessions.logOut(
                accessToken: signedIn.tokens.accessToken, origin: SignInBench.origin, at: now)
        }
        #expect(try bench.users.session(signedIn.sessionID) == nil)
    }
}
