import Accounts
import Foundation
import JOSE
import Testing

struct UUIDv7Tests {
    @Test func `RFC 9562 appendix A.6: the example, octet by octet`() {
        let id = UUIDv7(
            at: UnixTime(milliseconds: 0x017F_22E2_79B0),
            random: [0x0C, 0xC3, 0x18, 0xC4, 0xDC, 0x0C, 0x0C, 0x07, 0x39, 0x8F])
        #expect(id.description == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    }

    @Test func `Version and variant are set whatever the random bytes are, and every other bit is theirs`() {
        let zeros = UUIDv7(at: UnixTime(milliseconds: 0), random: [UInt8](repeating: 0, count: 10))
        let ones = UUIDv7(at: UnixTime(milliseconds: 0), random: [UInt8](repeating: 0xFF, count: 10))
        #expect(zeros.description == "00000000-0000-7000-8000-000000000000")
        #expect(ones.description == "00000000-0000-7fff-bfff-ffffffffffff")
    }

    @Test func `Later ids come later, as bytes and as text`() {
        let times: [Int64] = [0, 1, 255, 256, 65_535, 65_536, 1_800_000_000_000, 1_800_000_000_001, 1 << 47]
        let high = [UInt8](repeating: 0xFF, count: 10)
        let low = [UInt8](repeating: 0, count: 10)
        for (earlier, later) in zip(times, times.dropFirst()) {
            let left = UUIDv7(at: UnixTime(milliseconds: earlier), random: high)
            let right = UUIDv7(at: UnixTime(milliseconds: later), random: low)
            #expect(left.bytes.lexicographicallyPrecedes(right.bytes))
            #expect(left.description < right.description)
        }
    }

    @Test(arguments: [Int64.min, -1, 1 << 48, .max])
    func `A time that an id cannot hold traps nowhere`(_ milliseconds: Int64) {
        let id = UUIDv7(at: UnixTime(milliseconds: milliseconds), random: [UInt8](repeating: 7, count: 10))
        #expect(UUIDv7(id.description) == id)
    }

    @Test func `Text reads back as the same id, and agrees with Foundation`() throws {
        for _ in 0..<200 {
            let random = (0..<10).map { _ in UInt8.random(in: 0...255) }
            let id = UUIDv7(at: UnixTime(seconds: .random(in: 0...4_000_000_000)), random: random)
            #expect(UUIDv7(id.description) == id)
            #expect(UUIDv7(bytes: id.bytes) == id)
            #expect(UUID(uuidString: id.description)?.uuidString.lowercased() == id.description)
        }
    }

    @Test(arguments: [
        "", "0", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "017f22e279b07cc398c4dc0c0c07398f",
        "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}", "urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
        " 017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-98c4-dc0c0c07398",
        "-17f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398g", "017f22e2+79b0-7cc3-98c4-dc0c0c07398f",
        "017f22e27-9b0-7cc3-98c4-dc0c0c07398f", "é17f22e2-79b0-7cc3-98c4-dc0c0c0739",
        "------------------------------------",
    ])
    func `There is one spelling of an id`(_ text: String) {
        #expect(UUIDv7(text) == nil)
    }

    @Test(arguments: [0, 15, 17])
    func `An id has 16 bytes`(_ count: Int) {
        #expect(UUIDv7(bytes: [UInt8](repeating: 0, count: count)) == nil)
    }
}
