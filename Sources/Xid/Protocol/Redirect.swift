internal import JOSE

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An authorization response in the query of a redirect (RFC 6749 §4.1.2), read and not yet believed.
struct Redirect {
    /// More than any provider sends.
    private static let maximumFields = 64

    let issuer: String?
    let state: String?
    let error: String?
    let errorDescription: String?
    let code: SecretText?

    /// - Parameter callback: the redirect URI that was sent; anything else is not ours, however it begins.
    init(_ url: URL, callback: String) throws(XidError) {
        let text = url.absoluteString
        let address = text.prefix { $0 != "?" && $0 != "#" }
        guard Self.isSame(String(address), callback) else { throw XidError(.redirectMismatch) }
        let rest = text.dropFirst(address.count)
        let query = rest.hasPrefix("?") ? rest.dropFirst().prefix { $0 != "#" } : ""
        // An answer in the fragment is one to another response_type. It is not read.
        guard !query.isEmpty, text.utf8.count <= 16_384,
            let fields = FormURLEncoded(parsing: Self.readable(query), maximumFields: Self.maximumFields)
        else { throw XidError(.malformedRedirect) }
        // Signed answers (JARM) are not understood; beside one nothing else counts.
        guard fields.occurrence(of: "response") == .absent else { throw XidError(.malformedRedirect) }
        issuer = try Self.only("iss", of: fields)
        state = try Self.only("state", of: fields)
        error = try Self.only("error", of: fields)
        errorDescription = try Self.only("error_description", of: fields).flatMap { $0.isEmpty ? nil : $0 }
        code = try Self.only("code", of: fields).map(SecretText.init)
    }

    /// With an empty `error_description` in place of one that cannot be read. It is for people and of ASCII (RFC 6749 §4.1.2.1); one
    /// in Latin-1 must not make of a denial an answer that nobody understands.
    private static func readable(_ query: Substring) -> ArraySlice<UInt8> {
        let name = "error_description="
        let fields = query.utf8.split(separator: UInt8(ascii: "&")).map { field in
            let isReadable =
                !field.starts(with: name.utf8) || FormURLEncoded(parsing: Array(field)[...], maximumFields: 1) != nil
            return isReadable ? Array(field) : Array(name.utf8)
        }
        return Array(fields.joined(separator: "&".utf8))[...]
    }

    /// RFC 6749 §3.1: no parameter twice.
    private static func only(_ name: String, of fields: FormURLEncoded) throws(XidError) -> String? {
        switch fields.occurrence(of: name) {
        case .absent: return nil
        case .once(let value): return value
        case .repeated: throw XidError(.malformedRedirect)
        }
    }

    /// Equality of addresses without query; never a prefix. Of RFC 3986 §6.2.2 and §6.2.3 only what browsers do by themselves: the
    /// scheme's case, and of a web address the host's case and the empty path.
    static func isSame(_ address: String, _ callback: String) -> Bool {
        normalized(address).isIdentical(to: normalized(callback))
    }

    private static func normalized(_ address: String) -> String {
        let scheme = address.prefix { $0 != ":" }
        let rest = address.dropFirst(scheme.count)
        guard ["https", "http"].contains(scheme.lowercased()), rest.hasPrefix("://") else {
            return scheme.lowercased() + rest
        }
        let authority = rest.dropFirst(3).prefix { $0 != "/" }
        let path = rest.dropFirst(3 + authority.count)
        return "\(scheme.lowercased())://\(authority.lowercased())\(path.isEmpty ? "/" : path)"
    }
}
