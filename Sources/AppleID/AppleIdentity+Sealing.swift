package import JOSE

/// The way of an identity through what we seal ourselves.
///
/// The web flow verifies Apple's token in one request and opens the session in another, maybe of another process; in between,
/// the browser carries the identity in a text that only our own key opens. `init(sealed:)` is for what came out of such a text
/// and for nothing else: it trusts every word.
extension AppleIdentity {
    package var sealable: JSON {
        [
            "sub": .string(subject), "aud": .string(audience), "issued_at": .integer(issuedAt.milliseconds),
            "email": email?.json ?? .null, "transfer_sub": .string(orNull: transferSubject),
            "c_hash": .string(orNull: codeHash),
        ]
    }

    package init?(sealed json: JSON) {
        guard let subject = json["sub"]?.string, let audience = json["aud"]?.string,
            let issued = json["issued_at"]?.integer
        else { return nil }
        self.subject = subject
        self.audience = audience
        issuedAt = UnixTime(milliseconds: issued)
        email = json["email"].flatMap(AppleEmail.init(json:))
        transferSubject = json["transfer_sub"]?.string
        codeHash = json["c_hash"]?.string
    }
}

/// As it is kept in what we seal.
extension AppleEmail {
    package var json: JSON {
        [
            "address": .string(address), "is_verified": isVerified.map(JSON.bool) ?? .null,
            "is_private": .bool(isPrivate),
        ]
    }

    package init?(json: JSON) {
        guard let address = json["address"]?.string, let isPrivate = json["is_private"]?.bool else { return nil }
        self.init(address: address, isVerified: json["is_verified"]?.bool, isPrivate: isPrivate)
    }
}
