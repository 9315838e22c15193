extension CGI {
    /// The request's variables (RFC 3875 §4.1), read once from the environment as the system holds it.
    ///
    /// A name may be there twice: nginx hands on a repeated header field as a repeated variable, and fcgiwrap puts both into
    /// the environment. `getenv` tells of the first, and other readers of the last. So all are kept, and the names that
    /// decide something are refused when they repeat.
    package struct MetaVariables {
        private var values: [String: [String]] = [:]
        /// In the order in which they came.
        private var headerNames: [String] = []

        /// - Parameter entries: `NAME=value`, as bytes. What is not UTF-8 is repaired and not dropped: a length that nobody
        ///   can read is no absent length.
        package init(entries: some Sequence<[UInt8]>) {
            for entry in entries {
                guard let equals = entry.firstIndex(of: UInt8(ascii: "=")), Self.isName(entry[..<equals]) else {
                    continue
                }
                let name = String(decoding: entry[..<equals], as: UTF8.self)
                if name.hasPrefix(Self.headerPrefix), values[name] == nil { headerNames.append(name) }
                values[name, default: []].append(String(decoding: entry[(equals + 1)...], as: UTF8.self))
            }
        }

        /// The value of a name; of a repeated one the first, which `refuseAmbiguity` keeps from mattering.
        subscript(name: String) -> String? { values[name]?.first }

        /// The header fields, by the names that RFC 3875 §4.1.18 made unrecognizable: case is gone, and `-` and `_` are one.
        var headers: Headers {
            var headers = Headers()
            // The two fields of the body are meta-variables of their own (§4.1.2, §4.1.3).
            if let type = self["CONTENT_TYPE"], !type.isEmpty { headers.append("content-type", type) }
            for variable in headerNames where !Self.untrusted.contains(variable) {
                let name = variable.dropFirst(Self.headerPrefix.count).map { $0 == "_" ? "-" : String($0) }.joined()
                for value in values[variable] ?? [] { headers.append(name, value) }
            }
            return headers
        }

        /// Refuses a request in which a name that decides something comes twice.
        func refuseAmbiguity() throws(Failure) {
            let repeated = (Self.single + proxysFields).filter { (values[$0]?.count ?? 0) > 1 }
            guard repeated.isEmpty else {
                throw .invalidRequest(repeated.map { Failure.FieldError($0, "duplicate") })
            }
        }

        /// What a proxy of ours has written (`ClientAddress`). lighttpd makes one variable of a field that came twice, and gives
        /// `X_Forwarded_For` the same name: a second one is the client's. nginx hands on no such field, and two lines as two variables.
        private var proxysFields: [String] {
            self["SERVER_SOFTWARE"]?.hasPrefix("nginx") == true ? [] : ["HTTP_X_FORWARDED_FOR"]
        }

        private static let headerPrefix = "HTTP_"

        /// Fields that a client can send and that nobody may believe: nginx and lighttpd show the body's fields under these
        /// names as well, and HTTP_PROXY is a field `Proxy` in the clothes of a setting ("httpoxy", CVE-2016-5385).
        private static let untrusted: Set = ["HTTP_CONTENT_TYPE", "HTTP_CONTENT_LENGTH", "HTTP_PROXY"]

        /// Of the body's fields also the shown ones: nginx takes the first of two and tells nobody.
        private static let single = [
            "REQUEST_METHOD", "SCRIPT_NAME", "PATH_INFO", "REQUEST_URI", "QUERY_STRING", "CONTENT_TYPE",
            "CONTENT_LENGTH",
            "REMOTE_ADDR", "HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_HOST", "HTTP_TRANSFER_ENCODING",
            "HTTP_CONTENT_TYPE", "HTTP_CONTENT_LENGTH",
        ]

        private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
            bytes.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "_")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
        }
    }
}
