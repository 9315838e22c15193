import Foundation
import Xid

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The app's own session, from the function behind `POST /auth/apple`: signs in, renews, signs out.
///
/// Tokens are kept where Xid keeps its own: in the Keychain, or in a `TokenStorageAdapter` of yours.
actor AuthAppleClient {
    /// Nobody is signed in, or no longer: show the button.
    struct SignedOut: Error {}

    /// What the function has refused. `code` is for the program, `detail` for the person.
    struct Problem: Error, Decodable {
        let status: Int
        let code: String
        let detail: String
    }

    struct Person: Decodable, Sendable {
        let id: String
        let fullName: String?
        let email: String?
    }

    private struct Tokens: Codable {
        var accessToken: String
        var refreshToken: String
        var expiresAt: Date
    }

    private struct Answer: Decodable {
        let accessToken: String
        let refreshToken: String
        let expiresIn: Double
        let isNew: Bool
        let user: Person
    }

    private static let key = "auth-apple.session"

    private let server: URL
    private let storage: any TokenStorageAdapter
    private let now: @Sendable () -> Date
    private var renewal: Task<String, any Error>?

    init(server: URL, storage: any TokenStorageAdapter, now: @escaping @Sendable () -> Date = { Date() }) {
        self.server = server
        self.storage = storage
        self.now = now
    }

    /// Apple gives the name at the person's first sign-in and never again: pass it on whenever it is there.
    func signIn(
        identityToken: String, nonce: AppleNonce, givenName: String? = nil, familyName: String? = nil,
        device: [String: String]
    ) async throws -> (person: Person, isNew: Bool) {
        var body: [String: Any] = ["identity_token": identityToken, "nonce": nonce.raw, "deviceInfo": device]
        if givenName != nil || familyName != nil {
            body["full_name"] = ["given_name": givenName ?? "", "family_name": familyName ?? ""]
        }
        let answer = try await post("auth/apple", body)
        // One that is under way is the former session's.
        renewal = nil
        try keep(answer)
        return (answer.user, answer.isNew)
    }

    /// The access token for your services, renewed shortly before it expires. Several callers at once cause one renewal.
    func accessToken() async throws -> String {
        if let renewal { return try await renewal.value }
        guard let tokens = try tokens() else { throw SignedOut() }
        guard tokens.expiresAt <= now().addingTimeInterval(30) else { return tokens.accessToken }
        let task = Task { try await renew(tokens) }
        renewal = task
        defer { if renewal == task { renewal = nil } }
        return try await task.value
    }

    /// Forgets the session here first. When the function cannot be reached, its side of it ends by itself in time.
    func signOut() async throws {
        let tokens = try tokens()
        renewal?.cancel()
        renewal = nil
        try storage.delete(key: Self.key)
        if let tokens { _ = try? await send("auth/logout", ["refresh_token": tokens.refreshToken]) }
    }

    private func renew(_ tokens: Tokens) async throws -> String {
        do {
            let answer = try await post("auth/refresh", ["refresh_token": tokens.refreshToken])
            // Somebody has signed out, or in, while the function was asked: what came is not kept.
            guard try self.tokens()?.refreshToken == tokens.refreshToken else {
                _ = try? await send("auth/logout", ["refresh_token": answer.refreshToken])
                throw SignedOut()
            }
            try keep(answer)
            return answer.accessToken
        } catch let problem as Problem where problem.status == 401 {
            // Only this ends a session, and no other's. An outage (503), or no network, does not.
            if try self.tokens()?.refreshToken == tokens.refreshToken { try storage.delete(key: Self.key) }
            throw SignedOut()
        }
    }

    private func tokens() throws -> Tokens? {
        try storage.load(key: Self.key).map { try JSONDecoder().decode(Tokens.self, from: Data($0.utf8)) }
    }

    private func keep(_ answer: Answer) throws {
        let tokens = Tokens(
            accessToken: answer.accessToken, refreshToken: answer.refreshToken,
            expiresAt: now().addingTimeInterval(answer.expiresIn))
        try storage.save(key: Self.key, value: String(decoding: JSONEncoder().encode(tokens), as: UTF8.self))
    }

    private func post(_ path: String, _ body: [String: Any]) async throws -> Answer {
        try Self.decoder.decode(Answer.self, from: try await send(path, body))
    }

    private func send(_ path: String, _ body: [String: Any]) async throws -> Data {
        var request = URLRequest(url: server.appendingPathComponent(path), timeoutInterval: 15)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try JSONSerialization.data(withJSONObject: body)
        let (data, response) = try await URLSession.shared.data(for: request)
        guard let status = (response as? HTTPURLResponse)?.statusCode, (200...299).contains(status) else {
            throw try Self.decoder.decode(Problem.self, from: data)
        }
        return data
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }
}

/// Ties an identity token to one sign-in: Apple gets the hash and puts it into the token, the function gets what was hashed.
struct AppleNonce: Sendable {
    let raw: String
    let hashed: String

    /// - Parameter sha256: `{ Array(SHA256.hash(data: $0)) }` with CryptoKit.
    init(sha256: (Data) -> [UInt8]) {
        var random = SystemRandomNumberGenerator()
        raw = Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }).base64EncodedString()
        hashed = sha256(Data(raw.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0\(digits)" : digits
        }.joined()
    }
}
