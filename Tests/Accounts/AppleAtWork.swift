import Accounts
import AppleID
import Foundation
import JOSE
import TestSupport
import UserStores

/// Apple's server API as a closure that answers as it is told and notes what it is asked, and what seals that which it gives.
final class AppleAtWork: @unchecked Sendable {
    static let key = TokenForge.newKey("ABC123DEFG", for: .es256)
    static let client = TokenForge.audience

    /// Status and body, or nil for no answer.
    var answer: (Int, String)?
    private(set) var forms: [[String: String]] = []
    private(set) var requests: [AppleServerRequest] = []

    init(_ answer: (Int, String)? = (200, "")) { self.answer = answer }

    var server: AppleServer {
        guard
            let credentials = AppleCredentials(
                teamID: "TEAM123456", keyID: Self.key.keyID, privateKey: Self.key.privateKey)
        else { preconditionFailure() }
        return AppleServer(credentials: credentials, cryptography: TokenForge.cryptography, send: send)
    }

    private func send(_ request: AppleServerRequest) throws(NoAppleServerAnswer) -> AppleServerAnswer {
        requests.append(request)
        var form: [String: String] = [:]
        for pair in String(decoding: request.form, as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            form[parts[0]] = parts[1].removingPercentEncoding
        }
        forms.append(form)
        guard let answer else { throw NoAppleServerAnswer(code: "connection", words: "nobody is there") }
        return AppleServerAnswer(status: answer.0, body: Array(answer.1.utf8))
    }

    static func sealing(_ keys: String = "new:" + String(repeating: "A", count: 43)) throws -> AppleGrantSealing {
        AppleGrantSealing(keys: try EncryptionKeys(parsing: keys), cryptography: TokenForge.cryptography)
    }

    /// What Apple says for a good code.
    static func tokens(_ refreshToken: String, of forge: TokenForge = TokenForge()) -> (Int, String) {
        let json: JSON = [
            "access_token": "a0.access", "token_type": "Bearer", "expires_in": .integer(3600),
            "refresh_token": .string(refreshToken), "id_token": .string(forge.token),
        ]
        return (200, json.text)
    }

    static func error(_ word: String) -> (Int, String) { (400, #"{"error":"\#(word)"}"#) }
}

extension MemoryUserStore {
    /// An account that has signed in, and its session.
    func join(
        _ subject: String = TokenForge.subject, _ profile: Profile = Profile(), at time: UnixTime = TokenForge.now
    ) throws -> (account: Account, session: Session) {
        let made = try TestService(users: self).open(subject, profile: profile, at: time)
        return (made.account, made.session)
    }
}
