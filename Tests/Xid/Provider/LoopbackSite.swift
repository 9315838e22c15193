import Foundation

/// A provider on a real socket of 127.0.0.1: one thread a connection, one request each.
final class LoopbackSite: @unchecked Sendable {
    let port: UInt16
    private let descriptor: Int32
    private let provider: OpenIDProvider

    init(_ provider: OpenIDProvider) throws {
        self.provider = provider
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        self.descriptor = descriptor
        guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        let port = port
        provider.locked { provider.issuer = "http://127.0.0.1:\(port)" }
        Thread.detachNewThread {
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0 else {
                    close(descriptor)
                    return
                }
                Thread.detachNewThread { Self.serve(client, provider) }
            }
        }
    }

    /// The thread that waits at the socket closes it: its number may be another's as soon as it is closed.
    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private static func serve(_ client: Int32, _ provider: OpenIDProvider) {
        defer { close(client) }
        var time = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var received: [UInt8] = []
        while true {
            var chunk = [UInt8](repeating: 0, count: 8192)
            let count = read(client, &chunk, chunk.count)
            guard count > 0 else { return }
            received += chunk[..<count]
            guard let request = parse(received) else { continue }
            let response = provider.answer(request)
            var head = "HTTP/1.1 \(response.status) Said\r\nContent-Length: \(response.body.utf8.count)\r\n"
            for (name, value) in response.headers { head += "\(name): \(value)\r\n" }
            let bytes = Array((head + "Connection: close\r\n\r\n" + response.body).utf8)
            var rest = bytes[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard sent > 0 else { return }
                rest = rest.dropFirst(sent)
            }
            return
        }
    }

    /// Nil while it is not whole.
    private static func parse(_ bytes: [UInt8]) -> OpenIDProvider.Request? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        let start = lines[0].components(separatedBy: " ")
        guard start.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        let body = String(text[end.upperBound...])
        guard body.utf8.count >= Int(headers["content-length"] ?? "0") ?? 0 else { return nil }
        return OpenIDProvider.Request(method: start[0], target: start[1], headers: headers, body: body)
    }
}

extension OpenIDProvider.Request {
    init(method: String, target: String, headers: [String: String] = [:], body: String = "") {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        self.init(
            method: method, path: parts[0], query: Self.fields(parts.count == 2 ? parts[1] : ""), headers: headers,
            body: body, form: Self.fields(body))
    }

    private static func fields(_ text: String) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let decoded = parts.map { $0.replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? "" }
            fields[decoded[0]] = decoded.count == 2 ? decoded[1] : ""
        }
        return fields
    }
}
