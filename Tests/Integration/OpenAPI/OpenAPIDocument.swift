import Foundation
import TestSupport

/// `deploy/openapi.yaml`, read by Python (YAML is none of Foundation's), and the tools that are held against it.
struct OpenAPIDocument {
    static let file = Programs.packageRoot.appending(path: "deploy/openapi.yaml")

    let json: [String: Any]

    init() throws {
        let script = "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)"
        let ran = try Ran("/usr/bin/python3", "-c", script, Self.file.path())
        guard let json = try JSONSerialization.jsonObject(with: ran.output) as? [String: Any] else {
            throw CocoaError(.fileReadCorruptFile)
        }
        self.json = json
    }

    /// The value at members inside members; nil when one of them is not there.
    subscript(_ members: String...) -> Any? {
        members.reduce(json as Any?) { value, member in (value as? [String: Any])?[member] }
    }

    /// The operations of each path, by method in capitals.
    var operations: [String: [String: [String: Any]]] {
        let paths = self["paths"] as? [String: [String: Any]] ?? [:]
        return paths.mapValues { item in
            Dictionary(uniqueKeysWithValues: item.map { ($0.key.uppercased(), $0.value as? [String: Any] ?? [:]) })
        }
    }

    /// Every link, with the operation and the status that it begins at.
    var links: [(operation: String, status: String, name: String, value: [String: Any])] {
        operations.values.flatMap(\.values).flatMap { operation in
            (operation["responses"] as? [String: [String: Any]] ?? [:]).flatMap { status, response in
                (response["links"] as? [String: [String: Any]] ?? [:]).map { name, value in
                    (operation["operationId"] as? String ?? "", status, name, value)
                }
            }
        }
    }

    /// The schema of a request's or a response's JSON.
    func schema(of message: Any?) -> [String: Any]? {
        let content = (message as? [String: Any])?["content"] as? [String: [String: Any]]
        return content?["application/json"]?["schema"] as? [String: Any]
    }

    /// What a schema says of the value that a JSON Pointer leads to; nil when it knows none.
    func resolve(_ path: some Collection<String>, in schema: [String: Any]?) -> [String: Any]? {
        var schema = schema
        if let name = (schema?["$ref"] as? String)?.split(separator: "/").last {
            schema = self["components", "schemas", String(name)] as? [String: Any]
        }
        guard let member = path.first else { return schema }
        let inner =
            Int(member) != nil ? schema?["items"] : (schema?["properties"] as? [String: Any])?[member]
        return inner.flatMap { resolve(path.dropFirst(), in: $0 as? [String: Any]) }
    }

    /// The folder of the Python tools, installed if need be.
    static func tools() throws -> URL {
        let script = Programs.packageRoot.appending(path: "Tests/Tools/tools.sh").path()
        let ran = try Ran(script, environment: ProcessInfo.processInfo.environment)
        guard ran.status == 0 else { throw ToolsMissing(reason: ran.text) }
        let folder = String(decoding: ran.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return URL(filePath: folder)
    }

    struct ToolsMissing: Error {
        let reason: String
    }
}
