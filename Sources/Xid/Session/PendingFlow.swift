internal import JOSE

/// A sign-in between the request and its redirect: what the redirect and the ID token must fit.
///
/// It is kept in the storage, because the system may end the app while the browser is open, and only until the redirect has come:
/// then it is erased before anything is asked of the network.
struct PendingFlow: Hashable, Sendable {
    /// Seconds after which a redirect is too late.
    static let lifetime: Int64 = 600

    let state: SecretText
    let nonce: SecretText
    /// The PKCE verifier (RFC 7636 §4.1).
    let verifier: SecretText
    /// As it was sent: on loopback with its port.
    let redirectURI: String
    let createdAt: UnixTime
    /// The provider promises to name itself in the redirect (RFC 9207 §3).
    let mustNameIssuer: Bool
    let maxAge: Int64?
    /// The key that the tokens will be bound to.
    let key: SigningKey?

    init(
        redirectURI: String, mustNameIssuer: Bool, maxAge: Int64?, isBound: Bool, at now: UnixTime,
        using cryptography: any TokenCryptography
    ) throws(XidError) {
        state = try cryptography.randomText()
        nonce = try cryptography.randomText()
        verifier = try cryptography.randomText()
        self.redirectURI = redirectURI
        createdAt = now
        self.mustNameIssuer = mustNameIssuer
        self.maxAge = maxAge
        do throws(CryptographyError) {
            key = isBound ? SigningKey(keyID: "dpop", privateKey: try cryptography.generateP256Key()) : nil
        } catch {
            throw XidError(.cryptography)
        }
    }

    func isExpired(at now: UnixTime) -> Bool {
        now >= createdAt.adding(seconds: Self.lifetime) || now < createdAt.adding(seconds: -Self.lifetime)
    }
}

extension PendingFlow {
    var text: String {
        var object: JSON.Object = [
            "state": .string(state.text), "nonce": .string(nonce.text), "verifier": .string(verifier.text),
            "redirect_uri": .string(redirectURI), "created_at": .integer(createdAt.milliseconds),
            "iss_required": .bool(mustNameIssuer),
        ]
        object["max_age"] = maxAge.map { .integer($0) }
        object["dpop_key"] = key?.secretJSON
        return JSON.object(object).text
    }

    /// Nil when the text is not of a flow.
    init?(parsing text: String, using cryptography: any TokenCryptography) {
        guard let json = JSON(stored: text), let state = json["state"]?.string, let nonce = json["nonce"]?.string,
            let verifier = json["verifier"]?.string, let redirectURI = json["redirect_uri"]?.string,
            let createdAt = json["created_at"]?.integer, let mustNameIssuer = json["iss_required"]?.bool,
            !state.isEmpty, !nonce.isEmpty, verifier.utf8.count >= 43
        else { return nil }
        self.state = SecretText(state)
        self.nonce = SecretText(nonce)
        self.verifier = SecretText(verifier)
        self.redirectURI = redirectURI
        self.createdAt = UnixTime(milliseconds: createdAt)
        self.mustNameIssuer = mustNameIssuer
        maxAge = json["max_age"]?.integer
        do throws(JOSEError) {
            key = try json["dpop_key"].map { json throws(JOSEError) in try SigningKey(json, using: cryptography) }
        } catch {
            return nil
        }
    }
}

extension JSON {
    /// What this program has written itself; nil when it has not.
    init?(stored text: String) {
        guard let json = try? JSON(parsing: Array(text.utf8), limits: Limits(bytes: 262_144)), json.object != nil else {
            return nil
        }
        self = json
    }
}

extension TokenCryptography {
    /// 256 random bits as 43 characters: unguessable, and by its alphabet a PKCE verifier.
    func randomText() throws(XidError) -> SecretText {
        do throws(CryptographyError) {
            return SecretText(Base64URL.encode(try randomBytes(32)))
        } catch {
            throw XidError(.cryptography)
        }
    }
}
