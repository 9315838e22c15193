import Foundation
import JOSE
import Testing

/// `apple-simulator notification`.
@Suite struct AppleSimulatorNotificationTests {
    let simulator: AppleSimulator

    init() throws {
        simulator = try AppleSimulatorTokenTests.shared.get()
    }

    private func payload(_ arguments: String...) throws -> String {
        let result = try simulator.run(["notification"] + arguments)
        let body = try JSON(parsing: Array(result.output.utf8), limits: JSON.Limits(bytes: 16_384))
        #expect(body.object?.members.count == 1)
        return try #require(body["payload"]?.string)
    }

    @Test func itIsOfTheShapeThatApplePosts() throws {
        let payload = try payload("--type", "email-disabled", "--sub", "001.a.1", "--audience", "com.example.app")
        let set = try AppleSimulatorTokenTests.PrintedKeys(simulator).set
        let token = try CompactJWS(parsing: Array(payload.utf8)[...], allowing: [.rs256])
        let claims = try token.verified(by: set.key(named: token.header.keyID), using: AppsServer.cryptography).claims()
        #expect(claims.members.map(\.name) == ["iss", "aud", "exp", "iat", "jti", "events"])
        #expect(claims["iss"] == "https://appleid.apple.com" && claims["aud"] == "com.example.app")
        let issued = try #require(claims["iat"]?.integer)
        #expect(claims["exp"] == .integer(issued + 86_400))
        let text = try #require(claims["events"]?.string)
        let event = try JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 4096))
        #expect(event.object?.members.map(\.name) == ["type", "sub", "event_time", "email", "is_private_email"])
        #expect(event["type"] == "email-disabled" && event["sub"] == "001.a.1" && event["is_private_email"] == "true")
        #expect((event["event_time"]?.integer ?? 0) / 1000 == issued)

        let other = try self.payload("--type", "email-disabled", "--sub", "001.a.1")
        let jti = try SimulatorAnswer.claims(of: other)["jti"]
        #expect(jti != claims["jti"])
        let told = try SimulatorAnswer.claims(
            of: self.payload("--type", "consent-revoked", "--sub", "1", "--jti", "x", "--event-time", "5"))
        #expect(told["jti"] == "x" && told["events"] == #"{"type":"consent-revoked","sub":"1","event_time":5}"#)
    }

    @Test func everyBadKindDiffersFromTheGoodInWhatItIsNamedFor() throws {
        let list = try simulator.line("notification", "--bad", "list")
        let kinds = list.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(kinds.count >= 45 && Set(kinds).count == kinds.count)
        // What a strict reader of such notifications accepts.
        let set = try AppleSimulatorTokenTests.PrintedKeys(simulator).set
        let accepts = { (payload: String) -> Bool in
            guard let token = try? CompactJWS(parsing: Array(payload.utf8)[...], allowing: [.rs256]),
                let key = try? set.key(named: token.header.keyID),
                let claims = try? token.verified(by: key, using: AppsServer.cryptography).claims(),
                claims["iss"] == "https://appleid.apple.com", claims["aud"] == "com.example.app",
                let expiry = claims["exp"]?.integer, let issued = claims["iat"]?.integer, claims["jti"]?.string != nil,
                case let now = Int64(Date().timeIntervalSince1970), expiry > now, issued <= now + 60,
                let text = claims["events"]?.string,
                let event = try? JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 4096)),
                event["type"] == "consent-revoked", event["sub"]?.string != nil,
                let time = event["event_time"]?.integer, time > 1_500_000_000_000
            else { return false }
            return true
        }
        #expect(accepts(try payload("--type", "consent-revoked", "--sub", "001.a.1")))
        for kind in kinds {
            #expect(!accepts(try payload("--type", "consent-revoked", "--sub", "001.a.1", "--bad", kind)), "\(kind)")
        }
    }

    @Test func wrongUseIsSaidSo() throws {
        for use in [
            [], ["--type", "odd", "--sub", "1"], ["--type", "consent-revoked"],
            ["--type", "consent-revoked", "--sub", ""],
            ["--type", "consent-revoked", "--sub", "1", "--email", "a@b"],
            ["--type", "consent-revoked", "--sub", "1", "--bad", "no-subject"],
        ] {
            let result = try simulator.run(["notification"] + use)
            #expect(result.exitStatus == 64 && result.output.isEmpty && !result.errors.isEmpty, "\(use)")
        }
    }
}
