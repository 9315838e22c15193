import Foundation
import TestSupport
import Testing

@testable import AuthFunction

struct IPAddressTests {
    private static let forms: [(String, String)] = [
        ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
        // RFC 4291 §2.2.
        ("ABCD:EF01:2345:6789:ABCD:EF01:2345:6789", "abcd:ef01:2345:6789:abcd:ef01:2345:6789"),
        ("2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"), ("FF01:0:0:0:0:0:0:101", "ff01::101"),
        ("0:0:0:0:0:0:0:1", "::1"), ("0:0:0:0:0:0:0:0", "::"), ("::", "::"), ("::1", "::1"), ("1::", "1::"),
        ("0:0:0:0:0:0:13.1.68.3", "::d01:4403"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        // RFC 5952 §4: no leading zeros, the longest run of zeros and of two the first, none of one, lower case.
        ("2001:0db8::0001", "2001:db8::1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
        ("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
        ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("1:0:0:2:3:4:0:0", "1::2:3:4:0:0"),
        ("1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"),
        ("0:0:1:2:3:4:5:6", "::1:2:3:4:5:6"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
        // The IPv4 address that it stands for (RFC 4291 §2.5.5.2).
        ("::ffff:192.0.2.1", "192.0.2.1"), ("::FFFF:C000:0201", "192.0.2.1"), ("0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"),
    ]

    @Test(arguments: forms)
    func `An address has one value and one spelling, however it was written`(_ text: String, _ canonical: String) throws
    {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(arguments: [
        "", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3", "256.0.0.1", "01.2.3.4", "1.2.3.04",
        "00.0.0.0",
        "0x7f.0.0.1", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4:80", "+1.2.3.4", "-0.0.0.0", "1.2.3.٤", "2130706433",
        "1.2.3.4/32",
        "1.2.3.4\u{0}", ":", ":::", "1:", ":1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        "1::2::3", "1:::2", "12345::", "g::", "::1.2.3", "::1.2.3.4.5", "::01.2.3.4", "1.2.3.4::", "::1.2.3.4:5",
        "1:2:3:4:5:6:7:1.2.3.4", "[::1]", "[::1]:80", "::1%eth0", "fe80::1%1", "::1/64", "::+1", "::-0", "::-1",
        "::0x1",
        "::1\u{301}", "::\u{FF11}", "unknown", "_hidden", String(repeating: "0", count: 46),
        "0000:0000:0000:0000:0000:0000:0000:00001",
    ])
    func `Anything else is no address: a zone, a port, a leading zero, a sign`(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
    ])
    func `The network that counts is all of an IPv4 address, and the first 64 bits of an IPv6 one`(
        _ text: String, _ network: String
    ) throws {
        let bytes = try #require(IPAddress(network)).bytes
        #expect(IPAddress(text)?.network == (bytes.count == 4 ? bytes : Array(bytes[..<8])))
    }

    private func system(_ text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes[..<4]) }
        guard inet_pton(AF_INET6, text, &bytes) == 1 else { return nil }
        let isMapped = bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return isMapped ? Array(bytes[12...]) : bytes
    }

    @Test func `What the system reads we read the same, and what it refuses we refuse`() {
        var generator = SeededGenerator(state: 11)
        let pieces = [
            "0", "1", "00", "ff", "FFFF", "abcd", "10", "255", "256", ":", ":", ":", "::", ".", ".", "g", "01",
        ]
        var read = 0
        for round in 0..<60_000 {
            var text = ""
            if round.isMultiple(of: 2) {
                for _ in 0..<Int.random(in: 1...17, using: &generator) {
                    text += pieces.randomElement(using: &generator) ?? ""
                }
            } else {
                // Something that is nearly one: groups in the right number, one of them shortened away or changed.
                var groups = (0..<8).map { _ in
                    String(UInt16.random(in: 0...0xFFFF, using: &generator) & 0xF00F, radix: 16)
                }
                if Bool.random(using: &generator) { groups[Int.random(in: 0..<8, using: &generator)] = "" }
                if Bool.random(using: &generator) {
                    groups.removeLast(2); groups.append("192.0.2.\(Int.random(in: 0...300, using: &generator))")
                }
                if Bool.random(using: &generator) { groups.removeFirst(Int.random(in: 0...3, using: &generator)) }
                text = groups.joined(separator: ":")
                if Bool.random(using: &generator) { text = ":" + text }
            }
            let expected = system(text)
            #expect(IPAddress(text)?.bytes == expected, "\(text)")
            if expected != nil { read += 1 }
        }
        #expect(read > 1000)
    }

    @Test func `What we write the system reads back, and writes the same`() throws {
        var generator = SeededGenerator(state: 12)
        for _ in 0..<5000 {
            var bytes = (0..<16).map { _ in
                Bool.random(using: &generator) ? 0 : UInt8.random(in: 0...255, using: &generator)
            }
            // glibc writes what it takes for a compatible address in its own way.
            bytes[0] = 0x20
            var buffer = [CChar](repeating: 0, count: 46)
            _ = inet_ntop(AF_INET6, bytes, &buffer, 46)
            let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let address = try #require(IPAddress(text))
            #expect(address.bytes == bytes)
            #expect(address.description == text)
        }
    }
}

struct ClientAddressTests {
    private func address(_ header: String?, from source: String? = "10.0.0.1", proxies: Int) -> String? {
        var headers = Headers()
        if let header { headers.append("X-Forwarded-For", header) }
        return ClientAddress(trustedProxies: proxies).of(
            Request(method: "GET", path: "/", headers: headers, context: .init(sourceAddress: source)))
    }

    @Test(arguments: [nil, "192.0.2.1", "192.0.2.1, 192.0.2.2", "x"])
    func `Without a proxy of ours no header is believed`(_ header: String?) {
        #expect(address(header, proxies: 0) == "10.0.0.1")
        #expect(address(header, from: nil, proxies: 0) == nil)
    }

    @Test func `Of the header as many entries are believed as there are proxies of ours, from the end`() {
        let header = "203.0.113.9, 192.0.2.1,192.0.2.2 ,192.0.2.3"
        #expect(address(header, proxies: 1) == "192.0.2.3")
        #expect(address(header, proxies: 2) == "192.0.2.2")
        #expect(address(header, proxies: 3) == "192.0.2.1")
        #expect(address("2001:DB8:0::1", proxies: 1) == "2001:db8::1")
    }

    @Test(arguments: [1, 2, 3])
    func `Whatever a client writes before, the entry that our proxy wrote counts`(_ proxies: Int) {
        let ours = (0..<proxies).map { "192.0.2.\($0 + 1)" }.joined(separator: ", ")
        let hostile = [
            "", ",", ",,,,", "127.0.0.1", "unknown", "\"", "127.0.0.1, 127.0.0.1, 127.0.0.1", "for=127.0.0.1",
            "\u{0}", "a\r\nx-forwarded-for: 127.0.0.1", String(repeating: "1,", count: 5000), "::1", "ñ,é\u{301}",
        ]
        for text in hostile { #expect(address("\(text), \(ours)", proxies: proxies) == "192.0.2.1", "\(text)") }
        // The same in a header of its own, which comes first.
        var headers = Headers()
        headers.append("x-forwarded-for", "127.0.0.1")
        headers.append("X-FORWARDED-FOR", ours)
        let request = Request(method: "GET", path: "/", headers: headers, context: .init(sourceAddress: "10.0.0.1"))
        #expect(ClientAddress(trustedProxies: proxies).of(request) == "192.0.2.1")
    }

    @Test(arguments: [
        ("192.0.2.1:443", "192.0.2.1"), ("192.0.2.1:1", "192.0.2.1"), ("[2001:db8::1]:65535", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"), ("[::ffff:192.0.2.1]:443", "192.0.2.1"),
    ])
    func `A proxy may write the client's port behind the address`(_ entry: String, _ expected: String) {
        #expect(address("203.0.113.9, \(entry)", proxies: 1) == expected)
    }

    @Test func `A header that has too few entries, or no address at its place, leaves what the runtime says`() {
        for header in [
            nil, "", ",", "192.0.2.1", "x, 192.0.2.1", "fe80::1%eth0, 192.0.2.2", "192.0.2.1:, 192.0.2.2",
            "192.0.2.1:4x, 192.0.2.2", "192.0.2.1:443:1, 192.0.2.2", "192.0.2.1:123456, 192.0.2.2", ":443, 192.0.2.2",
            "[2001:db8::1, 192.0.2.2", "[2001:db8::1]443, 192.0.2.2", "[]:443, 192.0.2.2", "[x]:443, 192.0.2.2",
        ] {
            #expect(address(header, proxies: 2) == "10.0.0.1", "\(header ?? "none")")
        }
        #expect(address("x", from: nil, proxies: 1) == nil)
    }
}
