import JOSE

@testable import Accounts
@testable import AuthFunction

extension FuzzTarget {
    /// A request line and header fields, as a client may write them: cookies, credentials, addresses, languages, keys.
    static let headers = FuzzTarget("headers") { input in
        let lines = input.split(separator: 0x0A, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let target = lines[0].utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
        guard target.count == 2 else { return .foreign }
        var headers = Headers()
        for line in lines.dropFirst() {
            let name = line.utf8.prefix { $0 != UInt8(ascii: ":") }
            let value = line.utf8.dropFirst(name.count + 1).drop { $0 == UInt8(ascii: " ") }
            headers.append(String(Substring(name)), String(Substring(value)))
            try checkValue(String(Substring(value)))
        }
        let request = Request(
            method: target[0], path: target[1], headers: headers,
            body: Array(#"{"identity_token":"a","deviceInfo":{}}"#.utf8))
        if let token = SessionEndpoint.bearerToken(of: request) {
            try demand(!token.utf8.contains(UInt8(ascii: " ")) && !token.isEmpty, "a bearer token is one word")
        }
        if let address = ClientAddress(trustedProxies: 1).of(request) {
            try demand(IPAddress(address) != nil, "an address that is believed is one")
        }
        try check(FuzzSite.function().respond(to: .success(request)), to: .success(request))
        return .interesting
    }

    private static func checkValue(_ value: String) throws {
        _ = Language(accepting: value)
        if let name = Request.Context.name(value) {
            try demand(name.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a request's name can be logged")
        }
        guard let address = IPAddress(value) else { return }
        try demand([4, 16].contains(address.bytes.count), "an address has 4 or 16 bytes")
        try demand(IPAddress(address.description) == address, "an address is read as it is written")
        try demand([4, 8].contains(address.network.count), "a network has 4 or 8 bytes")
    }

    /// Text that is kept: cleaning twice changes nothing, and nothing that could deceive the eye is left. After a `{` it is a
    /// JSON value: a name, and what a device says of itself.
    static let text = FuzzTarget("text") { input in
        let text = String(decoding: input, as: UTF8.self)
        for limit in [1, 8, 200] {
            guard let clean = Text.cleaned(text, maximumScalars: limit) else { continue }
            try checkClean(clean, limit)
        }
        guard let json = try? JSON(parsing: input, limits: JSON.Limits(bytes: 4096)) else { return .interesting }
        if let name = PersonName.fullName(json) { try checkClean(name, PersonName.maximumScalars) }
        if let device = try? DeviceInfo(json) {
            let written = device.json.serialized()
            try demand(written.count <= DeviceInfo.maximumBytes, "a device has 4 KiB at most")
            let again = try DeviceInfo(JSON(parsing: written, limits: JSON.Limits(bytes: 4096)))
            try demand(again == device, "a device is read as it was written")
        }
        return .interesting
    }

    private static func checkClean(_ text: String, _ limit: Int) throws {
        try demand((1...limit).contains(text.unicodeScalars.count), "at most so many scalars, and one at least")
        let again = Text.cleaned(text, maximumScalars: limit)
        try demand(again.map { $0.isIdentical(to: text) } ?? false, "cleaning twice changes nothing")
        for scalar in text.unicodeScalars {
            try demand(scalar.properties.generalCategory != .control, "no control characters")
            try demand(!(0x202A...0x202E).contains(scalar.value), "no direction overrides")
        }
    }
}
