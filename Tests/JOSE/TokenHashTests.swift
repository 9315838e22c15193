import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

struct TokenHashTests {
    private func matches(_ claim: String, _ value: String, _ algorithm: SignatureAlgorithm = .rs256) -> Bool {
        TokenHash.matches(claim: claim, value: value, algorithm: algorithm, using: TokenForge.cryptography)
    }

    /// The examples A.3 (`at_hash`), A.4 (`c_hash`) and A.6 (both) of OpenID Connect Core 1.0, which are of RS256; ES256 takes
    /// the same digest.
    @Test(
        arguments: [
            ("jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", "77QmUPtjPfzWtF2AnpK9RQ"),
            ("Qcb0Orv1zh30vL1MPRsbm-diHiMwcLyZvn1arpZv-Jxf_11jnpEX3Tgfvk", "LDktKdoQak3Pk0cnXxCltA"),
        ], [SignatureAlgorithm.rs256, .es256])
    func `The examples of OpenID Connect Core`(_ example: (value: String, hash: String), algorithm: SignatureAlgorithm)
    {
        #expect(
            TokenHash.text(of: example.value, algorithm: algorithm, using: TokenForge.cryptography) == example.hash)
        #expect(matches(example.hash, example.value, algorithm))
    }

    @Test func `Whatever is not the one spelling of the hash of the whole value matches nothing`() {
        let value = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"
        let whole = TokenForge.cryptography.sha256(Array(value.utf8)[...])
        let wrong = [
            "", "77QmUPtjPfzWtF2AnpK9RQ==", "77QmUPtjPfzWtF2AnpK9RR", "77QmUPtjPfzWtF2AnpK9", " 77QmUPtjPfzWtF2AnpK9RQ",
            "77qmuptjpfzwtf2anpk9rq", Base64URL.encode(whole), Base64URL.encode(whole[16...]),
            Base64URL.encode(whole[..<17]), Base64URL.encode(whole[..<15]), whole[..<16].map { $0 }.hex, value,
        ]
        for claim in wrong { #expect(!matches(claim, value), "\(claim)") }
        #expect(!matches("77QmUPtjPfzWtF2AnpK9RQ", value + "A"))
        #expect(!matches("77QmUPtjPfzWtF2AnpK9RQ", String(value.dropLast())))
        #expect(!matches("77QmUPtjPfzWtF2AnpK9RQ", ""))
    }
}
