import Foundation

/// DynamoDB on this machine: moto, behind a door that verifies every signature and fails on demand (`DynamoDBServer.py`).
///
/// One serves the whole process, as it takes seconds to start; who wants it for themselves starts their own.
package final class DynamoDBServer: @unchecked Sendable {
    /// What goes wrong, as often as `times` says.
    package struct Fault: Encodable {
        package enum Kind: String, Encodable {
            /// Answers with an error of AWS's.
            case refuse
            /// Answers late.
            case delay
            /// Answers with something else.
            case say
            /// The connection ends, and nothing was done.
            case dropBefore = "drop-before"
            /// The connection ends, and it was done.
            case dropAfter = "drop-after"
        }

        package var on: String?
        package var `do`: Kind
        package var times = 1
        package var status = 400
        package var type = ""
        package var reasons: [String] = []
        package var body = ""
        package var seconds = 0.0

        package init(
            _ kind: Kind, on operation: String? = nil, times: Int = 1, _ change: (inout Fault) -> Void = { _ in }
        ) {
            self.do = kind
            on = operation
            self.times = times
            change(&self)
        }
    }

    package struct Request: Decodable {
        package let operation: String
        package let refusal: String?
        package let headers: [String: String]
        package let body: String
    }

    package struct Log: Decodable {
        package let log: [Request]
        /// The permissions that the requests needed.
        package let actions: [String]
    }

    package let port: Int
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let lock = NSLock()

    /// Where Tests/tools.sh puts it.
    private static let python = Programs.packageRoot.appending(path: ".build/tools/bin/python").path()

    package static let isInstalled = FileManager.default.fileExists(
        atPath: Programs.packageRoot.appending(path: ".build/tools/pins").path())

    /// The example of AWS's documentation.
    package static let keyID = "AKIDEXAMPLE"
    package static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

    /// That of the process.
    package static let shared: DynamoDBServer = {
        do { return try DynamoDBServer() } catch { fatalError("moto does not start: \(error)") }
    }()

    /// Its credentials are put into the environment, where the stores of this process and of those that it starts find them.
    package init() throws {
        setenv("AWS_ACCESS_KEY_ID", Self.keyID, 1)
        setenv("AWS_SECRET_ACCESS_KEY", Self.secret, 1)
        process.executableURL = URL(filePath: Self.python)
        process.arguments = [URL(filePath: #filePath).deletingLastPathComponent().path() + "/DynamoDBServer.py"]
        process.standardInput = input
        process.standardOutput = output
        try process.runUnblocked()
        struct Started: Decodable { let port: Int }
        port = try JSONDecoder().decode(Started.self, from: Self.line(of: output)).port
    }

    package func stop() {
        try? input.fileHandleForWriting.close()
        process.terminate()
        process.waitUntilExit()
    }

    /// Runs `body` with the URL of a table as `deploy/dynamodb/table.json` makes it, and removes it.
    package func withTable(expires: Bool = true, _ body: (String) throws -> Void) throws {
        let name = "test-\(UUID().uuidString.lowercased())"
        let file = Programs.packageRoot.appending(path: "deploy/dynamodb/table.json")
        var definition = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
        definition["TableName"] = name
        let answer = try tell(["create": definition, "expires": expires])
        guard answer["status"] as? Int == 200 else { throw CocoaError(.fileWriteUnknown, userInfo: answer) }
        defer { _ = try? tell(["delete": name]) }
        try body(url(table: name))
    }

    package func url(table: String) -> String {
        "dynamodb:\(table)?region=eu-west-1&endpoint=http://127.0.0.1:\(port)"
    }

    package func fail(_ faults: [Fault]) throws {
        let list = try JSONSerialization.jsonObject(with: JSONEncoder().encode(faults))
        _ = try tell(["faults": list])
    }

    /// How many faults have not come about yet.
    package func faultsLeft() throws -> Int { try tell(["left": true])["left"] as? Int ?? -1 }

    /// All that came since this was asked last.
    package func log() throws -> Log {
        try JSONDecoder().decode(Log.self, from: JSONSerialization.data(withJSONObject: tell(["log": true])))
    }

    /// The items of a table, as text.
    package func items(of table: String) throws -> [String] { try tell(["items": table])["items"] as? [String] ?? [] }

    package func listen(_ listens: Bool) throws { _ = try tell(["listen": listens]) }

    package func know(key: String, secret: String, token: String?, isExpired: Bool = false) throws {
        _ = try tell(["keys": [key: ["secret": secret, "token": token as Any? ?? NSNull(), "expired": isExpired]]])
    }

    /// What an operator asks with the AWS CLI; the answer as text.
    @discardableResult
    package func ask(_ operation: String, _ body: [String: Any]) throws -> String {
        let answer = try tell(["ask": operation, "body": body])
        guard answer["status"] as? Int == 200 else { throw CocoaError(.fileWriteUnknown, userInfo: answer) }
        return answer["body"] as? String ?? ""
    }

    /// What the endpoints for credentials want to see, and what they answer.
    package func endpoint(wants headers: [String: String], says body: [String: String]) throws {
        _ = try tell(["endpoint": ["headers": headers, "body": body]])
    }

    /// The signature of a request by botocore.
    package func signature(method: String, headers: [String: String], body: String) throws -> String? {
        try tell(["verify": ["method": method, "headers": headers, "body": body]])["signature"] as? String
    }

    private func tell(_ command: [String: Any]) throws -> [String: Any] {
        lock.lock()
        defer { lock.unlock() }
        try input.fileHandleForWriting.write(
            contentsOf: JSONSerialization.data(withJSONObject: command) + Data("\n".utf8))
        return try JSONSerialization.jsonObject(with: Self.line(of: output)) as? [String: Any] ?? [:]
    }

    private static func line(of pipe: Pipe) throws -> Data {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = pipe.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CocoaError(.fileReadUnknown) }
            line.append(more)
        }
        return line
    }
}
