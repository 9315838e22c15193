internal import Glibc

/// Standard output for what was asked for, standard error for what is said about it.
enum Terminal {
    /// Throws when it cannot be written, on a full disk say: else a script would take nothing for an answer.
    static func print(_ line: String) throws(Failure) {
        guard write(line + "\n", to: STDOUT_FILENO) else {
            throw Failure(reason: "standard output cannot be written: \(reason(errno))")
        }
    }

    /// What the system calls an error.
    static func reason(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }

    /// In place of the spinner, if one stands there; it comes back below.
    static func say(_ line: String) {
        write((isWatched ? beginning : "") + line + "\n", to: STDERR_FILENO)
    }

    /// Back to the beginning of the line, which is empty then.
    static let beginning = "\r\u{1B}[K"

    /// Whether somebody watches standard error on a terminal that can go back to the beginning of a line.
    static var isWatched: Bool {
        isatty(STDERR_FILENO) == 1 && environment("TERM") != "dumb"
    }

    /// Nil when the variable is not set or empty.
    static func environment(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Text of somebody else's: what could command the terminal, or turn the line around, is shown as a question mark.
    static func visible(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isVisible($0) ? $0 : "?" }))
    }

    /// A JSON text that says the same, with such characters as escapes.
    static func visible(json text: String) -> String {
        text.unicodeScalars.reduce(into: "") { visible, scalar in
            if isVisible(scalar) { return visible.unicodeScalars.append(scalar) }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                visible += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
        default: true
        }
    }

    /// False when it cannot be written, for the reason in `errno`.
    @discardableResult static func write(_ text: String, to descriptor: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
