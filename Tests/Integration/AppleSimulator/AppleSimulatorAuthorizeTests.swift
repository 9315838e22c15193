import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

/// The page of `GET /auth/authorize`, and what its form answers.
@Suite struct AppleSimulatorAuthorizeTests {
    let simulator: AppleSimulator
    let server: AppsServer

    init() throws {
        simulator = try AppleSimulatorTokenTests.shared.get()
        server = try AppsServer(team: "TEAM000001", keyID: "KEY0000001")
    }

    static let callback = "https://app.example/callback"
    static let asked = [
        "client_id": AppsServer.clientID, "redirect_uri": callback, "response_type": "code id_token",
        "response_mode": "form_post", "scope": "name email", "state": "s-1", "nonce": "n-1",
    ]

    private func serving(_ body: (SimulatorAddress) throws -> Void) throws {
        try simulator.serving([server], redirectURIs: ",\(Self.callback),https://app.example/other", body: body)
    }

    /// The fields that the page would post, with entities resolved.
    private func fields(_ page: String) -> [String: String] {
        var fields: [String: String] = [:]
        for match in page.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/) {
            var value = String(match.2)
            for (entity, text) in [
                ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&"),
            ] { value = value.replacingOccurrences(of: entity, with: text) }
            fields[String(match.1)] = value
        }
        return fields
    }

    private func json(_ text: String?) throws -> JSON {
        try JSON(parsing: Array(try #require(text).utf8), limits: JSON.Limits(bytes: 8192))
    }

    @Test func thePageCanBeUsedOnAPhoneAndLoadsNothing() throws {
        try serving { address in
            let page = try address.read("/auth/authorize", Self.asked)
            #expect(page.status == 200 && page.headers["content-language"] == "es")
            #expect(page.text.contains(#"<meta name="viewport" content="width=device-width, initial-scale=1">"#))
            for text in ["Simulador", "Esto no es Apple", "Ana Ruiz", "Ocultar mi correo", "Otra persona", "Cancelar"] {
                #expect(page.text.contains(text), "\(text)")
            }
            #expect(!page.text.contains("<script") && !page.text.contains("src=") && !page.text.contains("<link"))
            let policy = try #require(page.headers["content-security-policy"])
            #expect(policy.hasPrefix("default-src 'none'; ") && policy.contains("frame-ancestors 'none'"))
            #expect(!policy.contains("unsafe"))
            // The form says again what was asked.
            #expect(fields(page.text) == Self.asked)

            let english = try address.read("/auth/authorize", Self.asked, headers: [("Accept-Language", "en-GB, es")])
            #expect(english.text.contains("Hide my e-mail") && english.text.contains(#"<html lang="en">"#))
            for language in ["es, en", "de", "en;q=0", "fr;q=0.9, es;q=0.8, en;q=0.1"] {
                let page = try address.read("/auth/authorize", Self.asked, headers: [("Accept-Language", language)])
                #expect(page.headers["content-language"] == "es", "\(language)")
            }
            // Who is not asked for an address is not asked to share it.
            let narrow = Self.asked.merging(["scope": "name"]) { $1 }
            #expect(try !address.read("/auth/authorize", narrow).text.contains("email_choice"))
        }
    }

    @Test func theAnswerIsPostedWithACodeATokenTheStateAndTheUserOnce() throws {
        try serving { address in
            let choice = ["person": "luis", "email_choice": "hide", "action": "continue"]
            let answer = try address.form("/auth/authorize", Self.asked.merging(choice) { $1 })
            #expect(answer.status == 200 && answer.text.contains(#"<form method="post" action="\#(Self.callback)">"#))
            // Sends itself, by the one script that the policy lets run; or by its button.
            let nonce = try #require(answer.text.firstMatch(of: /<script nonce="([^"]{20,})">/)).1
            #expect(answer.headers["content-security-policy"]?.contains("script-src 'nonce-\(nonce)'") == true)
            #expect(answer.text.contains("<button>") && answer.headers["referrer-policy"] == "origin")
            let posted = fields(answer.text)
            #expect(Set(posted.keys) == ["code", "id_token", "state", "user"] && posted["state"] == "s-1")
            let user = try json(posted["user"])
            let alias = try #require(user["email"]?.string)
            #expect(user["name"] == ["firstName": "Luis", "lastName": "Ortega"])
            #expect(alias.hasSuffix("@privaterelay.appleid.com"))
            let claims = try SimulatorAnswer.claims(of: posted["id_token"] ?? "")
            let code = try #require(posted["code"])
            let half = AppsServer.cryptography.sha256(Array(code.utf8)[...]).prefix(16)
            #expect(claims["c_hash"]?.string == Base64URL.encode(half))
            #expect(claims["nonce"] == "n-1" && claims["email"] == user["email"] && claims["real_user_status"] == nil)
            #expect(claims["aud"]?.string == AppsServer.clientID)

            let tokens = try address.exchange(code, by: server, ["redirect_uri": Self.callback])
            #expect(tokens.status == 200)
            #expect(try tokens.claims("id_token")["sub"] == claims["sub"])

            // The second time without the user, and with the first choice about the address.
            let again = try address.form(
                "/auth/authorize", Self.asked.merging(["person": "luis", "email_choice": "share"]) { $1 })
            let second = fields(again.text)
            #expect(Set(second.keys) == ["code", "id_token", "state"] && second["code"] != code)
            #expect(try SimulatorAnswer.claims(of: second["id_token"] ?? "")["email"]?.string == alias)
            #expect(
                try address.read("/auth/authorize", Self.asked).text.contains("Ya usa esta app, con el correo oculto"))
        }
    }

    @Test func onlyWhatIsAskedForIsAnswered() throws {
        try serving { address in
            let plain = [
                "client_id": AppsServer.clientID, "redirect_uri": Self.callback, "response_type": "code",
                "person": "ana",
            ]
            let query = try address.form("/auth/authorize", plain.merging(["state": "a b&c=ñ"]) { $1 })
            let location = try #require(query.headers["location"])
            #expect(query.status == 303 && location.hasPrefix("\(Self.callback)?code=c"))
            #expect(location.hasSuffix("&state=a%20b%26c%3D%C3%B1") && !location.contains("user"))
            let both = plain.merging(["response_type": "id_token code", "response_mode": "fragment"]) { $1 }
            let fragment = try #require(try address.form("/auth/authorize", both).headers["location"])
            #expect(fragment.hasPrefix("\(Self.callback)#code=c") && fragment.contains("&id_token=ey"))
            let posted = plain.merging(["response_mode": "form_post", "scope": "email", "person": "mei"]) { $1 }
            // Mei has no address: there is nothing to say of her.
            #expect(fields(try address.form("/auth/authorize", posted).text).keys.sorted() == ["code"])
        }
    }

    @Test func cancellingIsAnsweredWithAnErrorAndTheState() throws {
        try serving { address in
            let posted = try address.form("/auth/authorize", Self.asked.merging(["action": "cancel"]) { $1 })
            #expect(fields(posted.text) == ["error": "user_cancelled_authorize", "state": "s-1"])
            let query = [
                "client_id": AppsServer.clientID, "redirect_uri": Self.callback, "response_type": "code",
                "action": "cancel",
            ]
            #expect(
                try address.form("/auth/authorize", query).headers["location"]
                    == "\(Self.callback)?error=user_cancelled_authorize")
        }
    }

    @Test func aPersonCanBeInventedAndANoneIsSaidSo() throws {
        try serving { address in
            let invention = [
                "person": "new", "first_name": "José \"<b>\"", "last_name": "Niño", "email": "jose@example.com",
                "email_choice": "share",
            ]
            let answer = try address.form("/auth/authorize", Self.asked.merging(invention) { $1 })
            let user = try json(fields(answer.text)["user"])
            #expect(user["name"] == ["firstName": "José \"<b>\"", "lastName": "Niño"])
            #expect(user["email"] == "jose@example.com")
            let page = try address.read("/auth/authorize", Self.asked)
            #expect(page.text.contains("José &quot;&lt;b&gt;&quot; Niño") && !page.text.contains("\"<b>\""))

            for wrong in [
                ["person": "new"], ["person": "nobody"], [:],
                ["person": "new", "first_name": "A", "email": "no address"],
                ["person": "new", "first_name": "A", "email": "a@b@c"], ["person": "new", "first_name": "A\u{7}"],
            ] {
                let again = try address.form("/auth/authorize", Self.asked.merging(wrong) { $1 })
                #expect(again.status == 400 && again.text.contains("role=\"alert\""), "\(wrong)")
                #expect(again.text.contains("name=\"action\"") && !again.text.contains("action=\"\(Self.callback)\""))
            }
        }
    }

    @Test(arguments: [
        (["client_id": ""], "client_id"), (["client_id": "com.example.another"], "client_id"),
        (["redirect_uri": ""], "redirect_uri"), (["redirect_uri": "\(callback)/"], "redirect_uri"),
        (["redirect_uri": "https://evil.example/"], "redirect_uri"),
        (["redirect_uri": "http://app.example/"], "redirect_uri"),
        (["redirect_uri": "\(callback)#x"], "redirect_uri"), (["redirect_uri": "javascript:alert(1)"], "redirect_uri"),
        (["response_type": ""], "response_type"), (["response_type": "id_token"], "response_type"),
        (["response_type": "code token"], "response_type"), (["response_mode": "web_message"], "response_mode"),
        (["response_mode": "query"], "response_mode"), (["response_mode": "fragment"], "response_mode"),
        (["response_mode": ""], "response_mode"),
        (["response_type": "code", "response_mode": "query"], "response_mode"),
        (["response_type": "code", "response_mode": ""], "response_mode"),
        (["scope": "", "response_mode": "query"], "response_mode"),
        (["scope": "name phone"], "scope"), (["state": "a\r\nb"], "state"), (["nonce": "\u{0}"], "nonce"),
    ])
    func aWrongParameterGetsAPageThatSaysWhich(change: [String: String], name: String) throws {
        try serving { address in
            let wrong = Self.asked.merging(change) { $1 }
            for answer in try [
                address.read("/auth/authorize", wrong),
                address.form("/auth/authorize", wrong.merging(["person": "ana"]) { $1 }),
            ] {
                #expect(answer.status == 400 && answer.headers["location"] == nil)
                let named = answer.text.matches(of: /<dt><code>([^<]*)<\/code>/).map { String($0.1) }
                #expect(named == [name], "\(answer.text)")
                #expect(!answer.text.contains("<form"))
            }
        }
    }

    @Test func nothingThatComesFromOutsideBecomesMarkup() throws {
        let hostile = #"'"><script>alert(1)</script><img src=x onerror=alert(1)>&amp;"#
        try simulator.serving { address in
            let wanted = [
                "client_id": hostile, "redirect_uri": "https://app.example/cb?a='&b=1", "state": hostile,
                "nonce": hostile,
            ]
            let asked = Self.asked.merging(wanted) { $1 }
            let person = ["person": "new", "first_name": hostile, "last_name": hostile]
            let pages = try [
                address.read("/auth/authorize", asked),
                address.form("/auth/authorize", asked.merging(person.merging(["email": hostile]) { $1 }) { $1 }),
                address.form("/auth/authorize", asked.merging(person) { $1 }),
                address.read("/auth/authorize", asked),
                address.read("/auth/authorize", ["client_id": hostile, "scope": hostile, "redirect_uri": hostile]),
                address.read("/", ["url": hostile, "client_id": hostile]),
                address.form("/", ["action": "notify", "type": hostile, "person": hostile, "url": hostile]),
                address.form("/", ["action": "invent", "first_name": hostile, "email": hostile]),
            ]
            for page in pages {
                #expect(page.headers["content-type"] == "text/html; charset=utf-8")
                #expect(!page.text.contains("<img") && !page.text.contains("<script>"), "\(page.text)")
                #expect(page.text.matches(of: /<script/).count <= 1)
            }
            let posted = fields(pages[2].text)
            #expect(posted["state"] == hostile)
            #expect(try json(posted["user"])["name"]?["firstName"]?.string == hostile)
        }
    }

    /// A form on a page elsewhere cannot sign anybody in: browsers say where it comes from.
    @Test func aFormOfAnotherOriginIsRefused() throws {
        try serving { address in
            let asked = Self.asked.merging(["person": "ana"]) { $1 }
            for origin in ["https://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:\(address.port)"] {
                for path in ["/auth/authorize", "/"] {
                    #expect(try address.form(path, asked, headers: [("Origin", origin)]).status == 403, "\(origin)")
                }
                let body: JSON = ["client_id": .string(AppsServer.clientID)]
                #expect(try address.control("/simulator/code", body, headers: [("Origin", origin)]).status == 403)
            }
            for origin in ["http://127.0.0.1:\(address.port)", "http://localhost:\(address.port)"] {
                #expect(try address.form("/auth/authorize", asked, headers: [("Origin", origin)]).status == 200)
            }
            // Nor can one that says no type, which needs no leave of this server.
            #expect(try address.form("/simulator/code", ["client_id": AppsServer.clientID]).status == 415)
            let people = try address.read("/simulator/people").json["people"]?.array
            #expect(people?.first?["apps"]?.array?.count == 1)
        }
    }
}
