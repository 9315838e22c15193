internal import JOSE

/// What a provider says of itself (OpenID Connect Discovery §3): what of it is used here, each address allowed.
struct Metadata: Sendable {
    let authorizationEndpoint: Endpoint
    let tokenEndpoint: Endpoint
    let keySet: Endpoint
    let userInfoEndpoint: Endpoint?
    let endSessionEndpoint: Endpoint?
    let revocationEndpoint: Endpoint?
    /// RFC 9207 §3
    let namesIssuer: Bool

    /// Where the document lies (Discovery §4): behind the issuer, whose slash at the end, if it has one, is not doubled.
    static func address(of client: Client) -> Endpoint? {
        let base = client.issuer.hasSuffix("/") ? String(client.issuer.dropLast()) : client.issuer
        return Endpoint(base + "/.well-known/openid-configuration", allowingPlain: client.allowsPlain)
    }

    /// Takes the document, if it is this issuer's to the byte. What is optional may be missing.
    init(parsing bytes: [UInt8], for client: Client) throws(XidError) {
        guard let json = JSON(object: bytes), let issuer = json["issuer"]?.string else {
            throw XidError(.metadataInvalid)
        }
        guard issuer.isIdentical(to: client.issuer) else { throw XidError(.metadataIssuerMismatch) }
        let endpoint = { (name: String) in
            json[name]?.string.flatMap { Endpoint($0, allowingPlain: client.allowsPlain) }
        }
        guard let authorization = endpoint("authorization_endpoint"), let token = endpoint("token_endpoint"),
            let keySet = endpoint("jwks_uri")
        else { throw XidError(.metadataInvalid) }
        if let methods = json["code_challenge_methods_supported"]?.array, !methods.contains("S256") {
            throw XidError(.pkceUnsupported)
        }
        if client.isBound, let algorithms = json["dpop_signing_alg_values_supported"]?.array,
            !algorithms.contains("ES256")
        {
            throw XidError(.dpopRefused, message: "The provider takes no DPoP proof that is signed with ES256.")
        }
        authorizationEndpoint = authorization
        tokenEndpoint = token
        self.keySet = keySet
        userInfoEndpoint = endpoint("userinfo_endpoint")
        endSessionEndpoint = endpoint("end_session_endpoint")
        revocationEndpoint = endpoint("revocation_endpoint")
        namesIssuer = json["authorization_response_iss_parameter_supported"]?.bool ?? false
    }
}

extension JSON {
    /// An answer's body, if it is one JSON object, whatever type it claims to be.
    init?(object bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes, limits: Limits(bytes: TransportRequest.bodyLimit)),
            json.object != nil
        else { return nil }
        self = json
    }
}
