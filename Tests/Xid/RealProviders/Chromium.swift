import CurlHTTP
import Foundation
import JOSE
import TestSupport

/// Debian's Chromium without a window, by the few commands of WebDriver (W3C) that a person's eyes and hands need.
///
/// It runs in a scope and ends with it, with all the processes that it has started.
final class Chromium: @unchecked Sendable {
    struct Refused: Error, CustomStringConvertible {
        let description: String
    }

    private let driver: ChildProcess
    private let folder: URL
    private var session = ""

    static func run<Result>(_ body: (Chromium) async throws -> Result) async throws -> Result {
        let chromium = try Chromium()
        defer { chromium.end() }
        return try await body(chromium)
    }

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "chromium-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let log = folder.appending(path: "driver.log")
        // A session of its own, so that it can be ended as a whole.
        driver = try ChildProcess(
            URL(filePath: "/usr/bin/setsid"), ["/usr/bin/chromedriver", "--port=0"],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path(), "TMPDIR": folder.path(), "LANG": "C.UTF-8"],
            output: log)
        do {
            try open(log)
        } catch {
            end()
            throw error
        }
    }

    private func open(_ log: URL) throws {
        let port = try Self.wait(seconds: 30) { () -> String? in
            let text = try String(contentsOf: log, encoding: .utf8)
            return text.firstMatch(of: /started successfully on port (\d+)/).map { String($0.1) }
        }
        session = "http://127.0.0.1:\(port)/session"
        var arguments: [JSON] = [
            "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
            "--disable-background-networking", "--lang=en", .string("--user-data-dir=\(folder.path())/profile"),
        ]
        if geteuid() == 0 { arguments.append("--no-sandbox") }
        let options: JSON = .object(["binary": "/usr/bin/chromium", "args": .array(arguments)])
        let opened = try ask(
            .post, "",
            .object([
                "capabilities": .object([
                    "alwaysMatch": .object(["browserName": "chrome", "goog:chromeOptions": options])
                ])
            ]))
        session += "/\(opened["sessionId"]?.string ?? "")"
    }

    private func end() {
        _ = try? ask(.delete, "")
        Foundation.kill(-driver.pid, SIGKILL)
        driver.wait()
        try? FileManager.default.removeItem(at: folder)
    }

    private func ask(_ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil) throws -> JSON {
        var request = HTTPRequest(
            method, try HTTPURL(session + path, allowing: .loopback),
            headers: [.init("content-type", "application/json")], body: body?.serialized())
        request.limits.total = .seconds(60)
        request.limits.bodyBytes = 4_194_304
        let answer = try HTTPClient(userAgent: "tests").send(request)
        let json = try JSON(parsing: answer.body, limits: .init(bytes: 4_194_304))
        guard answer.status == 200, let value = json["value"] else {
            throw Refused(description: "\(path): \(json["value"]?["error"]?.string ?? "no answer")")
        }
        return value
    }

    func go(to url: URL) throws {
        _ = try ask(.post, "/url", .object(["url": .string(url.absoluteString)]))
    }

    /// Where it is, without the query, in which there may be codes.
    var place: String {
        get throws { String(try ask(.get, "/url").string?.prefix { $0 != "?" } ?? "") }
    }

    func text() throws -> String {
        let script: JSON = .object(["script": "return document.body.innerText", "args": .array([])])
        return try ask(.post, "/execute/sync", script).string ?? ""
    }

    /// Whether there is such an element, and it can be seen and used.
    func sees(_ selector: String) -> Bool {
        guard let element = try? element(selector) else { return false }
        let isShown = (try? ask(.get, "/element/\(element)/displayed"))?.bool ?? false
        return isShown && ((try? ask(.get, "/element/\(element)/enabled"))?.bool ?? false)
    }

    func isTicked(_ selector: String) throws -> Bool {
        try ask(.get, "/element/\(element(selector))/selected").bool ?? false
    }

    /// As a finger does: what is covered cannot be touched.
    func touch(_ selector: String) throws {
        _ = try ask(.post, "/element/\(element(selector))/click", .object([:]))
    }

    func type(_ text: String, into selector: String) throws {
        let element = try element(selector)
        _ = try ask(.post, "/element/\(element)/clear", .object([:]))
        _ = try ask(.post, "/element/\(element)/value", .object(["text": .string(text)]))
    }

    private func element(_ selector: String) throws -> String {
        let found = try ask(
            .post, "/element", .object(["using": "css selector", "value": .string(selector)]))
        return found.object?.members.first?.value.string ?? ""
    }

    /// Looks again and again.
    static func wait<Value>(seconds: Double = 30, for value: () throws -> Value?) throws -> Value {
        let deadline = Date(timeIntervalSinceNow: seconds)
        repeat {
            if let value = try value() { return value }
            usleep(50_000)
        } while Date() < deadline
        throw Refused(description: "waited for nothing")
    }

    /// A person at pages that lead somewhere: looks, does the next thing that there is to do, until the browser is at an address
    /// that begins so. A page may change under the finger; then the person looks again.
    func walk(to end: String, _ steps: [Step]) throws {
        do {
            _ = try Self.wait(seconds: 60) { () -> Bool? in
                if let place = try? place, place.hasPrefix(end) { return true }
                if let step = steps.first(where: { sees($0.selector) }) { try? step.act(self) }
                return nil
            }
        } catch {
            throw Refused(description: "at \(try place): \(try text().prefix(400))")
        }
    }

    /// What a person does when there is something to do it with.
    struct Step: Sendable {
        let selector: String
        let act: @Sendable (Chromium) throws -> Void

        init(when selector: String, act: @escaping @Sendable (Chromium) throws -> Void) {
            self.selector = selector
            self.act = act
        }
    }
}
