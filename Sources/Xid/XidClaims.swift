internal import JOSE

/// What the provider says of the person, in verified claims (OpenID Connect Core §5.1).
///
/// Printing or reflecting the value shows the names of the claims and none of their values.
public struct XidClaims: Hashable, Sendable {
    let object: JSON.Object

    init(_ object: JSON.Object) {
        self.object = object
    }

    /// The claims' names, in the provider's order.
    public var names: [String] { object.members.map(\.name) }

    /// The claim as text; nil when it is missing or something else.
    public func string(_ name: String) -> String? { object[name]?.string }

    /// The claim as a whole number.
    public func integer(_ name: String) -> Int64? { object[name]?.integer }

    /// The claim as truth value.
    public func bool(_ name: String) -> Bool? { object[name]?.bool }

    /// The claim as a list of texts; a single text is a list of one.
    public func strings(_ name: String) -> [String]? {
        switch object[name] {
        case .string(let text)?: [text]
        case .array(let values)?: values.allSatisfy { $0.string != nil } ? values.compactMap(\.string) : nil
        default: nil
        }
    }

    /// All claims as one JSON object, for a decoder of yours.
    public var json: String { JSON.object(object).text }
}

extension XidClaims: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names only.
    public var description: String { "XidClaims(\(names.joined(separator: ", ")))" }

    /// The names only.
    public var debugDescription: String { description }

    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
