/// A JSON Web Key Set (RFC 7517 §5): the keys of it that can verify.
package struct KeySet: Hashable, Sendable {
    package let keys: [JWK]

    package init(keys: [JWK]) {
        self.keys = keys
    }

    /// A set of 64 KiB at most. A key that cannot serve here is skipped and never fatal (RFC 7517 §5): issuers add kinds of
    /// keys that older programs do not know.
    package init(parsing bytes: ArraySlice<UInt8>) throws(JOSEError) {
        let json: JSON
        do {
            json = try JSON(parsing: bytes, limits: JSON.Limits(bytes: 65_536, depth: 8))
        } catch .tooLarge {
            throw .tooLarge
        } catch {
            throw .malformed
        }
        try self.init(json)
    }

    package init(_ json: JSON) throws(JOSEError) {
        guard let members = json["keys"]?.array else { throw .malformed }
        keys = members.compactMap { member in
            do throws(JOSEError) { return try JWK(member) } catch { return nil }
        }
    }

    package var json: JSON {
        ["keys": .array(keys.map(\.json))]
    }

    package func contains(_ keyID: String) -> Bool {
        keys.contains { $0.isNamed(keyID) }
    }

    package func contains(_ algorithm: SignatureAlgorithm) -> Bool {
        keys.contains { $0.algorithm == algorithm }
    }

    /// The one key of that name. Two of one name are refused rather than tried in turn: which key signed must be certain.
    package func key(named keyID: String?) throws(JOSEError) -> JWK {
        guard let keyID else { throw .keyIDMissing }
        let named = keys.filter { $0.isNamed(keyID) }
        guard let key = named.first else { throw .keyUnknown }
        guard named.count == 1 else { throw .keyAmbiguous }
        return key
    }
}

extension JSON: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSON)...) {
        var object = Object()
        for (name, value) in elements { object[name] = value }
        self = .object(object)
    }
}
