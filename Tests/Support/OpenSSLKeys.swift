import Foundation

/// Keys and certificates as the `openssl` command writes them.
package struct OpenSSLKeys {
    /// PEM, by the name of the kind.
    package let texts: [String: String]

    package static let shared: OpenSSLKeys = {
        do { return try OpenSSLKeys() } catch { fatalError("openssl makes no keys: \(error)") }
    }()

    package subscript(name: String) -> String {
        guard let text = texts[name] else { fatalError("no key is called \(name)") }
        return text
    }

    /// The bytes between the lines of a block.
    package func der(_ name: String) -> [UInt8] {
        let lines = self[name].split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return [UInt8](Data(base64Encoded: lines.joined()) ?? Data())
    }

    private init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func path(_ name: String) -> String { folder.appending(path: name).path() }
        func openssl(_ arguments: String) throws {
            let ran = try Ran(["/usr/bin/env", "openssl"] + arguments.split(separator: " ").map(String.init))
            guard ran.status == 0 else { throw CocoaError(.executableLoad) }
        }
        func pkey(_ name: String, _ kind: String) throws {
            try openssl("genpkey \(kind) -out \(path(name))")
        }
        try pkey("p8", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256")
        try pkey("other", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256")
        try pkey("p384", "-algorithm EC -pkeyopt ec_paramgen_curve:P-384")
        try pkey("k1", "-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1")
        try pkey("rsa", "-algorithm RSA -pkeyopt rsa_keygen_bits:2048")
        try pkey("ed25519", "-algorithm ED25519")
        try openssl("ec -in \(path("p8")) -out \(path("sec1"))")
        try openssl("ec -in \(path("p8")) -no_public -out \(path("sec1-private"))")
        try openssl("ecparam -name prime256v1 -genkey -out \(path("parameters"))")
        try openssl("ec -in \(path("p384")) -out \(path("p384-sec1"))")
        try openssl("rsa -in \(path("rsa")) -traditional -out \(path("rsa-traditional"))")
        try openssl("pkey -in \(path("p8")) -pubout -out \(path("public"))")
        try openssl("pkcs8 -topk8 -in \(path("p8")) -passout pass:x -out \(path("encrypted"))")
        try openssl("ec -in \(path("p8")) -aes128 -passout pass:x -out \(path("encrypted-sec1"))")
        try openssl("req -x509 -new -key \(path("p8")) -subj /CN=x -days 2 -out \(path("certificate"))")
        try openssl("req -new -key \(path("p8")) -subj /CN=x -out \(path("request"))")
        texts = try Dictionary(
            uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: folder.path()).map { name in
                (name, try String(contentsOfFile: path(name), encoding: .utf8))
            })
    }
}
