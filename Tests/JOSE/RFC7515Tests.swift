import JOSE
import OpenSSLCrypto
import Testing

private let cryptography = OpenSSLCryptography()

/// The examples of RFC 7515, appendix A, whose algorithms are this project's.
struct RFC7515Tests {
    static let payload = "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}"
    static let encodedPayload =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    static let rsaKey: JSON = [
        "kty": "RSA",
        "n":
            "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
        "e": "AQAB",
        "d":
            "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGcopV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ",
        "p":
            "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc",
        "q":
            "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wDmpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc",
        "dp":
            "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12Sk3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0",
        "dq":
            "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU",
        "qi":
            "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U",
    ]
    static let rsaSignature =
        "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"

    static let ecKey: JSON = [
        "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0", "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
    ]
    static let ecSignature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"

    private func jws(_ token: String) throws -> CompactJWS {
        try CompactJWS(parsing: Array(token.utf8)[...], allowing: [.rs256, .es256])
    }

    @Test(arguments: [
        ("eyJhbGciOiJSUzI1NiJ9", Self.rsaSignature, Self.rsaKey),
        ("eyJhbGciOiJFUzI1NiJ9", Self.ecSignature, Self.ecKey),
    ])
    func `A.2 and A.3: the example verifies, and its payload is the one of A.1.1`(
        header: String, signature: String, key: JSON
    ) throws {
        let verified = try jws("\(header).\(Self.encodedPayload).\(signature)")
            .verified(by: JWK(key), using: cryptography)
        #expect(verified.payload == Array(Self.payload.utf8))
        #expect(try verified.claims()["iss"] == "joe")
        #expect(try verified.claims()["exp"] == .integer(1_300_819_380))
        #expect(try verified.claims()["http://example.com/is_root"] == .bool(true))
        #expect(verified.header.keyID == nil)
    }

    @Test func `A.2: signing gives the signature of the example, byte for byte`() throws {
        let key = try SigningKey(Self.rsaKey, using: cryptography)
        let input = Array("eyJhbGciOiJSUzI1NiJ9.\(Self.encodedPayload)".utf8)
        #expect(Base64URL.encode(try cryptography.sign(input[...], with: key.privateKey)) == Self.rsaSignature)
    }

    @Test func `A.3: signing with the key of the example verifies, each time another signature`() throws {
        let key = try SigningKey(Self.ecKey, using: cryptography)
        let payload = Array(Self.payload.utf8)
        let tokens = try (0..<4).map { _ in try CompactJWS.signed(payload, type: "JWT", by: key, using: cryptography) }
        #expect(Set(tokens).count == 4)
        for token in tokens {
            let verified = try jws(token).verified(by: key.jwk, using: cryptography)
            #expect(verified.payload == payload)
            #expect(verified.header.algorithm == .es256)
            #expect(verified.header.keyID == key.keyID)
            #expect(verified.header.type == "JWT")
        }
    }

    @Test func `A token verifies by no key of the other kind`() throws {
        let token = try jws("eyJhbGciOiJFUzI1NiJ9.\(Self.encodedPayload).\(Self.ecSignature)")
        #expect(throws: JOSEError.keyUnusable) { try token.verified(by: JWK(Self.rsaKey), using: cryptography) }
    }

    @Test func `A.5: an unsecured JWS is refused`() {
        #expect(throws: JOSEError.algorithm) { try jws("eyJhbGciOiJub25lIn0.\(Self.encodedPayload).") }
    }
}
