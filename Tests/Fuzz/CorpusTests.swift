import Foundation
import Testing

/// What fuzzing starts from, and what it found once: every input of the corpus is read again by every target.
@Suite struct CorpusTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    private static func names(in folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
    }

    @Test func `Every target has a corpus, and every corpus a target`() throws {
        #expect(try Set(Self.names(in: Self.folder)) == Set(FuzzTarget.all.map(\.name)))
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func `The rules of a target hold for its corpus, and something in it is what the target is about`(
        _ name: String
    ) throws {
        let target = try #require(FuzzTarget.named(name))
        let folder = Self.folder.appending(path: name)
        var interesting = 0
        for file in try Self.names(in: folder) {
            let input = [UInt8](try Data(contentsOf: folder.appending(path: file)))
            do {
                if try target.check(input) == .interesting { interesting += 1 }
            } catch {
                Issue.record("\(name)/\(file): \(error)")
            }
        }
        #expect(interesting > 0)
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func `A target that is given the corpus of another breaks no rule either`(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        for other in try Self.names(in: Self.folder) where other != name {
            let folder = Self.folder.appending(path: other)
            for file in try Self.names(in: folder) {
                let input = [UInt8](try Data(contentsOf: folder.appending(path: file)))
                guard input.count <= target.maximumSize else { continue }
                do {
                    _ = try target.check(input)
                } catch {
                    Issue.record("\(other)/\(file): \(error)")
                }
            }
        }
    }
}
