import Foundation
import TestSupport
import Testing

/// Whom the program believes to be Apple. The system's folder of authorities is another one here, in a mount namespace.
@Suite struct AuthorityTests {
    static let mayMount = (try? Ran(command(in: "/tmp", "true")).status) == 0

    static func command(in folder: String, _ script: String) -> [String] {
        let mount = "mount --bind '\(folder)' /etc/ssl/certs"
        return ["/usr/bin/env", "unshare", "--map-root-user", "--mount", "sh", "-c", "\(mount) && \(script)"]
    }

    @Test(.enabled(if: mayMount, "this machine allows no mount namespaces"), arguments: [true, false])
    func aBundleIsTrustedInPlaceOfTheSystemsAuthoritiesAndNotBesideThem(isGiven: Bool) throws {
        let site = try FunctionSite()
        // The server's certificate is a stranger's, and the system trusts strangers.
        try LoopbackServer.run(.init(200, "x").with { $0.tls = .untrusted }) { server in
            let authorities = URL(filePath: server.authority).deletingLastPathComponent()
            let folder = site.folder.appending(path: "certs")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (from, to) in [("stranger.pem", "stranger.pem"), ("authority.pem", "ca-certificates.crt")] {
                try FileManager.default.copyItem(
                    at: authorities.appending(path: from), to: folder.appending(path: to))
            }
            #expect(try Ran("/usr/bin/env", "openssl", "rehash", folder.path()).status == 0)

            site.environment["AUTH_APPLE_KEYS_URL"] = server.url()
            site.environment["AUTH_APPLE_CA_BUNDLE"] = isGiven ? server.authority : nil
            let program = try Programs.built("auth-apple").path()
            let ran = try Ran(Self.command(in: folder.path(), "'\(program)' check"), environment: site.environment)
            #expect(ran.text.contains(isGiven ? "(tls: " : "status 200 without a usable key set"), "\(ran.text)")
        }
    }
}
