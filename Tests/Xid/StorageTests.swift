import Foundation
import JOSE
import Testing

@testable import Xid

/// What a storage may do to a session, and what it may not.
@Suite struct StorageTests {
    @Test func aSessionIsKeptAndFoundByAnotherRunOfTheApp() async throws {
        let trial = try Trial(isLocal: true)
        let session = try await trial.xid.signIn()
        #expect(session.subject == OpenIDProvider.subject)
        #expect(session.email == "ana@canary.example")
        #expect(try await trial.restarted().xid.getSession() == session)
        #expect(trial.storage.values.count == 1, "one record a session, and nothing of the flow")
        try await trial.xid.signOut()
        #expect(trial.storage.values.isEmpty)
        #expect(try await trial.xid.getSession() == nil)
    }

    @Test func sessionsOfOtherIssuersAndClientsAreNotFound() async throws {
        let trial = try Trial(isLocal: true)
        try await trial.xid.signIn()
        var other = trial.configuration
        other.clientId = "client2"
        trial.xid.configure(options: other)
        #expect(try await trial.xid.getSession() == nil)
        other = trial.configuration
        other.issuer = try #require(URL(string: trial.provider.issuer + "/"))
        trial.xid.configure(options: other)
        #expect(try await trial.xid.getSession() == nil)
        trial.xid.configure(options: trial.configuration)
        #expect(try await trial.xid.getSession() != nil)
    }

    /// A record under another's key, as a storage that mixes keys up would give it.
    @Test func aRecordOfAnotherClientIsNotBelieved() async throws {
        let trial = try Trial(isLocal: true)
        try await trial.xid.signIn()
        let record = try #require(trial.storage.values.first)
        trial.storage.put([record.key: record.value.replacingOccurrences(of: #""client""#, with: #""client2""#)])
        #expect(await Trial.code { _ = try await trial.xid.getSession() } == .storageCorrupt)
        for value in ["x", "{}", "[]", "null"] {
            trial.storage.put([record.key: value])
            #expect(await Trial.code { _ = try await trial.xid.getSession() } == .storageCorrupt)
            #expect(trial.storage.values.count == 1, "what cannot be read is not erased unasked")
        }
        try await trial.xid.signIn()
        #expect(try await trial.xid.getSession() != nil)
    }

    /// KeychainAccess#509 #488, stytch-ios PR#154, MSAL#958 (-25308): a locked device looked like nobody signed in, and the session was
    /// wiped.
    @Test func aLockedStorageIsAnErrorAndTheSessionIsThereAfterwards() async throws {
        let trial = try Trial(isLocal: true)
        let session = try await trial.xid.signIn()
        trial.storage.lock(true)
        let error = await #expect(throws: XidError.self) { _ = try await trial.xid.getSession() }
        #expect(error?.code == .storageUnavailable)
        #expect(error?.systemCode == -25308)
        #expect(await Trial.code { _ = try await trial.xid.getAccessToken() } == .storageUnavailable)
        #expect(await Trial.code { try await trial.xid.signOut() } == .storageUnavailable)
        trial.clock.advance(1000)
        #expect(await Trial.code { _ = try await trial.xid.getSession() } == .storageUnavailable)
        trial.clock.advance(-1000)
        trial.storage.lock(false)
        #expect(try await trial.xid.getSession() == session)
    }

    /// MSAL#698 PR#388 (-34018), GoogleSignIn-iOS#165 #492: the code was spent before the storage was found not to work.
    @Test func aStorageThatTakesNothingIsFoundOutBeforeTheBrowserOpens() async throws {
        let trial = try Trial(isLocal: true)
        trial.storage.failAll([.save])
        #expect(await Trial.code { try await trial.xid.signIn() } == .storageFailed)
        #expect(trial.browser.urls.isEmpty)
        #expect(trial.provider.count("/token") == 0)
    }

    /// Every operation of a whole life fails in turn: sign in, read, renew, sign out.
    @Test(arguments: [false, true])
    func whateverFailsTheErrorIsTypedAndNothingIsLost(isBound: Bool) async throws {
        let scopes = isBound ? ["openid", "offline_access"] : ["openid"]
        var number = 0
        var didFail = true
        while didFail {
            number += 1
            let trial = try Trial(dpop: isBound ? .required : .off, isLocal: true, scopes: scopes)
            trial.storage.fail(at: number)
            let signIn = await Trial.code { try await trial.xid.signIn() }
            #expect(signIn == nil || signIn == .storageFailed)
            #expect(trial.storage.flows.isEmpty, "no verifier stays behind (\(number))")
            if signIn != nil, trial.provider.count("/token") == 0 {
                // Nothing was spent: signing in again works.
                try await trial.xid.signIn()
            }
            // The code was spent, so there is a session, come what may.
            let read = await Trial.code {
                let session = try await trial.xid.getSession()
                #expect(session != nil, "\(number)")
            }
            #expect(read == nil || read == .storageFailed)
            let token = await Trial.code { _ = try await trial.xid.getAccessToken() }
            #expect(token == nil || (token == .storageFailed && read == nil))
            if isBound {
                trial.clock.advance(300)
                let renewal = await Trial.code { _ = try await trial.xid.getAccessToken() }
                #expect(renewal == nil || renewal == .storageFailed)
                let again = await Trial.code { _ = try await trial.xid.getAccessToken() }
                #expect(again == nil || renewal == nil)
                #expect(!trial.provider.locked { trial.provider.isFamilyRevoked })
            }
            let out = await Trial.code { try await trial.xid.signOut() }
            #expect(out == nil || out == .storageFailed)
            if out != nil { try await trial.xid.signOut() }
            #expect(trial.storage.sessions.isEmpty && trial.storage.flows.isEmpty, "\(number)")
            didFail = trial.storage.operations.count >= number
        }
        #expect(number > 8)
    }

    @Test func aSessionThatWasNotTakenIsOfferedAgain() async throws {
        let (trial, task, redirect) = try await RedirectTests.waiting()
        trial.storage.failAll([.save])
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: redirect) } == .storageFailed)
        #expect(await Trial.code { _ = try await task.value } == .storageFailed)
        #expect(trial.storage.values.isEmpty)
        let session = try #require(try await trial.xid.getSession())
        trial.storage.failAll([])
        #expect(try await trial.xid.getSession() == session)
        #expect(try await trial.restarted().xid.getSession() == session)
    }

    @Test func aCodeIsNotSpentWhileItsVerifierCannotBeErased() async throws {
        let (trial, task, redirect) = try await RedirectTests.waiting()
        trial.storage.failAll([.delete, .save])
        #expect(await Trial.code { _ = try await trial.xid.handleRedirect(url: redirect) } == .storageFailed)
        #expect(trial.provider.count("/token") == 0)
        trial.storage.failAll([])
        try await trial.xid.handleRedirect(url: redirect)
        task.cancel()
        _ = try? await task.value
        #expect(trial.storage.flows.isEmpty)
    }

    @Test func anAdaptersOwnErrorIsNotRepeated() async throws {
        struct Talkative: TokenStorageAdapter {
            func save(key: String, value: String) throws { throw Leak(text: value) }
            func load(key: String) throws -> String? { nil }
            func delete(key: String) throws {}
            struct Leak: Error { let text: String }
        }
        let trial = try Trial(isLocal: true)
        try trial.xid.setTokenStorage(Talkative())
        let error = await #expect(throws: XidError.self) { try await trial.xid.signIn() }
        #expect(error?.code == .storageFailed)
        #expect(error.map { String(reflecting: $0).contains("verifier") } == false)
    }
}
