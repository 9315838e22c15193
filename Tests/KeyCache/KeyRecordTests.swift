import Foundation
import JOSE
import Testing

@testable import KeyCache

@Suite struct KeyRecordTests {
    static let now = UnixTime(milliseconds: 1_800_000_000_123)

    static var full: KeyRecord {
        var record = KeyRecord(url: "https://example.com/keys?x=\"y\"")
        record.fetched = .init(
            keys: Keys.set("A", "B"), fetchedAt: now, freshUntil: now.adding(seconds: 3600),
            entityTag: EntityTag("\"tag\""))
        record.lastAttempt = .init(endedAt: now, hasFailed: true)
        record.missedAt = now.adding(seconds: 7)
        return record
    }

    @Test func whatIsWrittenIsReadBack() {
        #expect(KeyRecord(parsing: Self.full.serialized()) == Self.full)
        let empty = KeyRecord(url: "https://example.com")
        #expect(KeyRecord(parsing: empty.serialized()) == empty)
    }

    @Test func everyCutIsRefused() {
        let bytes = Self.full.serialized()
        for count in 0..<bytes.count { #expect(KeyRecord(parsing: Array(bytes[..<count])) == nil) }
    }

    @Test func noChangeOfStructureGoesUnnoticed() {
        let bytes = Self.full.serialized()
        for index in bytes.indices where "{}[]:,\"".utf8.contains(bytes[index]) {
            var changed = bytes
            changed[index] = UInt8(ascii: " ")
            // The address has a colon of its own; a record of another address is not used.
            #expect(KeyRecord(parsing: changed)?.url != Self.full.url)
        }
    }

    @Test(arguments: [
        ("\"format\":1", "\"format\":2"), ("\"format\":1", "\"format\":1.0"), ("\"format\":1,", ""),
        ("\"failed\":true", "\"failed\":1"), ("\"failed\":true", "\"failed\":true,\"x\":1"),
        ("\"missed_at\":1800000007123", "\"missed_at\":-1"), ("\"missed_at\":1800000007123", "\"missed_at\":\"x\""),
        ("\"missed_at\":1800000007123", "\"missed_at\":9999999999999999"),
        ("\"missed_at\":1800000007123", "\"missed_at\":1800000007123.0"),
        // Freshness beyond the bounds, and before the fetch.
        ("\"fresh_until\":1800003600123", "\"fresh_until\":1900003600123"),
        ("\"fresh_until\":1800003600123", "\"fresh_until\":1799999999123"),
        ("\"entity_tag\":\"\\\"tag\\\"\"", "\"entity_tag\":\"tag\""),
        ("\"kty\":\"RSA\"", "\"kty\":\"oct\""), ("\"use\":\"sig\"", "\"use\":\"enc\""),
        ("\"e\":\"AQAB\"", "\"e\":\"AQ\""),
        ("{\"format\"", " {\"format\""),
    ])
    func whatWeWouldNotHaveWrittenIsRefused(part: String, replacement: String) throws {
        let text = String(decoding: Self.full.serialized(), as: UTF8.self)
        let range = try #require(text.firstRange(of: part))
        #expect(KeyRecord(parsing: Array(text.replacingCharacters(in: range, with: replacement).utf8)) == nil)
    }

    /// It would be fresh for a day, and verify nobody.
    @Test func aRecordWithoutAUsableKeyIsRefused() {
        var record = Self.full
        record.fetched?.keys = KeySet(keys: [])
        #expect(KeyRecord(parsing: record.serialized()) == nil)
    }

    /// Without a tag nothing was asked that "not modified" could answer.
    @Test func notModifiedIsNoAnswerToARequestWithoutATag() throws {
        var record = Self.full
        try record.accept(KeyResponse(status: 304), at: Self.now)
        record.fetched?.entityTag = nil
        let before = record
        #expect(throws: KeyFetchFailure.status(304)) {
            try record.accept(KeyResponse(status: 304), at: Self.now.adding(seconds: 9))
        }
        #expect(record == before)
    }
}
