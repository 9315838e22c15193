#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One client at one provider.
actor RelyingParty {
    init(client: Client, platform: Platform, storage: any TokenStorageAdapter) {}

    nonisolated var isFlowPending: Bool { false }
    func signIn(_ options: XidSignInOptions) async throws -> XidSession { throw XidError(.noSession) }
    func handleRedirect(_ url: URL) async throws -> XidSession { throw XidError(.noPendingFlow) }
    func cancelSignIn() {}
    func getSession() async throws -> XidSession? { nil }
    func getAccessToken(forceRefresh: Bool) async throws -> String { throw XidError(.noSession) }
    func authorizationHeaders(method: String, url: URL, nonce: String?) async throws -> [String: String] {
        throw XidError(.noSession)
    }
    func getUserInfo() async throws -> XidClaims { throw XidError(.noSession) }
    func signOut(callEndSession: Bool) async throws {}
}
