import Foundation
import TestSupport
import Testing

/// The description of the HTTP contract says what the code does: no route, no method and no code more or less.
@Suite struct OpenAPITests {
    private static func source(_ path: String) throws -> String {
        try String(contentsOf: Programs.packageRoot.appending(path: "Sources/\(path)"), encoding: .utf8)
    }

    /// The paths as `Route` has them.
    private static func paths() throws -> Set<String> {
        let text = try source("AuthFunction/Endpoint/Route.swift")
        let fixed = text.matches(of: /\("(\/[^"]*)", \.\w+\)/).map { String($0.1) }
        let prefix = try #require(text.firstMatch(of: /sessionPrefix = "([^"]+)"/)).1
        return Set(fixed + ["\(prefix){id}"])
    }

    /// A link gives what its target takes, from where its source has it.
    @Test func everyLinkLeadsToAnOperationAndTakesWhatIsThere() throws {
        let document = try OpenAPIDocument()
        let operations = Dictionary(
            document.operations.values.flatMap(\.values).map { ($0["operationId"] as? String ?? "", $0) }
        ) { first, _ in first }
        #expect(document.links.count >= 39)
        for link in document.links {
            let name = "\(link.operation) \(link.status) \(link.name)"
            let source = try #require(operations[link.operation])
            let target = try #require(operations[link.value["operationId"] as? String ?? ""], "\(name)")
            let response = (source["responses"] as? [String: [String: Any]])?[link.status]
            let parameters = link.value["parameters"] as? [String: String] ?? [:]
            let body = link.value["requestBody"] as? [String: String] ?? [:]
            let bodyTaken = document.schema(of: target["requestBody"])
            for member in body.keys {
                #expect(document.resolve(["\(member)"], in: bodyTaken) != nil, "\(name): \(member)")
            }
            for parameter in parameters.keys where parameter != "header.Authorization" {
                let taken = (target["parameters"] as? [[String: Any]] ?? []).contains {
                    "path.\($0["name"] ?? "")" == parameter
                }
                #expect(taken, "\(name): \(parameter)")
            }
            for expression in Array(parameters.values) + Array(body.values) {
                let match = try #require(
                    expression.firstMatch(of: /^(?:Bearer \{)?\$(request|response)\.body#([\w\/]+)\}?$/),
                    "\(expression)")
                let place = document.schema(of: match.1 == "response" ? response : source["requestBody"])
                let path = match.2.split(separator: "/").map(String.init)
                #expect(document.resolve(path, in: place) != nil, "\(name): \(expression)")
            }
        }
    }

    @Test func theDescriptionIsOpenAPIByItsOwnValidator() throws {
        let validator = try OpenAPIDocument.tools().appending(path: "openapi-spec-validator").path()
        let ran = try Ran(validator, OpenAPIDocument.file.path())
        #expect(ran.status == 0, "\(ran.text)")
        #expect(try OpenAPIDocument()["openapi"] as? String == "3.1.1")
    }

    @Test func everyRouteIsDescribedAndNoOther() throws {
        #expect(try Set(OpenAPIDocument().operations.keys) == Self.paths())
    }

    @Test func theMethodsOfEachPathAreThoseThatTheProgramAllows() throws {
        let site = try FunctionSite()
        for (path, operations) in try OpenAPIDocument().operations {
            let concrete = path.replacing("{id}", with: "0192b96b-7800-7c00-8000-000000000002")
            let answer = try site.send(FunctionSite.event("TRACE", concrete, body: [:]))
            #expect(answer.status == 405)
            // HEAD is GET without the body, and said so once.
            let allowed = (answer.headers["allow"] ?? "").split(separator: ", ").map(String.init).filter {
                $0 != "HEAD"
            }
            #expect(Set(operations.keys) == Set(allowed), "\(path)")
        }
    }

    @Test func everyCodeOfAProblemIsDescribedAndNoOther() throws {
        let text = try Self.source("AuthFunction/Endpoint/Problem.swift")
        let codes = Set(text.matches(of: /status: (\d+), code: "([a-z_]+)"/).map { "\($0.1) \($0.2)" })
        #expect(codes.count > 10)
        let document = try OpenAPIDocument()
        let enumerated = document["components", "schemas", "Problem", "properties", "code", "enum"] as? [String]
        #expect(Set(enumerated ?? []) == Set(codes.map { String($0.split(separator: " ")[1]) }))

        // Each is said where it is answered, with its status.
        let responses = document["components", "responses"] as? [String: [String: Any]] ?? [:]
        var described: Set<String> = []
        for response in responses.values {
            let content = response["content"] as? [String: [String: Any]]
            guard let schema = content?["application/problem+json"]?["schema"] as? [String: Any] else { continue }
            var properties = schema["properties"] as? [String: [String: Any]]
            if properties == nil, let name = (schema["$ref"] as? String)?.split(separator: "/").last {
                properties = document["components", "schemas", String(name), "properties"] as? [String: [String: Any]]
            }
            let status = properties?["status"]?["const"] as? Int ?? 0
            let code = properties?["code"] ?? [:]
            for code in code["enum"] as? [String] ?? [code["const"] as? String ?? ""] {
                described.insert("\(status) \(code)")
            }
        }
        #expect(described == codes)
    }

    @Test func everyStatusOfAnOperationIsDescribedByTheResponseOfThatStatus() throws {
        let document = try OpenAPIDocument()
        for (path, operations) in document.operations {
            for (method, operation) in operations {
                for (status, response) in operation["responses"] as? [String: [String: Any]] ?? [:] {
                    guard let name = (response["$ref"] as? String)?.split(separator: "/").last, name != "Done" else {
                        continue
                    }
                    let content =
                        document["components", "responses", String(name), "content"] as? [String: [String: Any]]
                    let schema = content?["application/problem+json"]?["schema"] as? [String: Any]
                    let properties =
                        schema?["properties"] as? [String: [String: Any]]
                        ?? document["components", "schemas", String(name), "properties"] as? [String: [String: Any]]
                    #expect(properties?["status"]?["const"] as? Int == Int(status), "\(method) \(path)")
                }
            }
        }
    }
}
