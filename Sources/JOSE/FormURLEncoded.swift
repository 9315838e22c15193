/// A form (application/x-www-form-urlencoded), as OAuth sends it both ways: each name and value is UTF-8, percent-encoded, with
/// a plus sign for a space (RFC 6749 Appendix B).
///
/// A form may carry codes and tokens, so its fields do not show when it is printed.
package struct FormURLEncoded: Sendable, CustomStringConvertible, CustomReflectable {
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    /// How often a name comes. No parameter may come twice (RFC 6749 §3.1): two readers could take one each.
    package enum Occurrence: Hashable, Sendable {
        case absent
        case once(String)
        case repeated
    }

    /// In the order in which they came.
    package let fields: [Field]

    /// Reads a form strictly. Nil for an escape that is not a percent sign and two hexadecimal digits, for what is not UTF-8
    /// once decoded, for a byte that must come escaped, for a field without a name, and for more fields than allowed.
    ///
    /// A name without an equals sign has an empty value, and nothing between two ampersands is no field (WHATWG URL §5.1).
    package init?(parsing bytes: ArraySlice<UInt8>, maximumFields: Int) {
        var fields: [Field] = []
        for piece in bytes.split(separator: UInt8(ascii: "&")) {
            let name = piece.prefix { $0 != UInt8(ascii: "=") }
            guard fields.count < maximumFields, let decodedName = Self.decode(name), !decodedName.isEmpty,
                let value = Self.decode(piece.dropFirst(name.count + 1))
            else { return nil }
            fields.append(Field(name: decodedName, value: value))
        }
        self.fields = fields
    }

    /// The value of a name that comes exactly once.
    package subscript(name: String) -> String? {
        if case .once(let value) = occurrence(of: name) { value } else { nil }
    }

    package func occurrence(of name: String) -> Occurrence {
        let named = fields.filter { $0.name.isIdentical(to: name) }
        guard let first = named.first else { return .absent }
        return named.count == 1 ? .once(first.value) : .repeated
    }

    package var description: String { "<form of \(fields.count) fields>" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    private static func decode(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(Hexadecimal.value),
                    let low = rest.popFirst().flatMap(Hexadecimal.value)
                else { return nil }
                bytes.append(high << 4 | low)
            case 0x21...0x7E:
                bytes.append(byte)
            default:
                return nil
            }
        }
        // What is not UTF-8 comes out as something else. (The initialiser that says so is younger than iOS 16.)
        let decoded = String(decoding: bytes, as: UTF8.self)
        return decoded.utf8.elementsEqual(bytes) ? decoded : nil
    }
}

extension FormURLEncoded {
    /// Writes a form, or the query of a URL. Everything but RFC 3986's unreserved characters is escaped, a space as `%20`: every
    /// reader understands it, and Apple refuses a scope with `+` in it (golang/oauth2#449).
    package static func encode(_ fields: [(String, String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            append(name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            append(value, to: &bytes)
        }
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
    }
}
