import JOSE
import TestSupport
import Testing

struct SecretBytesTests {
    /// Every way in which Swift turns a value into text.
    private func texts(_ value: some Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return [String(describing: value), String(reflecting: value), "\(value)", "\([value])", dumped]
    }

    @Test func `Secret bytes show their number only`() {
        for text in texts(SecretBytes([201, 202, 203])) {
            #expect(text.contains("3 secret bytes"))
            for byte in ["201", "202", "203", "c9", "C9"] { #expect(!text.contains(byte)) }
        }
    }

    @Test(arguments: [SignatureAlgorithm.es256, .rs256])
    func `A private key shows none of its secret parts`(_ algorithm: SignatureAlgorithm) {
        let key = TokenForge.newKey("key", for: algorithm)
        let secrets: [SecretBytes] =
            switch key.privateKey.parts {
            case .p256(let d): [d]
            case .rsa(let d, let p, let q, let dp, let dq, let qi): [d, p, q, dp, dq, qi]
            }
        for text in texts(key) + texts(key.privateKey) + texts(key.privateKey.parts) {
            #expect(text.contains("secret bytes"))
            for secret in secrets {
                // Eight bytes in a row, as a list in whatever layout, or as digits; the public half shows others.
                let part = secret.bytes.prefix(8)
                let numbers = text.split { !$0.isNumber }.joined(separator: " ")
                #expect(!numbers.contains(part.map(String.init).joined(separator: " ")))
                #expect(!text.lowercased().contains(Array(part).hex))
                #expect(!text.contains(Base64URL.encode(part).dropLast()))
            }
        }
    }
}
