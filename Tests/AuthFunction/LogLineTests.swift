import AppleID
import AuthFunction
import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

struct LogLineTests {
    @Test func `A sign-in leaves one line with its fields`() throws {
        let lookup = KeyLookup(outcome: "hit", notes: [])
        let doorway = Doorway(lookup: lookup)
        for (status, created) in [(201, true), (200, false)] {
            let answer = try doorway.signIn()
            let log = answer.log
            #expect(
                log.object?.members.map(\.name) == [
                    "time", "request_id", "route", "status", "outcome", "duration_ms", "key_cache", "account_created",
                    "sub_hash",
                ])
            #expect(log["time"] == "2027-01-15T08:00:00.000Z")
            #expect(log["route"] == "POST /auth/apple")
            #expect(log["status"] == .integer(Int64(status)))
            #expect(log["outcome"] == "ok")
            #expect(log["duration_ms"] == .decimal("1.250"))
            #expect(log["key_cache"] == "hit")
            #expect(log["account_created"] == .bool(created))
            let digest = TokenForge.cryptography.sha256(Array(TokenForge.subject.utf8)[...])
            #expect(log["sub_hash"]?.string == digest[..<8].map { String(format: "%02x", $0) }.joined())
            #expect(!log.text.contains("\n"))
        }
    }

    @Test func `A failure leaves its outcome and its reason, and no hash of an unverified sub`() throws {
        let log = try Doorway().signIn(["identity_token": "x.y.z"]).log
        #expect(
            log.object?.members.map(\.name) == [
                "time", "request_id", "route", "status", "outcome", "reason", "duration_ms",
            ])
        #expect(log["outcome"] == "invalid_token")
        #expect(log["reason"] == "malformed")
    }

    @Test func `Every wrong field is in the reason, by its name and not by its value`() throws {
        let log = try Doorway().signIn(["identity_token": .integer(42), "deviceInfo": JSON?.none]).log
        #expect(log["reason"] == "identity_token: not_a_string; deviceInfo: required")
    }

    @Test func `The route is a name of ours and not what was asked for`() throws {
        let answer = try Doorway().answer("GET", "/nowhere?token=canary")
        #expect(answer.log["route"] == .null)
        #expect(!answer.log.text.contains("canary") && !answer.log.text.contains("nowhere"))
        #expect(try Doorway().answer("GET", "/health?token=canary").log["route"] == "GET /health")
    }

    @Test func `What the key cache had to say is in the line`() throws {
        let lookup = KeyLookup(outcome: "stale", notes: ["the fetch failed", "the file is foreign"])
        let log = try Doorway(lookup: lookup).signIn().log
        #expect(log["key_cache"] == "stale")
        #expect(log["key_cache_notes"] == .array(["the fetch failed", "the file is foreign"]))
    }

    @Test(
        arguments: [
            (0, "0.000"), (0.0004, "0.000"), (0.001, "0.001"), (12.3456, "12.345"), (-1, "0.000"), (.nan, "0.000"),
            (.infinity, "1000000000000.000"), (1e300, "1000000000000.000"),
        ] as [(Double, String)])
    func `A duration is a number whatever the clock did`(_ milliseconds: Double, _ text: String) {
        var line = LogLine(time: TokenForge.now, requestID: "r")
        line.milliseconds = milliseconds
        #expect(line.json["duration_ms"] == .decimal(text))
    }
}

struct RFC3339Tests {
    private func foundation(_ milliseconds: Int64) -> String {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime]
        let seconds = Int64((Double(milliseconds) / 1000).rounded(.down))
        let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
        return text.dropLast() + String(format: ".%03dZ", Int(milliseconds - seconds * 1000))
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"), (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func `The days at which calendars go wrong`(_ milliseconds: Int64, _ text: String) {
        #expect(UnixTime(milliseconds: milliseconds).rfc3339 == text)
    }

    @Test func `Any time after the Gregorian reform is what Foundation says it is`() {
        var generator = SeededGenerator(state: 3)
        // 1600-01-01 to 9999-12-31: before 1582 Foundation's calendar is the Julian one.
        for _ in 0..<3000 {
            let milliseconds = Int64.random(in: -11_676_096_000_000...253_402_300_799_999, using: &generator)
            #expect(UnixTime(milliseconds: milliseconds).rfc3339 == foundation(milliseconds))
        }
    }

    @Test(arguments: [Int64.min, .max])
    func `No time traps`(_ milliseconds: Int64) {
        #expect(UnixTime(milliseconds: milliseconds).rfc3339.hasSuffix("Z"))
    }
}
