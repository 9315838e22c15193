/// A JSON text (RFC 8259) as a value.
///
/// Integers are exact; every other number keeps its text, so that nothing is lost by reading and writing again and no
/// rounding can turn one claim into another.
package enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number, as it was written.
    case decimal(String)
    case string(String)
    case array([JSON])
    case object(Object)

    /// Members in the order in which they came; names are unique.
    package struct Object: Hashable, Sendable, ExpressibleByDictionaryLiteral {
        package struct Member: Hashable, Sendable {
            package var name: String
            package var value: JSON
        }

        package private(set) var members: [Member] = []

        package init() {}

        package init(dictionaryLiteral elements: (String, JSON)...) {
            members.reserveCapacity(elements.count)
            for (name, value) in elements { self[name] = value }
        }

        /// The member's value; setting nil removes the member.
        package subscript(name: String) -> JSON? {
            get { members.first { $0.name.isIdentical(to: name) }?.value }
            set {
                let index = members.firstIndex { $0.name.isIdentical(to: name) }
                switch (index, newValue) {
                case (let index?, let value?): members[index].value = value
                case (let index?, nil): members.remove(at: index)
                case (nil, let value?): members.append(Member(name: name, value: value))
                case (nil, nil): break
                }
            }
        }

        /// The members that are wanted, in their order.
        package func filter(_ isWanted: (Member) -> Bool) -> Object {
            Object(uniqueMembers: members.filter(isWanted))
        }

        /// For the reader, which has its own way of finding duplicates.
        init(uniqueMembers: [Member]) {
            members = uniqueMembers
        }
    }

    package subscript(name: String) -> JSON? {
        object?[name]
    }

    package var object: Object? {
        if case .object(let object) = self { object } else { nil }
    }

    package var array: [JSON]? {
        if case .array(let array) = self { array } else { nil }
    }

    package var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    package var integer: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    package var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    /// The string, or JSON's null: for members that are null when unknown, never missing.
    package static func string(orNull string: String?) -> JSON {
        string.map { .string($0) } ?? .null
    }
}
