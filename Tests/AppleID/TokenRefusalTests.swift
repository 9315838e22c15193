import AppleID
import JOSE
import TestSupport
import Testing

struct TokenRefusalTests {
    let verifier: AppleTokenVerifier

    init() throws {
        let policy = try #require(TokenPolicy(audiences: [TokenForge.audience]))
        verifier = AppleTokenVerifier(policy: policy, cryptography: TokenForge.cryptography)
    }

    private func refusal(
        _ token: String, keys: FixedKeys = TokenForge.keys, nonce: String? = nil, at now: UnixTime = TokenForge.now
    ) -> TokenRefusal? {
        do {
            _ = try verifier.verify(Array(token.utf8)[...], keys: keys, at: now).identity(nonce: nonce)
            return nil
        } catch VerificationFailure.refused(let refusal) {
            return refusal
        } catch let refusal as TokenRefusal {
            return refusal
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    @Test func `A good token is accepted`() throws {
        #expect(refusal(TokenForge().token) == nil)
    }

    @Test(arguments: TokenForge.faults + TokenForge.embeddedKeyFaults)
    func `A bad token is refused for its own reason`(_ fault: TokenForge.Fault) {
        #expect(refusal(fault.token) == fault.refusal)
    }
}
