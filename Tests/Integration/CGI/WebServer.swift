import Foundation
import TestSupport
import Testing

/// A web server of Debian's on loopback, with the configuration files that `deploy/` ships, in front of one site.
///
/// It runs in a scope and ends with it: `try WebServer.run(.nginx, site) { server in … }`. Everything that was started is
/// stopped by its process group, the processes of fcgiwrap among it, which outlive their parent otherwise.
final class WebServer {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case apacheCGID = "Apache with mod_cgid"
        case apacheCGI = "Apache with mod_cgi"
        case nginx = "nginx with fcgiwrap"
        case lighttpd
        case container = "the container's lighttpd"

        var testDescription: String { rawValue }

        /// Those that `deploy/cgi/` is for.
        static let shipped: [Kind] = [.apacheCGID, .apacheCGI, .nginx, .lighttpd]
        var isApache: Bool { self == .apacheCGID || self == .apacheCGI }
        var isLighttpd: Bool { self == .lighttpd || self == .container }
    }

    enum Variant: String, CaseIterable {
        case plain, tls
    }

    let kind: Kind
    let port: Int
    let site: CGISite
    let configuration: ServerConfiguration
    private var processes: [Process] = []

    /// - Parameters:
    ///   - program: what is run in place of the function, such as a probe.
    ///   - mountPoint: the prefix under which the function is mounted; `/` as shipped.
    static func run(
        _ kind: Kind, _ site: CGISite, variant: Variant = .plain, program: URL? = nil, mountPoint: String = "/",
        _ body: (WebServer) throws -> Void
    ) throws {
        try site.giveToServer()
        // Another process may take the port between its choice and its use.
        var logs: [String] = []
        for _ in 1...3 {
            let server = try WebServer(kind, variant, site, program: program, mountPoint: mountPoint)
            defer { server.stop() }
            try server.start()
            guard server.isAnswering() else {
                logs.append(server.log())
                continue
            }
            try body(server)
            return
        }
        Issue.record("\(kind.rawValue) does not start: \(logs)")
    }

    init(_ kind: Kind, _ variant: Variant, _ site: CGISite, program: URL? = nil, mountPoint: String = "/") throws {
        self.kind = kind
        self.site = site
        port = Loopback.freePort()
        configuration = try ServerConfiguration(
            kind, variant, site: site, port: port, program: program ?? Installed.shared.program, mountPoint: mountPoint)
    }

    private func start() throws {
        let folder = configuration.folder
        switch kind {
        case .apacheCGID, .apacheCGI:
            try launch(configuration.command, ["APACHE_LOG_DIR": folder.path()])
        case .nginx:
            let socket = configuration.fastCGISocket
            try launch(Self.asServerUser(["/usr/sbin/fcgiwrap", "-f", "-c", "8", "-s", "unix:\(socket)"]))
            try launch(configuration.command)
        case .lighttpd:
            try launch(configuration.command)
        case .container:
            try launch(
                Self.asServerUser(configuration.command),
                site.environment.merging(["PORT": String(port), "PATH": "/usr/sbin:/usr/bin:/bin"]) { $1 })
        }
    }

    static func asServerUser(_ command: [String]) -> [String] {
        guard let user = ServerUser.current else { return command }
        return ["/usr/bin/setpriv", "--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups"] + command
    }

    private func launch(_ command: [String], _ environment: [String: String] = [:]) throws {
        let process = Process()
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        // As a platform does; and the server's user may not enter this one, where root's home is root's alone.
        process.currentDirectoryURL = URL(filePath: "/")
        let log = configuration.folder.appending(path: "standard-error-\(processes.count).log")
        try Data().write(to: log)
        process.standardOutput = try FileHandle(forWritingTo: log)
        process.standardError = try FileHandle(forWritingTo: log)
        try process.runUnblocked()
        processes.append(process)
    }

    private func isAnswering() -> Bool {
        for _ in 1...250 {
            if processes.contains(where: { !$0.isRunning }) { return false }
            let isBehindOpen = kind != .nginx || Loopback.isOpen(socket: configuration.fastCGISocket)
            if isBehindOpen, Loopback.isOpen(port) { return true }
            usleep(20_000)
        }
        return false
    }

    private func stop() {
        for process in processes.reversed() {
            process.terminate()
            _ = process.ends(within: 3)
            // A process that Foundation starts leads a group of its own; and Foundation sees its end only when all who
            // inherited from it have ended.
            kill(-process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// Ends the first process by SIGTERM, as a platform does; whether it ended in time.
    func terminate(within seconds: Double) -> Bool {
        processes[0].terminate()
        return processes[0].ends(within: seconds)
    }

    /// All that server and function have written to logs.
    func log() -> String {
        let files =
            (try? FileManager.default.contentsOfDirectory(at: configuration.folder, includingPropertiesForKeys: nil))
            ?? []
        return files.filter { $0.pathExtension == "log" }.compactMap { try? String(contentsOf: $0, encoding: .utf8) }
            .joined(separator: "\n")
    }

    /// A request by curl.
    func send(
        _ method: String = "GET", _ path: String, headers: [String] = [], body: Data? = nil, options: [String] = []
    ) throws -> HTTPAnswer {
        try HTTPAnswer.byCurl(
            method, "http://127.0.0.1:\(port)\(path)", headers: headers, body: body, options: options)
    }

    /// A sign-in that is good, unless changed.
    func signIn(_ path: String = "/auth/apple", headers: [String] = [], body: Data? = nil, options: [String] = [])
        throws
        -> HTTPAnswer
    {
        try send(
            "POST", path, headers: ["Content-Type: application/json"] + headers,
            body: body ?? Installed.shared.signInBody(), options: options)
    }
}
