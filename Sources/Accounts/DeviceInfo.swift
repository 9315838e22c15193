package import JOSE

/// What the app says of the device that it runs on: shown to the person in the list of their sessions, and otherwise
/// only kept. Nothing of it is believed.
package struct DeviceInfo: Hashable, Sendable {
    package static let maximumBytes = 4096
    package static let maximumMembers = 64
    package static let maximumDepth = 4

    package let json: JSON

    /// Why it was refused, in a stable word for programs.
    package enum Refusal: String, Error {
        case notAnObject = "not_an_object"
        case tooLarge = "too_large"
        case tooManyMembers = "too_many_members"
        case tooDeep = "too_deep"
    }

    package init(_ json: JSON) throws(Refusal) {
        guard case .object = json else { throw .notAnObject }
        guard json.depth <= Self.maximumDepth else { throw .tooDeep }
        guard json.memberCount <= Self.maximumMembers else { throw .tooManyMembers }
        guard json.serialized().count <= Self.maximumBytes else { throw .tooLarge }
        self.json = json
    }

    /// What a store gives back: it was checked when it came in.
    package init(stored json: JSON) {
        self.json = json
    }
}

extension JSON {
    /// Arrays and objects around the innermost value, this one included.
    fileprivate var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.map(\.depth).max() ?? 0)
        case .object(let object): 1 + (object.members.map(\.value.depth).max() ?? 0)
        case .null, .bool, .integer, .decimal, .string: 0
        }
    }

    /// Members and elements, at every level.
    fileprivate var memberCount: Int {
        switch self {
        case .array(let elements): elements.reduce(elements.count) { $0 + $1.memberCount }
        case .object(let object): object.members.reduce(object.members.count) { $0 + $1.value.memberCount }
        case .null, .bool, .integer, .decimal, .string: 0
        }
    }
}
