import JOSE

@testable import Accounts
@testable import AuthFunction
@testable import KeyCache

extension FuzzTarget {
    /// A text that was pumped up: some stretch of the input, written again and again until it fills what a request may hold.
    /// Where a reader's work grows with the square of that, it runs into the time limit that every input has.
    ///
    /// The first byte chooses the reader, and the next two the stretch.
    static let growth = FuzzTarget("growth", maximumSize: 512) { input in
        guard input.count > 4 else { return .foreign }
        let text = input[3...]
        let start = text.startIndex + Int(input[1]) % text.count
        let count = 1 + Int(input[2]) % (text.endIndex - start)
        var pumped = Array(text[..<start])
        while pumped.count < AuthFunction.maximumBodySize { pumped += text[start..<start + count] }
        pumped += text[(start + count)...]
        try read(pumped, by: Int(input[0]) % 9)
        return .interesting
    }

    private static func read(_ bytes: [UInt8], by reader: Int) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        switch reader {
        case 0:
            let json = try? JSON(parsing: bytes, limits: JSON.Limits(bytes: 1 << 20))
            _ = json?.serialized()
        case 1:
            let event = Event(bytes[...], basePath: "/mount")
            let exchange = FuzzSite.function().respond(to: event.request)
            _ = event.bytes(of: exchange.response)
        case 2:
            let body = Result<[UInt8], Failure>.success([])
            let entries = bytes.split(separator: 0).map(Array.init)
            _ = CGI(CGI.MetaVariables(entries: entries)).request(body: body, basePath: "/mount")
        case 3:
            _ = Language(accepting: text)
            _ = IPAddress(text)
            _ = Request.Context.name(text)
        case 4:
            var request = Request(method: "GET", path: "/auth/me")
            for name in ["authorization", "x-forwarded-for", "cookie", "accept-language"] {
                request.headers.append(name, text)
            }
            _ = FuzzSite.function().respond(to: .success(request))
        case 5:
            _ = Text.cleaned(text, maximumScalars: 1 << 20)
            if let json = try? JSON(parsing: bytes, limits: JSON.Limits(bytes: 1 << 20)) {
                _ = PersonName.fullName(json)
                _ = try? DeviceInfo(json)
            }
        case 6:
            let request = Request(
                method: "POST", path: "/auth/apple", headers: ["content-type": "application/json"], body: bytes)
            _ = FuzzSite.function().respond(to: .success(request))
        case 7:
            _ = try? KeySet(parsing: bytes[...])
            _ = KeyRecord(parsing: bytes)
        default:
            let response = KeyResponse(status: 200, cacheControl: text, age: text, entityTag: text)
            var record = KeyRecord(url: "https://appleid.apple.com/auth/keys")
            try? record.accept(response, at: FuzzSite.now)
            _ = Freshness(of: response)
        }
    }
}
