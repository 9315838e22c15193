/// The languages of the pages; Spanish unless the reader asks otherwise.
enum Language: String, Sendable {
    case spanish = "es"
    case english = "en"

    /// By Accept-Language (RFC 9110 §12.5.4): English where it is named, is not weighed nothing, and comes before Spanish.
    /// Browsers send the list in the order of preference.
    init(accepting header: String?) {
        let ranges = (header ?? "").lowercased().prefix(1000).split(separator: ",").map { range in
            range.filter { $0 != " " }.split(separator: ";")
        }
        let names = ranges.filter { !$0.dropFirst().contains(where: Self.isZero) }
            .compactMap { $0.first?.split(separator: "-").first }
        self = names.first { $0 == "es" || $0 == "en" } == "en" ? .english : .spanish
    }

    /// A weight that refuses the language: `q=0`, `q=0.0` and so on.
    private static func isZero(_ parameter: Substring) -> Bool {
        parameter.hasPrefix("q=0") && parameter.dropFirst(3).allSatisfy { $0 == "." || $0 == "0" }
    }

    /// Both side by side in the source, so that neither is forgotten.
    func callAsFunction<Words>(_ spanish: Words, _ english: Words) -> Words {
        self == .english ? english : spanish
    }
}
