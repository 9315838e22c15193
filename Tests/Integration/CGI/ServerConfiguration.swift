import Foundation
import TestSupport
import Testing

/// The files that `deploy/` ships, copied beside a main file such as Debian's, with nothing changed but places: paths, ports,
/// the certificate. A change that finds nothing to change is a failure: then the files are others than the test thinks.
struct ServerConfiguration {
    let folder: URL
    /// What starts the server in the foreground.
    let command: [String]
    /// What checks the configuration and ends.
    let check: [String]

    /// Short: a socket's path has room for 107 bytes.
    var fastCGISocket: String { folder.appending(path: "socket").path() }

    init(
        _ kind: WebServer.Kind, _ variant: WebServer.Variant, site: CGISite, port: Int, program: URL, mountPoint: String
    ) throws {
        let folder = site.folder.appending(path: "web-\(UUID().uuidString.prefix(8))")
        self.folder = folder
        try CGISite.makeFolder(folder, 0o755)
        if let user = ServerUser.current { chown(folder.path(), user.id, user.group) }
        let path = { (name: String) in folder.appending(path: name).path() }
        let shipped: String
        var changes = ["/usr/lib/auth-apple/auth-apple": program.path()]
        let certificate = variant == .tls ? try Certificate(in: folder) : nil

        switch kind {
        case .apacheCGID, .apacheCGI:
            shipped = "cgi/apache"
            changes[#"<Directory "/usr/lib/auth-apple">"#] =
                #"<Directory "\#(program.deletingLastPathComponent().path())">"#
            changes["127.0.0.1:8080"] = "127.0.0.1:\(port)"
            changes["*:443"] = "127.0.0.1:\(port)"
            if mountPoint != "/" { changes[#"ScriptAlias "/" "#] = #"ScriptAlias "\#(mountPoint)/" "# }
            command = ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", path("main.conf")]
            check = ["/usr/sbin/apache2", "-t", "-f", path("main.conf")]
        case .nginx:
            shipped = "cgi/nginx"
            changes["unix:/run/fcgiwrap.socket"] = "unix:\(path("socket"))"
            changes["/var/log/nginx"] = folder.path()
            changes["listen 127.0.0.1:8080"] = "listen 127.0.0.1:\(port)"
            changes["listen 443"] = "listen 127.0.0.1:\(port)"
            if mountPoint != "/" { changes["location / {"] = "location \(mountPoint)/ {" }
            command = ["/usr/sbin/nginx", "-c", path("main.conf"), "-g", "daemon off;"]
            check = ["/usr/sbin/nginx", "-t", "-c", path("main.conf")]
        case .lighttpd:
            shipped = "cgi/lighttpd"
            changes["/var/log/lighttpd"] = folder.path()
            changes["127.0.0.1:8080"] = "127.0.0.1:\(port)"
            changes[#"":443""#] = #""127.0.0.1:\#(port)""#
            if mountPoint != "/" { changes[#"alias.url = ( "/" "#] = #"alias.url = ( "\#(mountPoint)/" "# }
            command = ["/usr/sbin/lighttpd", "-D", "-f", path("main.conf")]
            check = ["/usr/sbin/lighttpd", "-tt", "-f", path("main.conf")]
        case .container:
            shipped = "container"
            changes["/usr/lib/auth-apple/environment.sh"] = path("auth-apple/environment.sh")
            changes["/etc/auth-apple/lighttpd.conf"] = path("auth-apple/lighttpd.conf")
            changes["/var/empty"] = folder.path()
            command = [path("auth-apple/entry.sh")]
            check = ["/usr/sbin/lighttpd", "-tt", "-f", path("auth-apple/lighttpd.conf")]
        }
        if let certificate {
            changes["/etc/letsencrypt/live/auth.example.com/fullchain.pem"] = certificate.file.path()
            changes["/etc/letsencrypt/live/auth.example.com/privkey.pem"] = certificate.key.path()
        }

        // One variant of two is there; the places of the other one are not.
        let unused =
            variant == .tls ? ["127.0.0.1:8080", "listen 127.0.0.1:8080"] : ["*:443", "listen 443", #"":443""#]
        for text in unused { changes[text] = nil }
        try Self.copy(
            Installed.package.appending(path: "deploy/\(shipped)"), to: folder.appending(path: "auth-apple"),
            leavingOut: variant == .tls ? "plain.conf" : "tls.conf", changes)
        if kind != .container {
            // A site may say its own address before the port is chosen.
            let variables = site.environment.mapValues { $0.replacing("{port}", with: "\(port)") }
            try Self.environment(kind, variables).write(
                to: folder.appending(path: "auth-apple/environment.conf"), atomically: true, encoding: .utf8)
            try Self.main(kind, variant, port: port, in: folder).write(
                to: folder.appending(path: "main.conf"), atomically: true, encoding: .utf8)
        }
    }

    private static func copy(
        _ source: URL, to folder: URL, leavingOut other: String, _ changes: [String: String]
    ) throws {
        try CGISite.makeFolder(folder, 0o755)
        var missing = Set(changes.keys)
        // The longest first: one place may begin with another.
        let ordered = changes.sorted { ($0.key.count, $0.key) > ($1.key.count, $1.key) }
        for name in try FileManager.default.contentsOfDirectory(atPath: source.path())
        where (name.hasSuffix(".conf") || name.hasSuffix(".sh")) && name != other {
            var text = try String(contentsOf: source.appending(path: name), encoding: .utf8)
            for (place, new) in ordered where text.contains(place) {
                text = text.replacing(place, with: new)
                missing.remove(place)
            }
            let copy = folder.appending(path: name)
            try text.write(to: copy, atomically: true, encoding: .utf8)
            if name.hasSuffix(".sh") {
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: copy.path())
            }
        }
        #expect(missing.isEmpty, "not in the files that are shipped: \(missing)")
    }

    /// The test's own `environment.conf`, in each server's words.
    private static func environment(_ kind: WebServer.Kind, _ variables: [String: String]) -> String {
        let sorted = variables.sorted { $0.key < $1.key }
        switch kind {
        case .apacheCGID, .apacheCGI: return sorted.map { "SetEnv \($0) \"\($1)\"\n" }.joined()
        case .nginx: return sorted.map { "fastcgi_param \($0) \"\($1)\";\n" }.joined()
        case .lighttpd, .container:
            let lines = sorted.map { "    \"\($0)\" => \"\($1)\"" }
            return "setenv.set-environment = (\n\(lines.joined(separator: ",\n"))\n)\n"
        }
    }

    /// What Debian's main file is for: modules, user, process id.
    private static func main(_ kind: WebServer.Kind, _ variant: WebServer.Variant, port: Int, in folder: URL) -> String
    {
        let isRoot = ServerUser.current != nil
        switch kind {
        case .apacheCGID, .apacheCGI:
            var modules = ["alias", "authz_core", "env", "reqtimeout"]
            modules += kind == .apacheCGID ? ["mpm_event", "cgid"] : ["mpm_prefork", "cgi"]
            if variant == .tls { modules += ["socache_shmcb", "ssl"] }
            return """
                ServerRoot "\(folder.path())"
                ServerName localhost
                PidFile apache.pid
                DefaultRuntimeDir "\(folder.path())"
                ErrorLog main.log
                \(isRoot ? "User www-data\nGroup www-data" : "")
                \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
                \(kind == .apacheCGID ? "ScriptSock cgid" : "")
                \(variant == .tls ? "Listen 127.0.0.1:\(port)" : "")
                Include auth-apple/\(variant.rawValue).conf
                """
        case .nginx:
            try? FileManager.default.copyItem(
                at: URL(filePath: "/etc/nginx/fastcgi_params"), to: folder.appending(path: "fastcgi_params"))
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { name in
                "    \(name)_temp_path \(folder.path())/\(name);\n"
            }.joined()
            return """
                \(isRoot ? "user www-data;" : "")
                pid \(folder.path())/nginx.pid;
                error_log \(folder.path())/main.log;
                events {}
                http {
                \(temporary)
                    include auth-apple/\(variant.rawValue).conf;
                }
                """
        case .lighttpd, .container:
            // An idle connection is kept for longer than the 5 s that are usual: on a slow machine a client may come back just as
            // it ends, and then has no answer.
            return """
                server.max-keep-alive-idle = 60
                server.document-root = "\(folder.path())"
                server.bind = "127.0.0.1"
                server.port = \(Loopback.freePort())
                server.errorlog = "\(folder.path())/main.log"
                server.upload-dirs = ( "\(folder.path())" )
                \(isRoot ? "server.username = \"www-data\"\nserver.groupname = \"www-data\"" : "")
                server.http-parseopts = (
                    "header-strict" => "enable", "host-strict" => "enable", "host-normalize" => "enable",
                    "url-normalize-unreserved" => "enable", "url-normalize-required" => "enable",
                    "url-ctrls-reject" => "enable", "url-path-2f-decode" => "enable", "url-path-dotseg-remove" => "enable"
                )
                include "auth-apple/\(variant.rawValue).conf"
                """
        }
    }
}

/// A certificate for `localhost` that signs itself.
struct Certificate {
    let file: URL
    let key: URL

    init(in folder: URL) throws {
        file = folder.appending(path: "certificate.pem")
        key = folder.appending(path: "certificate.key")
        _ = try Ran(
            "/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days",
            "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key.path(), "-out",
            file.path(), environment: ["PATH": "/usr/bin:/bin"])
    }
}
