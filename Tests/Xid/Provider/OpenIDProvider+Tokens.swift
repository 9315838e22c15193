import Foundation
import JOSE
import OpenSSLCrypto

extension OpenIDProvider {
    func token(_ request: Request) -> Response {
        let form = request.form
        guard request.method == "POST",
            request.headers["content-type"]?.hasPrefix("application/x-www-form-urlencoded") == true,
            form["client_id"] == Self.clientID, form["client_secret"] == nil, request.headers["authorization"] == nil
        else { return .error("invalid_client", status: 401) }
        let isProven = request.headers["dpop"] != nil && supportsDPoP
        var thumbprint: String?
        if isProven {
            switch proof(request, accessToken: nil) {
            case .good(let print): thumbprint = print
            case .refused(let response): return response
            }
        }
        switch form["grant_type"] {
        case "authorization_code":
            guard let code = form["code"], let grant = grants[code], !grant.isSpent,
                form["redirect_uri"] == grant.redirectURI, let verifier = form["code_verifier"],
                Base64URL.encode(Self.cryptography.sha256(Array(verifier.utf8)[...])) == grant.challenge,
                grant.thumbprint == nil || grant.thumbprint == thumbprint || !supportsDPoP
            else { return .error("invalid_grant") }
            grants[code]?.isSpent = true
            return tokens(for: grant, thumbprint: thumbprint, code: code, isRenewal: false)
        case "refresh_token":
            guard let token = form["refresh_token"], let known = refreshTokens[token], !isFamilyRevoked,
                known.grant.thumbprint == nil || known.grant.thumbprint == thumbprint
            else { return .error("invalid_grant") }
            guard !known.isSpent else {
                isFamilyRevoked = true
                return .error("invalid_grant")
            }
            refreshTokens[token]?.isSpent = true
            return tokens(for: known.grant, thumbprint: thumbprint, code: nil, isRenewal: true)
        default:
            return .error("unsupported_grant_type")
        }
    }

    private func tokens(for grant: Grant, thumbprint: String?, code: String?, isRenewal: Bool) -> Response {
        if mutations.contains(.rotatesBeforeSigning) { generation += 1 }
        let accessToken = secret("access")
        accessTokens[accessToken] = (thumbprint, true)
        let active = mutations.compactMap { mutation -> Mutation? in
            if case .onRenewal(let inner) = mutation { return isRenewal ? inner : nil }
            return mutation
        }
        var object: JSON.Object = [
            "access_token": .string(accessToken), "token_type": .string(thumbprint == nil ? "Bearer" : "DPoP"),
            "expires_in": .integer(300), "scope": .string(grant.scope),
            "id_token": .string(
                idToken(for: grant, accessToken: accessToken, code: code, active, isRenewal: isRenewal)),
        ]
        if grant.scope.contains("offline_access") || active.contains(.tokenResponse("refresh_token", "any")) {
            let token = secret("refresh")
            var bound = grant
            bound.thumbprint = thumbprint
            refreshTokens[token] = (bound, false)
            object["refresh_token"] = .string(token)
        }
        for case .tokenResponse(let name, let value) in active where value != "any" { object[name] = value }
        return .json(.object(object))
    }

    private func idToken(
        for grant: Grant, accessToken: String, code: String?, _ mutations: [Mutation], isRenewal: Bool
    ) -> String {
        let now = now().seconds
        var claims: JSON.Object = [
            "iss": .string(issuer), "sub": .string(Self.subject), "aud": .string(Self.clientID),
            "exp": .integer(now + 300), "iat": .integer(now), "name": "Ana Canary", "email": "ana@canary.example",
        ]
        if !isRenewal { claims["nonce"] = .string(grant.nonce) }
        var algorithm = SignatureAlgorithm.rs256
        var name: String?
        var isNamed = true
        var change: ([UInt8]) -> [UInt8] = { $0 }
        for mutation in mutations {
            switch mutation {
            case .appendOne(let claim): claims[claim] = claims[claim]?.string.map { .string($0 + "1") }
            case .removeClaim(let claim): claims[claim] = nil
            case .setClaim(let claim, let value): claims[claim] = value
            case .setTime(let claim, let seconds): claims[claim] = .integer(now + seconds)
            case .secondAudience(let azp):
                claims["aud"] = .array([.string(Self.clientID), .string(Self.clientID + "1")])
                claims["azp"] = azp.map { .string($0) }
            case .audienceAsArray: claims["aud"] = .array([.string(Self.clientID)])
            case .atHash(let isRight):
                claims["at_hash"] = .string(Self.halfHash(accessToken) + (isRight ? "" : "1"))
            case .codeHash(let isRight):
                claims["c_hash"] = code.map { .string(Self.halfHash($0) + (isRight ? "" : "1")) }
            case .signatureXOR: change = { $0.map { $0 ^ 0x5A } }
            case .signedBy(let other): algorithm = other
            case .algorithm(let other): name = other
            case .unsigned:
                name = "none"
                change = { _ in [] }
            case .unnamedKeys: isNamed = false
            default: break
            }
        }
        let key = signingKey(algorithm)
        var header: JSON.Object = ["alg": .string(name ?? algorithm.rawValue), "typ": "JWT"]
        if isNamed { header["kid"] = .string(key.keyID) }
        if mutations.contains(.hmac) { header["alg"] = "HS256" }
        let input =
            Base64URL.encode(JSON.object(header).serialized()) + "."
            + Base64URL.encode(JSON.object(claims).serialized())
        let bytes = Array(input.utf8)[...]
        let signature: [UInt8]
        if mutations.contains(.hmac) {
            signature = Self.cryptography.hmacSHA256(bytes, key: key.jwk.json.serialized()[...])
        } else {
            signature = (try? Self.cryptography.sign(bytes, with: key.privateKey)) ?? []
        }
        let token = input + "." + Base64URL.encode(change(signature))
        secrets.append(token)
        return token
    }

    static func halfHash(_ text: String) -> String {
        Base64URL.encode(cryptography.sha256(Array(text.utf8)[...]).prefix(16))
    }

    func userInfo(_ request: Request) -> Response {
        let words = request.headers["authorization"]?.split(separator: " ").map(String.init) ?? []
        guard words.count == 2, request.query.isEmpty, let known = accessTokens[words[1]], known.isGood else {
            return .error("invalid_token", status: 401)
        }
        if let thumbprint = known.thumbprint {
            guard words[0] == "DPoP" else { return .error("invalid_token", status: 401) }
            switch proof(request, accessToken: words[1]) {
            case .good(let print): guard print == thumbprint else { return .error("invalid_token", status: 401) }
            case .refused(var response):
                response.headers.append(("WWW-Authenticate", "dPoP error=\"use_dpop_nonce\""))
                response.status = 401
                response.body = ""
                return response
            }
        } else if words[0] != "Bearer" {
            return .error("invalid_token", status: 401)
        }
        var object: JSON.Object = ["sub": .string(Self.subject), "email": "ana@canary.example"]
        for case .userInfo(let name, let value) in mutations { object[name] = value }
        return .json(.object(object))
    }

    enum Proof {
        case good(thumbprint: String)
        case refused(Response)
    }

    /// RFC 9449 §4.3
    func proof(_ request: Request, accessToken: String?) -> Proof {
        let refused = Proof.refused(.error("invalid_dpop_proof"))
        let parts = request.headers["dpop"]?.split(separator: ".").map(String.init) ?? []
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]),
            let head = try? JSON(parsing: header, limits: .init(bytes: 4096)),
            let claims = try? JSON(parsing: payload, limits: .init(bytes: 4096)),
            head["typ"] == "dpop+jwt", head["alg"] == "ES256", let jwk = head["jwk"], jwk["d"] == nil,
            let key = try? JWK(jwk),
            Self.cryptography.isValid(
                signature[...], over: Array("\(parts[0]).\(parts[1])".utf8)[...], by: key.key, algorithm: .es256),
            claims["htm"]?.string == request.method, claims["htu"]?.string == "\(issuer)\(request.path)",
            let time = claims["iat"]?.integer, abs(time - now().seconds) <= proofAge,
            let jti = claims["jti"]?.string, proofs.insert(jti).inserted
        else { return refused }
        let hash = accessToken.map { Base64URL.encode(Self.cryptography.sha256(Array($0.utf8)[...])) }
        guard claims["ath"]?.string == hash else { return refused }
        if mutations.contains(.dpopNonceForEver) {
            var response = Response.error("use_dpop_nonce")
            response.headers.append(("DPoP-Nonce", "always"))
            return .refused(response)
        }
        for case .dpopNonce(let nonce) in mutations where claims["nonce"]?.string != nonce {
            var response = Response.error("use_dpop_nonce")
            response.headers.append(("DPoP-Nonce", nonce))
            return .refused(response)
        }
        return .good(thumbprint: key.key.thumbprint(using: Self.cryptography))
    }
}
