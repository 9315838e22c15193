import JOSE
import TestSupport
import Testing

struct LanguageTests {
    private static let spanish = "No se pudo iniciar sesión con Apple. Intenta de nuevo."
    private static let english = "Could not sign in with Apple. Please try again."

    private func answer(_ accepted: JSON?, token: JSON?) throws -> Answer {
        var headers: JSON.Object = ["content-type": "application/json"]
        headers["Accept-Language"] = accepted
        return try Doorway().signIn(["identity_token": token], headers: .object(headers))
    }

    @Test(arguments: [JSON?.none, .null, "", "bad"])
    func `RF04, word for word: a token that is missing or does not verify`(_ token: JSON?) throws {
        let answer = try answer(nil, token: token)
        #expect(answer.status == (token == "bad" ? 401 : 400))
        #expect(answer.json["detail"]?.string.map { Array($0.utf8) } == Array(Self.spanish.utf8))
        #expect(answer.headers["content-language"] == "es")
    }

    @Test func `An error that is not the token's does not speak of Apple`() throws {
        let answer = try Doorway().signIn(["deviceInfo": JSON?.none])
        #expect(answer.json["detail"] == "La solicitud no es válida. Revisa los campos indicados.")
    }

    @Test(arguments: [
        "en", "EN", "en-US", "en-US,en;q=0.9", "en-GB,en;q=0.9,es;q=0.8", "en, *;q=0.5", "es;q=0.3, en;q=0.31",
        "es;q=0, en;q=0.001", "fr, en;q=0.1", "en;q=1.000,es;q=0.999", " en ; q = 0.5 ", "es;q=0, *",
        "en;level=1;q=0.4",
        "xx,yy,zz,en",
    ])
    func `English where it is preferred`(_ header: String) throws {
        let answer = try answer(.string(header), token: "bad")
        #expect(answer.json["detail"]?.string == Self.english)
        #expect(answer.headers["content-language"] == "en")
    }

    @Test(arguments: [
        "", "*", "es", "es-MX, en;q=0.9", "en;q=0", "en;q=0.5, es", "en, es", "en;q=0.5, *", "fr", "de-DE,de;q=0.9",
        "english", "en_US", "e n g", ",,,", ";;;", ";q=1", "-", "en;q=", "en;q=x", "en;q=-1", "en;q=1.5.2", "en;q=2",
        "en;q=99999999999999999999", "en;q=NaN", "en;q=٠.٩", "\u{0}", "en\u{301}", "q=1", "en;q=0.0009",
    ])
    func `Spanish where English is not, whatever else the header says`(_ header: String) throws {
        #expect(try answer(.string(header), token: "bad").json["detail"]?.string == Self.spanish)
    }

    @Test func `Every failure has its words in both languages`() throws {
        for accepted in ["es", "en"] {
            let details = try [
                ("GET", "/nowhere", "{}"), ("GET", "/auth/apple", "{}"), ("POST", "/auth/apple", "{"),
                ("POST", "/auth/apple", "{}"), ("POST", "/auth/apple", String(repeating: " ", count: 70_000)),
            ].map { method, path, body in
                let headers: JSON = ["content-type": "application/json", "accept-language": .string(accepted)]
                let answer = try Doorway().answer(method, path, headers: headers, body: body)
                #expect(answer.headers["content-language"]?.string == accepted)
                return try #require(answer.json["detail"]?.string)
            }
            #expect(Set(details).count == details.count)
        }
    }
}
