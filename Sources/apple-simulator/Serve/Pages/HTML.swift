/// A piece of HTML. What is written in the source is markup; what is put in by `\(…)` is text and is escaped, unless it is a
/// piece itself. So nothing that comes from outside can become markup by somebody forgetting to escape it.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    let markup: String

    init(stringLiteral markup: String) {
        self.markup = markup
    }

    init(stringInterpolation: StringInterpolation) {
        markup = stringInterpolation.markup
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) { markup += literal }
        mutating func appendInterpolation(_ text: String) { markup += HTML.escaped(text) }
        mutating func appendInterpolation(_ number: Int64) { markup += String(number) }
        mutating func appendInterpolation(_ piece: HTML) { markup += piece.markup }
        mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { markup += piece.markup } }
        mutating func appendInterpolation(_ piece: HTML?) { markup += piece?.markup ?? "" }
    }

    /// As text and as the value of an attribute in quotes.
    private static func escaped(_ text: String) -> String {
        var markup = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": markup += "&amp;"
            case "<": markup += "&lt;"
            case ">": markup += "&gt;"
            case "\"": markup += "&quot;"
            case "'": markup += "&#39;"
            case "\u{0}": markup += "\u{FFFD}"
            default: markup.unicodeScalars.append(scalar)
            }
        }
        return markup
    }

    /// What a form sends along unseen.
    static func hidden(_ name: String, _ value: String?) -> HTML {
        guard let value else { return "" }
        return "<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"
    }
}
