import Accounts
import AuthFunction
import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing
import UserStores

/// What a person sees in their browser when something is wrong.
struct ErrorPageTests {
    var visit = WebVisit()

    private static let browser: [String: JSON?] = [
        "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "accept-language": "es-MX",
    ]

    @Test func `A browser gets a page, in Spanish or in English, and a program problem details`() throws {
        let page = try visit.finish([], headers: Self.browser)
        #expect(page.status == 400)
        #expect(page.headers["content-type"] == "text/html; charset=utf-8")
        #expect(page.headers["content-language"] == "es")
        #expect(page.body.contains(#"<html lang="es">"#))
        #expect(page.body.contains("No se pudo iniciar sesión con Apple. Intenta de nuevo."))
        #expect(page.body.contains("width=device-width"))
        let english = try visit.finish([], headers: ["accept": "text/html", "accept-language": "en"])
        #expect(english.headers["content-language"] == "en")
        #expect(english.body.contains("Could not sign in with Apple. Please try again."))
        for accept in ["*/*", "application/json", "", "text/*", "application/xhtml+xml", "text/htmlx"] {
            let answer = try visit.finish([], headers: ["accept": .string(accept)])
            #expect(answer.headers["content-type"] == "application/problem+json")
        }
    }

    @Test func `The page loads nothing, runs nothing, stands in no frame and is kept nowhere`() throws {
        let page = try visit.finish([], headers: Self.browser)
        let policy = try #require(page.headers["content-security-policy"]?.string)
        let style = try #require(page.body.firstMatch(of: /<style>([\s\S]*)<\/style>/)).1
        let digest = TokenForge.cryptography.sha256(Array(style.utf8)[...])
        #expect(
            policy
                == "default-src 'none'; style-src 'sha256-\(Data(digest).base64EncodedString())'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'")
        #expect(page.headers["cache-control"] == "no-store")
        #expect(page.headers["x-content-type-options"] == "nosniff")
        #expect(page.headers["referrer-policy"] == "no-referrer")
        for word in ["<script", "<img", "<link", "<form", "http", "style="] { #expect(!page.body.contains(word)) }
    }

    @Test mutating func `Nothing of a request comes back in the page`() throws {
        let canary = "canary\"'<b>"
        let fields = ["state", "code", "id_token", "user", "error", canary].map { ($0, canary) }
        let start = try visit.start(
            query: String(decoding: FormURLEncoded.encode(fields + [("return_url", canary)]), as: UTF8.self),
            headers: ["accept": "text/html", "accept-language": .string(canary), "user-agent": .string(canary)])
        _ = try visit.start()
        for answer in [start, try visit.finish(fields, headers: Self.browser)] {
            #expect(answer.status == 400)
            #expect(answer.headers["content-type"] == "text/html; charset=utf-8")
            #expect(!answer.eventText.contains("canary"))
            #expect(!answer.log.text.contains("canary"))
        }
    }

    @Test func `The page gives the name under which the log has the failure`() throws {
        let page = try visit.finish([], headers: Self.browser)
        let id = try #require(page.log["request_id"]?.string)
        #expect(page.body.contains("<code>\(id)</code>"))
        let context = Request.Context(requestID: "<b>&")
        let named = try visit.doorway.answer(
            to: .success(
                Request(
                    method: "GET", path: "/auth/apple/authorize", headers: ["accept": "text/html"], context: context)))
        #expect(named.body.contains("<code>&lt;b&gt;&amp;</code>"))
    }

    @Test func `An outage and a limit are told as such, with their headers`() throws {
        let doorway = Doorway(limits: [.signIn: RateLimit(attempts: 1, seconds: 60)], web: WebVisit.client)
        let visit = WebVisit(doorway)
        _ = try visit.finish([], headers: Self.browser)
        let limited = try visit.finish([], headers: Self.browser)
        #expect(limited.status == 429)
        #expect(limited.headers["retry-after"] == "60")
        #expect(limited.body.contains("Demasiados intentos."))
        let broken = WebVisit(
            Doorway(
                limits: [.signIn: RateLimit(attempts: 1, seconds: 60)],
                counter: FailingUsers(error: .unavailable(reason: "down")), web: WebVisit.client))
        let outage = try broken.finish([], headers: Self.browser)
        #expect(outage.status == 503)
        #expect(outage.body.contains("El servicio no está disponible por el momento."))
        #expect(!outage.body.contains("down"))
    }

    @Test(arguments: [
        ("POST", "/auth/apple"), ("POST", "/auth/apple/exchange"), ("GET", "/auth/providers"), ("GET", "/nowhere"),
        ("GET", "/auth/me"),
    ])
    func `Only the two routes of browsers have pages`(_ method: String, _ path: String) throws {
        let answer = try visit.doorway.answer(method, path, headers: ["accept": "text/html"])
        #expect(answer.headers["content-type"] == "application/problem+json")
    }
}
