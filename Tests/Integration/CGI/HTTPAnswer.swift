import Foundation
import TestSupport

/// What came back over HTTP.
struct HTTPAnswer {
    var status = 0
    /// Names in lower case.
    var headers: [(name: String, value: String)] = []
    var body = Data()
    /// Seconds from the start to the last byte.
    var seconds = 0.0
    /// curl's own: zero when the exchange was whole.
    var exitStatus: Int32 = 0

    subscript(field name: String) -> String? {
        let values = headers.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    var json: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }
    var code: String? { json["code"] as? String }
    var text: String { String(decoding: body, as: UTF8.self) }

    static func byCurl(
        _ method: String, _ url: String, headers: [String], body: Data?, options: [String] = []
    ) throws -> HTTPAnswer {
        let folder = FileManager.default.temporaryDirectory.appending(path: "curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = { (name: String) in folder.appending(path: name) }
        var command = [
            "/usr/bin/curl", "--silent", "--show-error", "--path-as-is", "--max-time", "20", "--noproxy", "*",
            "--dump-header", file("head").path(), "--output", file("body").path(), "--write-out", "%{time_total}",
        ]
        command += method == "HEAD" ? ["--head"] : ["--request", method]
        command += headers.flatMap { ["--header", $0] }
        if let body {
            try body.write(to: file("request"))
            command += ["--data-binary", "@\(file("request").path())"]
        }
        let ran = try Ran(command + options + [url])
        var answer = HTTPAnswer(head: (try? String(contentsOf: file("head"), encoding: .utf8)) ?? "")
        answer.body = (try? Data(contentsOf: file("body"))) ?? Data()
        // With --head curl writes the header to the output as well.
        if method == "HEAD", String(decoding: answer.body, as: UTF8.self).hasSuffix("\r\n\r\n") { answer.body = Data() }
        answer.seconds = Double(String(decoding: ran.output, as: UTF8.self)) ?? 0
        answer.exitStatus = ran.status
        return answer
    }

    /// Of several, as after 100 Continue, the last head.
    private init(head: String) {
        let heads = head.replacing("\r\n", with: "\n").split(separator: "\n\n")
        let lines = heads.last?.split(separator: "\n") ?? []
        status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers.append((parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces)))
        }
    }

    /// Of the bytes of a connection that was read to its end.
    init(raw: Data) {
        let end = raw.range(of: Data("\r\n\r\n".utf8))
        self.init(head: String(decoding: raw[..<(end?.upperBound ?? raw.endIndex)], as: UTF8.self))
        body = end.map { raw[$0.upperBound...] } ?? Data()
    }
}

/// Connections to this machine.
enum Loopback {
    static func freePort() -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(descriptor, $0, length)
                getsockname(descriptor, $0, &length)
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    static func isOpen(_ port: Int) -> Bool { connection(to: port) != nil }

    /// Whether anybody listens on a socket of the file system.
    static func isOpen(socket path: String) -> Bool {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    static func connection(to port: Int) -> Connection? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var timeout = timeval(tv_sec: 15, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = address(port: UInt16(port))
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            return nil
        }
        return Connection(descriptor: descriptor)
    }

    /// Sends pieces as they are, with a pause between two; the answer, read to the end of the connection.
    static func exchange(_ port: Int, _ pieces: [Data], pause: UInt32 = 0) throws -> HTTPAnswer {
        guard let connection = connection(to: port) else { throw CocoaError(.fileReadUnknown) }
        for piece in pieces {
            connection.send(piece)
            if pause > 0 { usleep(pause) }
        }
        return HTTPAnswer(raw: connection.readToEnd())
    }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = port.bigEndian
        return address
    }
}

/// A connection to a server. Writing to one that is closed is no signal here, and what was answered before is still read.
final class Connection {
    private let file: FileHandle

    init(descriptor: Int32) {
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    func send(_ data: Data) {
        var rest = data
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(file.fileDescriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func readToEnd() -> Data {
        (try? file.readToEnd()) ?? Data()
    }

    private func read() -> Data {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(file.fileDescriptor, &bytes, bytes.count, 0)
        return Data(bytes.prefix(max(0, count)))
    }

    /// Empty at the end; nil when nothing came in time.
    func receive(within seconds: Double) -> Data? {
        var waiting = pollfd(fd: file.fileDescriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, Int32(seconds * 1000)) == 1 else { return nil }
        return read()
    }

    /// Says that nothing more will be sent.
    func finish() {
        shutdown(file.fileDescriptor, Int32(SHUT_WR))
    }

    func close() {
        try? file.close()
    }
}
