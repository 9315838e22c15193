package import JOSE

/// A person's name as an app sends it at the first login.
///
/// iOS apps send a string, or `PersonNameComponents` as they come out of an encoder, with camelCase or snake_case members;
/// the web flow sends `firstName` and `lastName`. It is unverified text: no shape of it ever fails a login, and it is
/// never used to decide anything.
package enum PersonName {
    package static let maximumScalars = 200

    /// The full name, or nil when there is none in it: null, "", {}, an object of nulls, or any other kind of value.
    package static func fullName(_ json: JSON?) -> String? {
        switch json {
        case .string(let text)?: return Text.cleaned(text, maximumScalars: maximumScalars)
        case .object(let object)?:
            let parts = partNames.compactMap { names in
                names.lazy.compactMap { object[$0]?.string }
                    .compactMap { Text.cleaned($0, maximumScalars: maximumScalars) }.first
            }
            return Text.cleaned(parts.joined(separator: " "), maximumScalars: maximumScalars)
                ?? Text.cleaned(object["nickname"]?.string ?? "", maximumScalars: maximumScalars)
        default: return nil
        }
    }

    /// In the order in which they are written, each in its spellings.
    private static let partNames = [
        ["namePrefix", "name_prefix"], ["givenName", "given_name", "firstName", "first_name"],
        ["middleName", "middle_name"], ["familyName", "family_name", "lastName", "last_name"],
        ["nameSuffix", "name_suffix"],
    ]
}

/// Text from outside that will be kept and shown.
package enum Text {
    /// The text without control characters and direction overrides (which could make one text look like another), at most
    /// so many scalars, and without white space at its ends; nil when nothing that can be seen remains.
    package static func cleaned(_ text: String, maximumScalars: Int) -> String? {
        var scalars = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars where !isStripped(scalar) {
            let isSpace = scalar.properties.isWhitespace
            if count == 0, isSpace { continue }
            guard count < maximumScalars else { break }
            scalars.append(isSpace ? " " : scalar)
            count += 1
        }
        while scalars.last == " " { scalars.removeLast() }
        return scalars.contains(where: isVisible) ? String(scalars) : nil
    }

    /// Zero-width characters join and shape others, so they stay; a text of nothing else is none.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar != " " && !scalar.properties.isDefaultIgnorableCodePoint
    }

    private static func isStripped(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: false  // white space, which becomes a space
        case 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0x061C: true
        default: scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .unassigned
        }
    }
}
