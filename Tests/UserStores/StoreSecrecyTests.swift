#if SQLite
import Accounts
import AppleID
import Foundation
import JOSE
import TestSupport
import Testing
import UserStores

/// What lies in the files: whoever has them can present nothing, and of who was deleted they know nothing.
@Suite struct StoreSecrecyTests {
    @Test func nothingThatCouldBePresentedIsInTheFiles() throws {
        try withDatabase { path, store in
            let service = TestService(users: store)
            let origin = TestService.origin
            let now = TokenForge.now
            var tokens: [IssuedTokens] = []
            var identityTokens: [String] = []
            for key in ["key-1", "key-2", nil] {
                let forge = TokenForge(audience: TestService.audience, at: now).with(["jti": .string(key ?? "")])
                let identityToken = forge.token
                identityTokens.append(identityToken)
                let signIn = service.signIn(appleKeys: TokenForge.keys)
                let request = SignIn.Request(
                    identityToken: Array(identityToken.utf8)[...], nonce: nil,
                    client: SignIn.Client(deviceInfo: DeviceInfo(stored: [:]), fullName: "Ana", idempotencyKey: key))
                let signedIn = try signIn(request, origin: origin, at: now)
                tokens.append(signedIn.tokens)
                for _ in 0..<3 {
                    let last = tokens[tokens.count - 1].refreshToken
                    tokens.append(try service.sessions.refresh(last, origin: origin, at: now).tokens)
                }
                if key == "key-2" {
                    try service.sessions.logOut(
                        refreshToken: tokens[tokens.count - 1].refreshToken, origin: origin, at: now)
                }
            }
            let held = try bytes(path)
            // The scan finds what is there: the digest of a token that is good now.
            let last = try #require(RefreshToken(tokens[tokens.count - 1].refreshToken))
            #expect(held.contains(bytes: last.digest(using: TokenForge.cryptography)))
            #expect(tokens.count == 12)
            for token in tokens {
                let refresh = try #require(Base64URL.decode(token.refreshToken))
                // The secret, each half of it, and the tag.
                for range in [16..<48, 16..<32, 32..<48, 48..<64] {
                    let piece = Array(refresh[range])
                    #expect(!held.contains(bytes: piece))
                    for text in [Base64URL.encode(piece), piece.hex, piece.hex.uppercased()] {
                        #expect(!held.contains(bytes: Array(text.utf8)))
                    }
                }
                expectAbsent(token.refreshToken, from: held)
                expectAbsent(token.accessToken, from: held)
            }
            for token in identityTokens { expectAbsent(token, from: held) }
        }
    }

    @Test func ofADeletedPersonNothingIsLeftInTheFilesAfterThePurge() throws {
        try withDatabase { path, store in
            let email = AppleEmail(address: "canary-address@example.com", isVerified: true, isPrivate: false)
            let profile = Profile(fullName: "canary-name", email: email, contactEmail: "canary-contact@example.com")
            let made = try store.signIn(person("canary-subject", profile)) {
                login(of: $0, on: ["name": "canary-device", "more": .string(String(repeating: "canary ", count: 400))])
            }
            for index in 0..<20 { _ = try store.signIn(person("\(index)")) { login(of: $0) } }
            #expect(try bytes(path).contains(bytes: Array("canary".utf8)), "the scan finds what is there")
            #expect(try bytes(path).contains(bytes: Array("192.0.2.77".utf8)) == false)
            let away = AuditEntry.Origin(requestID: "request-9", sourceAddress: "192.0.2.77")
            try store.change(account: made.account.id) {
                .delete(revoking: true, remembering: nil, entry(.accountDeleted, $0.id, from: away))
            }
            #expect(try store.purge(before: noon) == PurgeCount())
            for word in ["canary", "192.0.2.77"] {
                #expect(try !bytes(path).contains(bytes: Array(word.utf8)), "\(word)")
            }
            #expect(try store.audit(of: made.account.id).count == 3)
        }
    }

    /// The database and its log: all that is on the disk.
    private func bytes(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path)) + Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    }

    /// Neither the whole token nor any part of it between dots, as text or as bytes. The header is no secret.
    private func expectAbsent(_ token: String, from held: Data) {
        #expect(!held.contains(bytes: Array(token.utf8)))
        for part in token.split(separator: ".").map(String.init).suffix(2) {
            #expect(!held.contains(bytes: Array(part.utf8)))
            if let decoded = Base64URL.decode(part) { #expect(!held.contains(bytes: decoded)) }
        }
    }
}

extension Data {
    fileprivate func contains(bytes: [UInt8]) -> Bool {
        range(of: Data(bytes)) != nil
    }
}
#endif
