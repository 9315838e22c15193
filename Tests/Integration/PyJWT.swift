import Foundation
import TestSupport

/// PyJWT (Debian's python3-jwt): a verifier that others wrote, held against ours and against the simulator.
enum PyJWT {
    static let python = "/usr/bin/python3"

    static let isThere: Bool = {
        let process = try? ChildProcess(URL(filePath: python), ["-c", "import jwt, cryptography"])
        return process?.wait() == 0
    }()

    /// What PyJWT makes of each token, by keys that it fetches itself: "ok", or the name of its exception.
    static func verdicts(on tokens: [String], keysAt url: String, audience: String) throws -> [String] {
        let script = """
            import json, sys, jwt
            question = json.load(open(sys.argv[1]))
            client = jwt.PyJWKClient(question["url"])
            def verdict(token):
                try:
                    key = client.get_signing_key_from_jwt(token).key
                    jwt.decode(token, key, algorithms=["RS256"], audience=question["audience"],
                               issuer="https://appleid.apple.com", options={"require": ["exp", "iat", "sub"]})
                    return "ok"
                except Exception as error:
                    return type(error).__name__
            print(json.dumps([verdict(token) for token in question["tokens"]]))
            """
        let folder = FileManager.default.temporaryDirectory.appending(path: "pyjwt-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let question = folder.appending(path: "question.json")
        try JSONSerialization.data(withJSONObject: ["url": url, "audience": audience, "tokens": tokens])
            .write(to: question)
        let answer = folder.appending(path: "answer.json")
        let process = try ChildProcess(
            URL(filePath: python), ["-c", script, question.path()], environment: ["LC_ALL": "C.UTF-8"], output: answer)
        process.wait()
        return try JSONDecoder().decode([String].self, from: Data(contentsOf: answer))
    }
}
