internal import Accounts
internal import JOSE

/// Reads the members of a body, and notes what is wrong instead of stopping at the first: every field that is wrong is named,
/// all of them at once.
struct BodyReader {
    private let body: JSON.Object
    private(set) var errors: [Failure.FieldError] = []

    init(_ body: JSON.Object) {
        self.body = body
    }

    /// A member under either of its spellings: apps encode in camelCase or in snake_case. Null is absent.
    mutating func member(_ name: String, _ otherName: String? = nil) -> JSON? {
        let values = [name, otherName].compactMap { $0 }.compactMap { body[$0] }.filter { $0 != .null }
        if values.count > 1 { refuse(name, "duplicate") }
        return values.first
    }

    /// A string that must be there and not be empty.
    mutating func text(_ name: String, _ otherName: String? = nil) -> String? {
        switch member(name, otherName) {
        case .string(let text)? where !text.isEmpty: return text
        case .string?, nil: refuse(name, "required")
        default: refuse(name, "not_a_string")
        }
        return nil
    }

    mutating func deviceInfo() -> DeviceInfo? {
        guard let json = member("deviceInfo", "device_info") else {
            refuse("deviceInfo", "required")
            return nil
        }
        do throws(DeviceInfo.Refusal) {
            return try DeviceInfo(json)
        } catch {
            refuse("deviceInfo", error.rawValue)
            return nil
        }
    }

    /// draft-ietf-httpapi-idempotency-key-header: a string in quotes; most clients leave the quotes out.
    mutating func idempotencyKey(_ header: String?) -> String? {
        let key = header.map { String(decoding: $0.utf8.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self) }
        if let key, !(1...255).contains(key.utf8.count) { refuse("Idempotency-Key", "not_a_string_of_1_to_255_bytes") }
        return key
    }

    mutating func refuse(_ field: String, _ reason: String) {
        errors.append(.init(field, reason))
    }
}
