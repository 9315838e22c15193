import Accounts
import JOSE
import Testing

struct DeviceInfoTests {
    private func nested(_ levels: Int) -> JSON {
        (1..<levels).reduce(["leaf": "x"]) { inner, _ in ["level": inner] }
    }

    private func object(members: Int) -> JSON {
        var object = JSON.Object()
        for index in 0..<members { object["m\(index)"] = .integer(1) }
        return .object(object)
    }

    /// An object that is so many bytes long as JSON.
    private func object(bytes: Int) -> JSON {
        let frame = (["text": ""] as JSON).serialized().count
        return ["text": .string(String(repeating: "x", count: bytes - frame))]
    }

    @Test func `Whatever object it is, it is kept as it came`() throws {
        let json: JSON = [
            "model": "iPhone 17", "os": ["name": "iOS", "version": .decimal("26.1")],
            "flags": .array([.null, .bool(true)]), "ñ": "é\u{301}\u{0}",
        ]
        #expect(try DeviceInfo(json).json.serialized() == json.serialized())
        #expect(try DeviceInfo([:]).json == [:])
    }

    @Test(arguments: [JSON.null, "iPhone", .integer(1), .decimal("1e9"), .bool(true), .array([]), .array([[:]])])
    func `It is an object`(_ json: JSON) {
        #expect(throws: DeviceInfo.Refusal.notAnObject) { try DeviceInfo(json) }
    }

    @Test func `It has 4096 bytes at most, as the JSON that is kept`() throws {
        #expect(try DeviceInfo(object(bytes: 4096)).json.serialized().count == 4096)
        for json in [
            object(bytes: 4097), ["text": .string(String(repeating: "ñ", count: 2048))],
            ["text": .string(String(repeating: "\u{1}", count: 700))],
        ] {
            #expect(throws: DeviceInfo.Refusal.tooLarge) { try DeviceInfo(json) }
        }
    }

    @Test func `It has 64 members and elements at most, counted at every level`() {
        func list(_ count: Int) -> JSON { ["list": .array(Array(repeating: .null, count: count))] }
        for json in [object(members: 64), ["inner": object(members: 63)], list(63)] {
            #expect(throws: Never.self) { try DeviceInfo(json) }
        }
        for json in [object(members: 65), ["inner": object(members: 64)], list(64)] {
            #expect(throws: DeviceInfo.Refusal.tooManyMembers) { try DeviceInfo(json) }
        }
    }

    @Test func `It has 4 levels at most`() {
        for json in [nested(4), ["a": .array([.array([.array([])])])]] as [JSON] {
            #expect(throws: Never.self) { try DeviceInfo(json) }
        }
        for json in [nested(5), ["a": .array([.array([.array([.array([])])])])]] as [JSON] {
            #expect(throws: DeviceInfo.Refusal.tooDeep) { try DeviceInfo(json) }
        }
    }
}
