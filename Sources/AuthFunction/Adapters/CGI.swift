/// The Common Gateway Interface (RFC 3875): a request as a web server hands it to a process, in variables of its environment
/// and on standard input, and the response as the server wants it back. Pure: the doorway does the reading and the writing.
///
/// What three servers make of the RFC differs, and where it does the strict reading is taken: a request that one server
/// and this function could understand differently is refused.
package struct CGI {
    let variables: MetaVariables

    package init(_ variables: MetaVariables) {
        self.variables = variables
    }

    /// Whether the answer may have a body (RFC 3875 §4.3.3). Known even of a request that is refused.
    package var isHead: Bool { variables["REQUEST_METHOD"] == "HEAD" }

    /// The request whose body was read by the rule of `bodyLength`. One that is none is a failed request like any other,
    /// so it is answered.
    package func request(body: Result<[UInt8], Failure>, basePath: String) -> Result<Request, Failure> {
        do throws(Failure) {
            try variables.refuseAmbiguity()
            guard let method = variables["REQUEST_METHOD"], !method.isEmpty else {
                throw .invalidRequest([.init("REQUEST_METHOD", "required")])
            }
            let path = try path()
            return .success(
                Request(
                    method: method, path: BasePath.strip(basePath, from: path), query: variables["QUERY_STRING"] ?? "",
                    headers: variables.headers, body: try body.get(), context: context))
        } catch {
            return .failure(error)
        }
    }

    /// The path that the server decided upon, which is what the client wrote or the request is refused.
    ///
    /// The server decodes SCRIPT_NAME and PATH_INFO, merges slashes and resolves dot segments, each server in its own way
    /// (RFC 3875 §4.1.5 leaves it open); REQUEST_URI, which all of them add, is as the client wrote it. No path of ours
    /// needs any of that. So a path whose two forms differ was written to be read in two ways, and whatever stands in
    /// front of us may have read the other one.
    private func path() throws(Failure) -> String {
        let decided = (variables["SCRIPT_NAME"] ?? "") + (variables["PATH_INFO"] ?? "")
        guard decided.utf8.first == UInt8(ascii: "/") else { throw .invalidRequest([.init("path", "not_absolute")]) }
        if let written = variables["REQUEST_URI"] {
            guard Self.path(ofTarget: written).elementsEqual(decided.utf8) else {
                throw .invalidRequest([.init("path", "ambiguous")])
            }
        }
        return decided
    }

    /// Of a request target in origin form, or in absolute form, which Apache hands on as it came (RFC 9112 §3.2).
    private static func path(ofTarget target: String) -> Substring.UTF8View {
        var path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        for scheme in ["http://", "https://"] where path.starts(with: scheme.utf8) {
            path = path.dropFirst(scheme.utf8.count).drop { $0 != UInt8(ascii: "/") }
        }
        return path
    }

    /// Of the variables that no client can name: those without HTTP_. The user agent is what the client says of itself.
    private var context: Request.Context {
        Request.Context(sourceAddress: variables["REMOTE_ADDR"], userAgent: variables["HTTP_USER_AGENT"])
    }
}
