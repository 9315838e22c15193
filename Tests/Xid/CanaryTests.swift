import Foundation
import JOSE
import Testing

@testable import Xid

/// pick#341, inkwell#111, SalesforceMobileSDK-iOS#552, mlem#1788: secrets in logs. Every secret of a run is known to the provider or can
/// be read from what was asked; none of them may be seen anywhere but where it belongs.
@Suite struct CanaryTests {
    static func secrets(_ trial: Trial) -> [String] {
        var secrets = trial.provider.locked { trial.provider.secrets }
        secrets += trial.provider.requests("/token").flatMap { request in
            ["code_verifier", "code", "refresh_token"].compactMap { request.form[$0] }
        }
        for url in trial.browser.urls {
            let fields = SignOutTests.fields(url)
            secrets += ["state", "nonce"].compactMap { fields[$0] }
        }
        secrets += trial.storage.everSaved.compactMap { JSON(stored: $0)?["dpop_key"]?["d"]?.string }
        return secrets + ["ana@canary.example", "Ana Canary", OpenIDProvider.subject]
    }

    static func check(_ text: String, _ secrets: [String], _ place: String) {
        for (index, secret) in secrets.enumerated() {
            // Not the whole text: a failed test is a log as well.
            let isThere = text.contains(secret)
            #expect(!isThere, "secret \(index) shows in \(place)")
        }
    }

    /// All ways of looking at a value that Swift offers.
    static func looks(_ value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [
            "\(value)", String(reflecting: value), String(describing: Mirror(reflecting: value).children.map { $0 }),
            dumped,
        ]
    }

    @Test func noValueShowsASecret() async throws {
        let trial = try Trial(dpop: .required, isLocal: true, scopes: ["openid", "offline_access"])
        let session = try await trial.xid.signIn()
        let info = try await trial.xid.getUserInfo()
        _ = try await trial.xid.getAccessToken(forceRefresh: true)
        let secrets = Self.secrets(trial)
        #expect(secrets.count > 12)
        for look in Self.looks(session) { Self.check(look, secrets, "the session") }
        for look in Self.looks(info) { Self.check(look, secrets, "the claims") }
        for look in Self.looks(trial.xid) { Self.check(look, secrets, "Xid") }
        let text = try #require(trial.storage.sessions.first)
        let record = try #require(
            try SessionRecord(
                parsing: text, of: Client(trial.configuration), using: OpenIDProvider.cryptography))
        // The subject is no secret to the program itself; tokens and keys are.
        let tokens = secrets.filter { $0 != OpenIDProvider.subject }
        for look in Self.looks(record) { Self.check(look, tokens, "the record") }
        let flow = try PendingFlow(
            redirectURI: "a:/b", mustNameIssuer: false, maxAge: nil, isBound: true, at: trial.clock.now,
            using: OpenIDProvider.cryptography)
        let parts = [flow.state.text, flow.nonce.text, flow.verifier.text]
        for look in Self.looks(flow) { Self.check(look, parts, "the flow") }
    }

    /// Every kind of failure, with all its words looked at.
    @Test func noErrorShowsASecret() async throws {
        let bad: [[Mutation]] =
            ConformanceTests.table.map(\.mutations) + [
                [.redirectError("access_denied")], [.redirectInFragment], [.redirectExtra("code", "x")],
                [.answer("/token", status: 400, body: #"{"error":"eyJhbGciOi","error_description":"code-x"}"#)],
                [.tokenResponse("token_type", "x")], [.tokenResponse("expires_in", "x")],
            ]
        var count = 0
        for mutations in bad {
            let trial = try Trial(isLocal: true, mutations: mutations)
            do {
                try await trial.xid.signIn()
                _ = try await trial.xid.getUserInfo()
            } catch {
                count += 1
                let secrets = Self.secrets(trial)
                for look in Self.looks(error) { Self.check(look, secrets, "an error") }
                Self.check((error as NSError).localizedDescription, secrets, "an error's localized description")
            }
        }
        #expect(count > 25)
    }

    /// The sources say nothing to anybody: there is no log that a secret could reach.
    @Test func nothingIsPrinted() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/Xid")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.standardizedFileURL.path())
        let files = paths.filter { $0.hasSuffix(".swift") }
        #expect(files.count > 20)
        for path in files {
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            for word in [
                " print(", "NSLog", "os_log", "Logger(", "debugPrint", "fputs", "fatalError(", "assertionFailure",
            ] {
                let isThere = text.contains(word)
                #expect(!isThere, "\(path): \(word)")
            }
        }
    }
}
