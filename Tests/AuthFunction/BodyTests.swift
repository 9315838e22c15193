import AuthFunction
import JOSE
import TestSupport
import Testing

struct BodyTests {
    let doorway = Doorway()

    private func padded(to count: Int) -> String {
        let body = Doorway.body().text
        return body + String(repeating: " ", count: count - body.utf8.count)
    }

    @Test func `413: a body has 65 536 bytes at most`() throws {
        #expect(AuthFunction.maximumBodySize == 65_536)
        #expect(try doorway.post(padded(to: 65_536)).status == 201)
        let answer = try doorway.post(padded(to: 65_537))
        #expect(answer.status == 413)
        #expect(answer.code == "content_too_large")
        // Bytes, not characters.
        #expect(try doorway.post(#"{"x":"\#(String(repeating: "ñ", count: 33_000))"}"#).status == 413)
    }

    @Test func `413: an event has room for the largest body in its longest spelling, and no end of bytes`() throws {
        let text = String(repeating: "\u{1}", count: 65_536)
        let event: JSON = [
            "method": "POST", "path": "/auth/apple", "headers": ["content-type": "application/json"],
            "body": .string(text),
        ]
        #expect(event.serialized().count > 6 * 65_536)
        #expect(try doorway.answer(event: event.serialized()).code == "invalid_request")
        let spaces = [UInt8](repeating: 0x20, count: Event.maximumSize)
        #expect(try doorway.answer(event: spaces).status == 400)
        #expect(try doorway.answer(event: spaces + [0x20]).status == 413)
    }

    @Test(arguments: [
        "application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;charset=\"x\"",
        " application/json ", "application/json\t; a=b", "application/json;",
    ])
    func `A media type is JSON's in any case, and its parameters are passed over`(_ type: String) throws {
        #expect(try doorway.signIn(headers: ["Content-Type": .string(type)]).status == 201)
    }

    @Test(arguments: [
        JSON?.none, .null, [:], ["content-type": .null], ["content-type": ""], ["content-type": ";"],
        ["content-type": " "], ["content-type": "text/plain"], ["content-type": "application/x-www-form-urlencoded"],
        ["content-type": "application/json2"], ["content-type": "application/jso"],
        ["content-type": "application/jsonp; x=application/json"], ["content-type": "app lication/json"],
        ["content-type": "application/json, application/json"], ["content-type": "application/problem+json"],
        ["content-type": "application/json", "Content-Type": "application/json"], ["content_type": "application/json"],
    ])
    func `415: any other media type, or none`(_ headers: JSON?) throws {
        let answer = try doorway.signIn(headers: headers)
        #expect(answer.status == 415)
        #expect(answer.code == "unsupported_media_type")
        #expect(answer.headers["accept"] == "application/json")
    }

    @Test(arguments: [
        "", " ", "{", "{}}", "{\"a\":1,}", "{'a':1}", "\u{FEFF}{}", "nul",
        "{\"identity_token\":\"a\",\"identity_token\":\"b\"}",
        "{\"deviceInfo\":{\"a\":1,\"a\":2}}", "{\"a\":\"\\ud800\"}", String(repeating: "[", count: 60_000),
    ])
    func `400: a body that is not JSON, or says a member twice`(_ body: String) throws {
        let answer = try doorway.post(body)
        #expect(answer.status == 400)
        #expect(answer.errors == ["body: not_json"])
    }

    @Test(arguments: ["null", "[]", "\"{}\"", "1", "true", "[{}]"])
    func `400: a body that is no object`(_ body: String) throws {
        #expect(try doorway.post(body).errors == ["body: not_a_json_object"])
    }

    @Test func `400: every field that is wrong is named, all at once`() throws {
        #expect(try doorway.post("{}").errors == ["identity_token: required", "deviceInfo: required"])
        let answer = try doorway.signIn([
            "identity_token": .integer(1), "deviceInfo": "iPhone", "nonce": .array([]), "full_name": .integer(1),
            "email": .bool(true),
        ])
        #expect(answer.status == 400)
        #expect(
            answer.errors == [
                "identity_token: not_a_string", "deviceInfo: not_an_object", "nonce: not_a_string_of_1_to_512_bytes",
            ])
    }

    static let fieldErrors: [([String: JSON?], [String])] = [
        (["identity_token": JSON?.none], ["identity_token: required"]),
        (["identity_token": .null], ["identity_token: required"]),
        (["identity_token": ""], ["identity_token: required"]),
        (["identity_token": ["a": "b"]], ["identity_token: not_a_string"]),
        (["identityToken": "x"], ["identity_token: duplicate"]),
        (["deviceInfo": JSON?.none], ["deviceInfo: required"]),
        (["deviceInfo": .null], ["deviceInfo: required"]),
        (["deviceInfo": .array([])], ["deviceInfo: not_an_object"]),
        (["device_info": [:]], ["deviceInfo: duplicate"]),
        (["deviceInfo": ["a": ["b": ["c": ["d": [:]]]]]], ["deviceInfo: too_deep"]),
        (["deviceInfo": ["a": .array(Array(repeating: .null, count: 64))]], ["deviceInfo: too_many_members"]),
        (["deviceInfo": ["a": .string(String(repeating: "x", count: 4096))]], ["deviceInfo: too_large"]),
        (["nonce": ""], ["nonce: not_a_string_of_1_to_512_bytes"]),
        (["nonce": .string(String(repeating: "n", count: 513))], ["nonce: not_a_string_of_1_to_512_bytes"]),
        (["nonce": .bool(false)], ["nonce: not_a_string_of_1_to_512_bytes"]),
    ]

    @Test(arguments: fieldErrors.indices)
    func `400: a field that is wrong is named with its reason`(_ index: Int) throws {
        let (changes, errors) = Self.fieldErrors[index]
        let answer = try doorway.signIn(changes)
        #expect(answer.status == 400)
        #expect(answer.code == "invalid_request")
        #expect(answer.errors == errors)
    }

    @Test func `Token and device are taken in both spellings, and null is absent`() throws {
        let token = JSON.string(TokenForge().token)
        for changes: [String: JSON?] in [
            ["identity_token": JSON?.none, "identityToken": token], ["identity_token": .null, "identityToken": token],
            ["deviceInfo": JSON?.none, "device_info": [:]], ["deviceInfo": .null, "device_info": [:]],
            ["nonce": .null, "full_name": .null, "email": .null],
        ] {
            #expect(try doorway.signIn(changes).status < 300)
        }
    }

    @Test(arguments: [
        JSON.null, "", "  ", [:], ["givenName": .null, "familyName": .null], .integer(1), .array(["Ana"]), .bool(true),
    ])
    func `A name or an e-mail never fails a login, whatever it is`(_ json: JSON) throws {
        let answer = try Doorway().signIn(["full_name": json, "email": json])
        #expect(answer.status == 201)
        #expect(answer.json["user"]?["full_name"] == .null)
    }

    @Test func `A name in both spellings is the first that is one`() throws {
        func name(_ changes: [String: JSON?]) throws -> String? {
            try Doorway().signIn(changes).json["user"]?["full_name"]?.string
        }
        #expect(try name(["fullName": ["givenName": "Ana", "familyName": "Pérez"]]) == "Ana Pérez")
        #expect(try name(["full_name": "Ana", "fullName": "Otra"]) == "Ana")
        #expect(try name(["full_name": [:], "fullName": "Ana"]) == "Ana")
    }

    @Test func `What a body says of audience, issuer, keys or account is not listened to`() throws {
        let answer = try doorway.signIn([
            "identity_token": .string(TokenForge(audience: "com.other.app").token), "audience": "com.other.app",
            "aud": "com.other.app", "client_id": "com.other.app", "bundle_id": "com.other.app",
            "iss": "https://appleid.apple.com", "jwks_url": "https://attacker.example", "sub": "victim",
        ])
        #expect(answer.status == 401)
        #expect(answer.log["reason"] == "audience")
    }
}
