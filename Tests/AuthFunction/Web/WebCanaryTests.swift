import Accounts
import AppleID
import AuthFunction
import JOSE
import TestSupport
import Testing
import UserStores

/// What goes through a web flow and must come out nowhere but where it belongs.
struct WebCanaryTests {
    private static let name = "Canaria Nombre"
    private static let email = "canary-token@example.com"
    private static let appleCode = "canary-apple-code"
    private static let appState = "canary-state"

    private func answer(_ page: ApplePage) -> [(String, String)] {
        page.answer(
            token: page.forge(subject: "canary-subject", code: Self.appleCode).with(["email": .string(Self.email)])
                .token,
            ["code": Self.appleCode, "user": #"{"name":"\#(Self.name)","email":"canary-user@example.com"}"#])
    }

    @Test func `No log line of a web flow has a state, code, cookie, nonce, verifier, token, name or address`() throws {
        var visit = WebVisit()
        let start = try visit.start(query: WebVisit.query(["state": Self.appState]))
        let page = try visit.start(["state": Self.appState])
        let finish = try visit.finish(answer(page))
        let code = try Landing(finish).require("code")
        let theft = try visit.exchange(code, verifier: WebVisit.otherVerifier)
        let exchange = try visit.exchange(code)
        let spent = try visit.exchange(code, changes: ["deviceInfo": ["canary": "canary"]])
        let foreign = try WebVisit(visit.doorway).finish(answer(page))
        let tampered = try visit.finish(answer(page).map { ($0.0, $0.0 == "state" ? $0.1 + "A" : $0.1) })
        let answers = [start, finish, theft, exchange, spent, foreign, tampered]
        #expect(answers.map(\.status) == [303, 303, 401, 201, 401, 400, 400])
        let secrets = [
            String(page.state.suffix(40)), String(code.suffix(40)), page.nonce, String(visit.cookie?.suffix(43) ?? ""),
            WebVisit.verifier, WebVisit.otherVerifier, WebVisit.challenge, "canary", "Canaria", "eyJ",
            String(exchange.refreshToken.suffix(40)),
        ]
        for answer in answers {
            for secret in secrets { #expect(!answer.log.text.contains(secret)) }
        }
        // Nor does a refusal say any of it, and the addresses show nothing of the person.
        for answer in [theft, spent, foreign, tampered] {
            for secret in secrets { #expect(!answer.eventText.contains(secret)) }
        }
        let location = try #require(finish.headers["location"]?.string)
        for secret in ["Canaria", "canary-token", "canary-user", "canary-apple", "canary-subject", "eyJ", page.nonce] {
            #expect(!location.contains(secret))
        }
        for left in visit.doorway.errands { #expect(!"\(left)".contains("canary")) }
    }

    @Test func `What is kept in confidence does not show when it is printed`() throws {
        let verifier = try #require(CodeVerifier(WebVisit.verifier))
        let binding = try #require(BrowserBinding(WebVisit.challenge))
        for text in ["\(verifier)", String(reflecting: verifier), "\(binding)", String(reflecting: binding)] {
            #expect(!text.contains("dBjft") && !text.contains("E9Melhoa") && !text.contains("19"))
        }
        var dumped = ""
        dump([verifier], to: &dumped)
        dump([binding], to: &dumped)
        #expect(!dumped.contains("bytes") && !dumped.contains("secret"))
    }
}
