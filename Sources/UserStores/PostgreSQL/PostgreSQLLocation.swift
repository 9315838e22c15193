#if PostgreSQL
/// Where the database is, as `AUTH_APPLE_STORE` says it: libpq's URI or its keywords and values
/// (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING), and `schema=NAME` of our own.
///
/// It is taken apart here and not by libpq, since a fault in it is to be seen at the start, and loading libpq costs more than
/// all the rest of a start. What was wrong is said without repeating anything of it: it may be part of a password.
struct PostgreSQLLocation {
    /// The schema that the tables are in.
    private(set) var schema = "auth_apple"
    /// What libpq gets, in its order.
    private(set) var parameters: [(keyword: String, value: String)] = []

    private static let keywords: Set<String> = [
        "host", "hostaddr", "port", "dbname", "user", "password", "passfile", "require_auth", "channel_binding",
        "connect_timeout", "application_name", "keepalives", "keepalives_idle", "keepalives_interval",
        "keepalives_count", "tcp_user_timeout", "gssencmode", "sslmode", "sslnegotiation", "sslcert", "sslkey",
        "sslpassword", "sslrootcert", "sslcrl", "sslcrldir", "sslsni", "sslcertmode", "requirepeer",
        "ssl_min_protocol_version", "ssl_max_protocol_version", "krbsrvname", "gsslib", "gssdelegation", "service",
        "servicefile", "target_session_attrs", "load_balance_hosts", "options",
    ]

    /// - Parameter rest: what follows `postgres:` or `postgresql:`.
    init(_ rest: String) throws(StoreConfigurationError) {
        guard !rest.utf8.contains(0) else { throw Self.fault("has a NUL in it") }
        if rest.utf8.starts(with: "//".utf8) {
            try readURI(Array(rest.utf8.dropFirst(2))[...])
        } else {
            try readKeywords(Array(rest.utf8)[...])
        }
        try check()
    }

    func value(_ keyword: String) -> String? {
        parameters.last { $0.keyword == keyword }?.value
    }

    /// For the log: where, and nothing that is secret.
    var name: String {
        let place = value("host") ?? value("hostaddr") ?? value("service").map { "service \($0)" } ?? "the default host"
        return "PostgreSQL \(place)\(value("dbname").map { "/\($0)" } ?? "")"
    }

    private mutating func set(_ keyword: String, _ value: String) throws(StoreConfigurationError) {
        if keyword == "schema" {
            // So it can stand in a statement as it is; a longer name would be cut off by the server.
            guard value.utf8.count <= 63, let first = value.utf8.first, first != UInt8(ascii: "_") || value != "_",
                value.utf8.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) || $0 == UInt8(ascii: "_") }),
                !Self.isDigit(first), !value.hasPrefix("pg_")
            else { throw Self.fault("names no schema: use lower-case letters, digits and _") }
            schema = value
            return
        }
        guard Self.keywords.contains(keyword) else {
            throw Self.fault("has a parameter that libpq does not know, or that is fixed here (client_encoding)")
        }
        parameters.append((keyword, value))
    }

    private func check() throws(StoreConfigurationError) {
        let modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]
        if let mode = value("sslmode"), !modes.contains(mode) {
            throw Self.fault("has an sslmode that there is not: use verify-full")
        }
        for keyword in ["connect_timeout", "keepalives", "tcp_user_timeout"] {
            if let value = value(keyword), Int32(value) == nil {
                throw Self.fault("has a \(keyword) that is no number")
            }
        }
        for port in (value("port") ?? "").split(separator: ",") where UInt16(port) ?? 0 == 0 {
            throw Self.fault("has a port that is none: use a number from 1 to 65535")
        }
    }

    // MARK: - postgres://user:password@host:port,host:port/database?parameter=value

    private mutating func readURI(_ text: ArraySlice<UInt8>) throws(StoreConfigurationError) {
        let query = text.firstIndex(of: UInt8(ascii: "?"))
        var place = text[..<(query ?? text.endIndex)]
        if let slash = place.firstIndex(of: UInt8(ascii: "/")) {
            let database = place[(slash + 1)...]
            if !database.isEmpty { try set("dbname", Self.decoded(database)) }
            place = place[..<slash]
        }
        if let at = place.firstIndex(of: UInt8(ascii: "@")) {
            let user = place[..<at]
            place = place[(at + 1)...]
            guard !place.contains(UInt8(ascii: "@")) else {
                throw Self.fault("has more than one @: write one in a password as %40")
            }
            let colon = user.firstIndex(of: UInt8(ascii: ":"))
            let name = user[..<(colon ?? user.endIndex)]
            if !name.isEmpty { try set("user", Self.decoded(name)) }
            if let colon { try set("password", Self.decoded(user[(colon + 1)...])) }
        }
        try readHosts(place)
        guard let query, query + 1 < text.endIndex else { return }
        for item in text[(query + 1)...].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else {
                throw Self.fault("has a parameter without a value: write name=value")
            }
            let keyword = try Self.decoded(item[..<equals])
            let value = try Self.decoded(item[(equals + 1)...])
            // As libpq reads it, for URIs that come from JDBC.
            if keyword == "ssl", value == "true" { try set("sslmode", "require") } else { try set(keyword, value) }
        }
    }

    private mutating func readHosts(_ text: ArraySlice<UInt8>) throws(StoreConfigurationError) {
        guard !text.isEmpty else { return }
        var hosts: [String] = []
        var ports: [String] = []
        for part in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            var host = part
            var port = part[part.endIndex...]
            if part.first == UInt8(ascii: "[") {
                guard let end = part.firstIndex(of: UInt8(ascii: "]")) else { throw Self.fault("has a [ without ]") }
                host = part[(part.startIndex + 1)..<end]
                port = part[(end + 1)...]
                guard port.isEmpty || port.first == UInt8(ascii: ":") else {
                    throw Self.fault("has something between ] and the port")
                }
                port = port.dropFirst()
            } else if let colon = part.firstIndex(of: UInt8(ascii: ":")) {
                host = part[..<colon]
                port = part[(colon + 1)...]
            }
            hosts.append(try Self.decoded(host))
            ports.append(try Self.decoded(port))
        }
        if hosts.contains(where: { !$0.isEmpty }) { try set("host", hosts.joined(separator: ",")) }
        if ports.contains(where: { !$0.isEmpty }) { try set("port", ports.joined(separator: ",")) }
    }

    private static func decoded(_ text: ArraySlice<UInt8>) throws(StoreConfigurationError) -> String {
        var bytes: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            guard text[index] == UInt8(ascii: "%") else {
                bytes.append(text[index])
                index += 1
                continue
            }
            guard index + 2 < text.endIndex, let high = digit(text[index + 1]), let low = digit(text[index + 2]),
                high | low != 0
            else { throw fault("has a % that two hexadecimal digits do not follow: write % as %25") }
            bytes.append(high << 4 | low)
            index += 3
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw fault("is not UTF-8") }
        return decoded
    }

    // MARK: - host=… dbname=… password='…'

    private mutating func readKeywords(_ text: ArraySlice<UInt8>) throws(StoreConfigurationError) {
        var rest = text.drop(while: Self.isSpace)
        guard !rest.isEmpty else {
            throw Self.fault("names no database: as in postgres://user@host/database?sslmode=verify-full")
        }
        while !rest.isEmpty {
            let keyword = rest.prefix { $0 != UInt8(ascii: "=") && !Self.isSpace($0) }
            rest = rest[keyword.endIndex...].drop(while: Self.isSpace)
            guard rest.first == UInt8(ascii: "=") else { throw Self.fault("has a keyword without = behind it") }
            rest = rest.dropFirst().drop(while: Self.isSpace)
            var value: [UInt8] = []
            let isQuoted = rest.first == UInt8(ascii: "'")
            if isQuoted { rest = rest.dropFirst() }
            var isClosed = !isQuoted
            while let byte = rest.first {
                rest = rest.dropFirst()
                if byte == UInt8(ascii: "\\"), let escaped = rest.first {
                    value.append(escaped)
                    rest = rest.dropFirst()
                } else if isQuoted ? byte == UInt8(ascii: "'") : Self.isSpace(byte) {
                    isClosed = true
                    break
                } else {
                    value.append(byte)
                }
            }
            guard isClosed else { throw Self.fault("has a quotation mark that none closes") }
            guard let name = String(validating: keyword, as: UTF8.self),
                let text = String(validating: value, as: UTF8.self)
            else { throw Self.fault("is not UTF-8") }
            try set(name, text)
            rest = rest.drop(while: Self.isSpace)
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func fault(_ what: String) -> StoreConfigurationError {
        .invalid(reason: "the URL of PostgreSQL \(what)")
    }
}
#endif
