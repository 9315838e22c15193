/// What follows a command: `--name value`, `--name=value`, or `--name` alone.
struct Options {
    struct Option {
        enum Kind {
            case flag
            case value
            /// May be given more than once.
            case values
        }

        var name: String
        var kind: Kind

        static func flag(_ name: String) -> Option { Option(name: name, kind: .flag) }
        static func value(_ name: String) -> Option { Option(name: name, kind: .value) }
        static func values(_ name: String) -> Option { Option(name: name, kind: .values) }
    }

    private var given: [String: [String]] = [:]

    /// Refuses what is not known, and repeats no value: what stands in a wrong place may be a secret.
    init(_ arguments: ArraySlice<String>, known: [Option]) throws(UsageError) {
        var rest = arguments
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("--") else { throw UsageError(reason: "takes options only, such as --json") }
            let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            guard let option = known.first(where: { $0.name == name }) else {
                throw UsageError(reason: "there is no option --\(Terminal.visible(name))")
            }
            let inline = parts.count == 2 ? String(parts[1]) : nil
            switch option.kind {
            case .flag:
                guard inline == nil else { throw UsageError(reason: "--\(name) takes no value") }
                given[name, default: []].append("")
            case .value, .values:
                guard let value = inline ?? rest.popFirst(), !value.isEmpty else {
                    throw UsageError(reason: "--\(name) wants a value")
                }
                given[name, default: []].append(value)
            }
            if option.kind != .values, given[name]?.count != 1 {
                throw UsageError(reason: "--\(name) is given twice")
            }
        }
    }

    func has(_ name: String) -> Bool { given[name] != nil }

    func values(_ name: String) -> [String] { given[name] ?? [] }

    func value(_ name: String) -> String? { given[name]?.first }
}
