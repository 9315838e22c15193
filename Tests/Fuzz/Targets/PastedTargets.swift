import AppleID
import JOSE
import OpenSSLCrypto

extension FuzzTarget {
    /// A form that is read is written and read again as equal; all of it is UTF-8, named, and no more than allowed.
    static let form = FuzzTarget("form", maximumSize: 4096) { input in
        let maximum = 32
        guard let form = FormURLEncoded(parsing: input[...], maximumFields: maximum) else {
            let more = FormURLEncoded(parsing: input[...], maximumFields: input.count + 1)
            try demand((more?.fields.count ?? maximum + 1) > maximum, "a form is refused for itself or for its size")
            return .interesting
        }
        try demand(form.fields.count <= maximum, "a form has no more fields than allowed")
        try demand(form.fields.allSatisfy { !$0.name.isEmpty }, "each field has a name")
        try demand(input.allSatisfy { (0x21...0x7E).contains($0) }, "what is read is visible ASCII")
        let written = FormURLEncoded.encode(form.fields.map { ($0.name, $0.value) })
        guard let again = FormURLEncoded(parsing: written[...], maximumFields: maximum) else {
            throw Violation(description: "what is written is read")
        }
        // By bytes: two spellings of a letter are equal to `==`.
        let bytes = { (form: FormURLEncoded) in form.fields.map { [Array($0.name.utf8), Array($0.value.utf8)] } }
        try demand(bytes(again) == bytes(form), "what is written is read as it was")
        for field in form.fields.prefix(8) {
            let count = bytes(form).count { $0[0] == Array(field.name.utf8) }
            let value: String? =
                switch form.occurrence(of: field.name) {
                case .absent: throw Violation(description: "a field that is there is found")
                case .once(let value): value
                case .repeated: nil
                }
            try demand((value != nil) == (count == 1), "a name that comes twice is never chosen from")
            if let value { try demand(Array(value.utf8) == Array(field.value.utf8), "a value is its name's") }
        }
        return .interesting
    }

    /// Whatever is pasted, what is accepted is a P-256 key that signs what its public half verifies.
    static let pastedKey = FuzzTarget("pasted-key", maximumSize: 4096) { input in
        let text = String(decoding: input, as: UTF8.self)
        let key: PrivateKey
        do throws(PrivateKeyRefusal) {
            key = try PastedPrivateKey.read(text, using: FuzzSite.cryptography)
        } catch {
            try demand(!error.reason.isEmpty && !error.remedy.isEmpty, "a refusal says why, and what to do")
            return .interesting
        }
        try check(key)
        return .interesting
    }

    private static func check(_ key: PrivateKey) throws {
        try demand(key.algorithm == .es256, "an accepted key is of Apple's kind")
        let message = Array("fuzz".utf8)
        let signature = try FuzzSite.cryptography.sign(message[...], with: key)
        let isValid = FuzzSite.cryptography.isValid(
            signature[...], over: message[...], by: key.publicKey, algorithm: .es256)
        try demand(isValid, "an accepted key signs, and its public half verifies")
    }
}
