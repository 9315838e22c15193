import Foundation

/// A real PostgreSQL server of the tests' own, from Debian's packages: in a temporary folder, as an unprivileged user, on a
/// socket there and with TLS on loopback. It is made when it is first wanted, and goes with the process.
package final class PostgreSQLServer: @unchecked Sendable {
    /// The one that most tests share, each with a schema of its own. (A database of its own costs 200 ms to make and 2 s to
    /// drop, which syncs the whole cluster; a schema costs nothing, and nobody drops it.)
    package static let shared: PostgreSQLServer = {
        do { return try PostgreSQLServer() } catch { fatalError("no PostgreSQL server for the tests: \(error)") }
    }()

    /// Where Debian puts the newest version that is installed.
    package static let binaries: String = {
        let folder = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return "\(folder)/\(versions.compactMap { Int($0) }.max() ?? 15)/bin"
    }()

    package let folder: String
    package let port: Int
    private var process: ChildProcess?
    private var watch: ChildProcess?
    /// Where its data is; another place where the disk is to be a small one.
    private let data: String
    private let settings: [String]

    package init(data: String? = nil, settings: [String] = []) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "postgresql-\(UUID().uuidString.prefix(8))")
            .path()
        self.data = data ?? folder + "/data"
        self.settings = settings
        port = try Self.freePort()
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        if geteuid() == 0 { chown(folder, Self.user?.uid ?? 0, Self.user?.gid ?? 0) }
        try makeCertificate()
        mountMemory()
        try run(
            "initdb", "-D", self.data, "-U", "postgres", "--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync",
            "--encoding=UTF8", "--locale=C.UTF-8")
        try start()
        // Tests are often ended from outside. Whoever ends them ends the server, a second later.
        let script = """
            while kill -0 \(getpid()) 2>/dev/null; do sleep 1; done
            for file in "$0"/*.pid "$1"/postmaster.pid; do kill -QUIT "$(head -n 1 "$file")" 2>/dev/null; done
            sleep 1; umount -l "$1"; rm -rf "$0"
            """
        watch = try ChildProcess(
            URL(filePath: "/bin/sh"), ["-c", script, folder, self.data], environment: ["PATH": "/usr/bin:/bin"])
    }

    deinit {
        process?.kill(SIGQUIT)
        process?.wait()
        watch?.kill(SIGKILL)
        umount2(data, Int32(MNT_DETACH))
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A disk in memory for the data, where that can be: the server syncs as it would elsewhere, and the tests wait less for
    /// a disk that many use.
    private func mountMemory() {
        guard let user = Self.user, mkdir(data, 0o700) == 0 else { return }
        if mount("tmpfs", data, "tmpfs", 0, "size=1g,mode=700,uid=\(user.uid),gid=\(user.gid)") != 0 { rmdir(data) }
    }

    /// Root may not run a server; Debian's package has made a user that may.
    package static let user: (uid: uid_t, gid: gid_t)? = {
        guard geteuid() == 0, let entry = getpwnam("postgres") else { return nil }
        return (entry.pointee.pw_uid, entry.pointee.pw_gid)
    }()

    /// The command as that user. `setpriv` becomes the command, so that a signal reaches it.
    package static func unprivileged(_ command: [String]) -> [String] {
        guard let user else { return command }
        return ["/usr/bin/setpriv", "--reuid=\(user.uid)", "--regid=\(user.gid)", "--clear-groups"] + command
    }

    // MARK: - Its life

    package func start() throws {
        let command = Self.unprivileged(
            [
                "\(Self.binaries)/postgres", "-D", data, "-k", folder, "-p", "\(port)", "-c",
                "listen_addresses=127.0.0.1",
                "-c", "ssl=on", "-c", "ssl_cert_file=\(folder)/server.pem", "-c", "ssl_key_file=\(folder)/server.key",
                "-c", "max_connections=120", "-c", "shared_buffers=32MB", "-c", "deadlock_timeout=100ms",
                "-c", "password_encryption=scram-sha-256",
            ] + settings.flatMap { ["-c", $0] })
        process = try ChildProcess(
            URL(filePath: command[0]), Array(command.dropFirst()), environment: ["PATH": "/usr/bin:/bin"],
            output: URL(filePath: folder + "/out"), errors: URL(filePath: folder + "/log"))
        for _ in 0..<600 {
            if (try? psql("SELECT 1")) != nil { return }
            usleep(20_000)
        }
        throw CocoaError(.executableNotLoadable)
    }

    /// As the power goes: the server, and all of it at once.
    package func kill() {
        process?.kill(SIGQUIT)
        process?.wait()
    }

    package func signal(_ signal: Int32) {
        process?.kill(signal)
    }

    /// The server of one connection and no other, SIGKILL: the postmaster then ends all others and recovers.
    package func killBackend(where condition: String) throws {
        let pids = try psql("SELECT pid FROM pg_stat_activity WHERE \(condition)")
        for pid in pids.split(separator: "\n").compactMap({ pid_t($0) }) { Foundation.kill(pid, SIGKILL) }
    }

    package func log() -> String {
        String(decoding: (try? Data(contentsOf: URL(filePath: folder + "/log"))) ?? Data(), as: UTF8.self)
    }

    // MARK: - Its names

    /// The URL of an empty schema, by socket.
    package func url(
        _ parameters: String = "", user: String = "postgres", database: String = "postgres",
        schema: String = PostgreSQLServer.newSchema()
    ) -> String {
        "postgres://\(user)@/\(database)?host=\(folder)&port=\(port)&schema=\(schema)\(parameters)"
    }

    package static func newSchema() -> String {
        "s" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
    }

    /// The authority of its certificate, which is for `localhost`.
    package var authority: String { folder + "/authority.pem" }

    /// Runs statements as the superuser; what they give, without headings.
    @discardableResult
    package func psql(
        _ statements: String = "", file: URL? = nil, user: String = "postgres", database: String = "postgres"
    ) throws -> String {
        let ran = try Ran(
            ["/usr/bin/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
                + (file.map { ["-f", $0.path()] } ?? [])
                + ["-h", folder, "-p", "\(port)", "-U", user, database],
            environment: ["PATH": "/usr/bin:/bin"], input: Data(statements.utf8))
        guard ran.status == 0 else { throw Failure(text: ran.text) }
        return String(decoding: ran.output, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    package struct Failure: Error { package let text: String }

    // MARK: - PgBouncer

    /// Debian's PgBouncer before the shared one, in transaction mode, with fewer servers than there are clients.
    package static let pooler: Pooler = {
        do { return try Pooler(shared) } catch { fatalError("no PgBouncer for the tests: \(error)") }
    }()

    package final class Pooler: @unchecked Sendable {
        package let port: Int
        private let server: PostgreSQLServer
        private let process: ChildProcess

        init(_ server: PostgreSQLServer) throws {
            self.server = server
            port = try PostgreSQLServer.freePort()
            let folder = server.folder
            try Data(
                """
                [databases]
                * = host=\(folder) port=\(server.port)
                [pgbouncer]
                listen_addr =
                listen_port = \(port)
                unix_socket_dir = \(folder)
                auth_type = trust
                auth_file = \(folder)/users.txt
                pool_mode = transaction
                default_pool_size = 8
                max_client_conn = 500
                logfile = \(folder)/pgbouncer.log
                pidfile = \(folder)/pgbouncer.pid
                """.utf8
            ).write(to: URL(filePath: folder + "/pgbouncer.ini"))
            try Data("\"postgres\" \"\"\n".utf8).write(to: URL(filePath: folder + "/users.txt"))
            let command = PostgreSQLServer.unprivileged(["/usr/sbin/pgbouncer", folder + "/pgbouncer.ini"])
            process = try ChildProcess(URL(filePath: command[0]), Array(command.dropFirst()))
            for _ in 0..<300 {
                let ran = try Ran(
                    "/usr/bin/psql", "-X", "-q", "-h", folder, "-p", "\(port)", "-U", "postgres", "-c", "SELECT 1",
                    environment: ["PATH": "/usr/bin:/bin"])
                if ran.status == 0 { return }
                usleep(20_000)
            }
            throw CocoaError(.executableNotLoadable)
        }

        package func url(schema: String = PostgreSQLServer.newSchema()) -> String {
            "postgres://postgres@/postgres?host=\(server.folder)&port=\(port)&schema=\(schema)"
        }
    }

    // MARK: -

    @discardableResult
    package func run(_ program: String, _ arguments: String...) throws -> Ran {
        let ran = try Ran(
            Self.unprivileged(["\(Self.binaries)/\(program)"] + arguments), environment: ["PATH": "/usr/bin:/bin"])
        guard ran.status == 0 else { throw Failure(text: ran.text) }
        return ran
    }

    private func makeCertificate() throws {
        let script = """
            cd "$1" && umask 077
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout authority.key -out authority.pem \
            -days 2 -subj '/CN=test authority' 2>/dev/null
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.csr \
            -subj '/CN=localhost' 2>/dev/null
            printf 'subjectAltName=DNS:localhost' >extensions
            openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -out server.pem \
            -days 2 -extfile extensions 2>/dev/null
            chmod 644 authority.pem
            """
        let ran = try Ran(
            Self.unprivileged(["/bin/sh", "-c", script, "sh", folder]), environment: ["PATH": "/usr/bin:/bin"])
        guard ran.status == 0 else { throw Failure(text: ran.text) }
    }

    /// A port of loopback that nobody has just now.
    package static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        guard bound else { throw POSIXError(.EADDRINUSE) }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
