import AuthFunction
import JOSE
import Testing

/// Events that were damaged at random: whatever comes, there is a request or a failure, and a response that is JSON.
@Suite struct EventMutationTests {
    /// The same sequence in every run (SplitMix64), so that what fails once fails again.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    private static let values: [JSON] = [
        .null, .bool(true), .integer(0), .integer(.max), .decimal("1e400"), .string(""), .string("\u{0}\n"), .array([]),
        .array([.null]), .object([:]), .object(["a": .array([.string("b"), .integer(1)])]), .string("$default"),
    ]

    @Test(arguments: SampleEvents.all.indices)
    func damagedBytesNeverCrash(index: Int) throws {
        var random = Generator(state: UInt64(index))
        let good = Array(SampleEvents.all[index].0.utf8)
        var accepted = 0
        for _ in 0..<1500 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = bytes.indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(Array("\"{}[]:,\\0e".utf8).randomElement(using: &random) ?? 0, at: place)
                default: bytes.removeSubrange(place...)
                }
                if bytes.isEmpty { break }
            }
            accepted += try check(Event(bytes[...], basePath: "/mount")) ? 1 : 0
        }
        #expect(accepted > 0)
    }

    @Test(arguments: SampleEvents.all.indices)
    func changedMembersNeverCrash(index: Int) throws {
        var random = Generator(state: UInt64(index) + 100)
        let good = try SampleEvents.json(SampleEvents.all[index].0)
        for _ in 0..<1500 {
            _ = try check(Event(Self.mutated(good, using: &random), basePath: ""))
        }
    }

    private func check(_ event: Event) throws -> Bool {
        let json = try JSON(
            parsing: event.bytes(of: Response(status: 400, json: ["a": "b"])), limits: JSON.Limits(bytes: 4096))
        #expect(json["statusCode"] == .integer(400))
        guard let request = try? event.request.get() else { return false }
        #expect(!request.method.isEmpty)
        #expect(!request.path.isEmpty)
        return true
    }

    private static func mutated(_ json: JSON, using random: inout Generator) -> JSON {
        guard var object = json.object, let member = object.members.randomElement(using: &random) else {
            return values.randomElement(using: &random) ?? .null
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: object[member.name] = nil
        case 1: object[member.name] = values.randomElement(using: &random)
        default: object[member.name] = mutated(member.value, using: &random)
        }
        return .object(object)
    }
}
