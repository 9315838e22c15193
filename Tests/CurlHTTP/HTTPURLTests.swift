import CurlHTTP
import Testing

@Suite struct HTTPURLTests {
    @Test(arguments: [
        "https://appleid.apple.com/auth/keys", "https://localhost:8443", "https://127.0.0.1:1/x?y=z&w=%20",
        "https://[2001:db8::1]:443/", "https://A.example/",
    ])
    func anHTTPSAddressMayBeAsked(text: String) throws {
        let url = try HTTPURL(text)
        #expect(url.text == text)
        #expect(url.scheme == .https)
    }

    @Test(arguments: [
        "http://localhost:8080/keys", "http://127.0.0.1/", "http://127.255.0.9:80/", "http://[::1]:8080/",
        "http://LOCALHOST/", "file:///tmp/keys.json", "file://localhost/tmp/keys.json",
    ])
    func httpAndFileAreForThisMachineAndOnlyWhereAllowed(text: String) throws {
        #expect(throws: HTTPError.self) { try HTTPURL(text) }
        #expect(try HTTPURL(text, allowing: .loopback).text == text)
    }

    @Test(arguments: [
        // Not this machine, or only by a spelling that readers disagree on.
        "http://example.com/", "http://localhost.example.com/", "http://localhost@example.com/",
        "http://127.0.0.1.example.com/", "http://127.1/", "http://0177.0.0.1/", "http://127.0.0.01/",
        "http://127.0.0.256/",
        "http://2130706433/", "http://0x7f.0.0.1/", "http://[::ffff:127.0.0.1]/", "http://[::1]x/", "http://10.0.0.1/",
        "http://0.0.0.0/", "http://127.0.0.1\\@example.com/", "http://127.0.0.1#@example.com/", "http://127.0.0.1%2f/",
        "file://example.com/x", "http:///x", "http://",
        // Other schemes, and none.
        "HTTP://localhost/", "ftp://localhost/", "gopher://localhost/", "localhost/keys", "//localhost", "", "https:",
    ])
    func whatIsNotSurelyThisMachineIsRefused(text: String) {
        #expect(throws: HTTPError.self) { try HTTPURL(text, allowing: .loopback) }
    }

    @Test(arguments: [
        "https://user@appleid.apple.com/", "https://user:secret@appleid.apple.com/", "https://appleid.apple.com:0/",
        "https://appleid.apple.com:65536/", "https://appleid.apple.com:x/", "https://appleid.apple.com:/",
        "https://apple id.com/", "https://appleid.apple.com/\r\nHost: x", "https://appleid.apple.com/\u{0}",
        "https://äpfel.example/", "https://appleid.apple.com\\@example.com/", "https://appleid.apple.com/#x",
        "https:///keys", "https://?", "https://%61pple.com/", "https://[::1", "https://[]/", "https://x_y.example/",
    ])
    func anAddressThatCouldBeReadInTwoWaysIsRefused(text: String) {
        #expect(throws: HTTPError.self) { try HTTPURL(text) }
    }

    @Test(arguments: ["127.0.0.1:9001", "169.254.100.1:9001", "[fd00::1]:80", "runtime"])
    func aRuntimeIsAskedAtItsOwnAddressAndNowhereElse(authority: String) throws {
        let url = "http://\(authority)/2018-06-01/runtime/invocation/next"
        #expect(try HTTPURL(url, allowing: .runtime(authority: authority)).text == url)
        for other in [
            "https://\(authority)/", "file://\(authority)/", "http://\(authority)0/", "http://x.\(authority)/",
            "http://user@\(authority)/", "http://localhost/", "http://10.0.0.1:9001/", "http:///",
        ] {
            #expect(throws: HTTPError.self, "\(other)") {
                try HTTPURL(other, allowing: .runtime(authority: authority))
            }
        }
        #expect(throws: HTTPError.self) { try HTTPURL(url) }
    }

    @Test func theErrorDoesNotRepeatTheAddress() {
        let error = #expect(throws: HTTPError.self) { try HTTPURL("https://user:hunter2@x.example/?code=hunter2") }
        #expect(error.map { !$0.words.contains("hunter2") } == true)
    }
}
