#if PostgreSQL
internal import Glibc
internal import PostgreSQLShim

/// An open connection, in pipeline mode: any number of statements go out at once and their answers come back together, so
/// that what a transaction costs is round trips and not statements
/// (https://www.postgresql.org/docs/current/libpq-pipeline-mode.html).
///
/// Nothing in it waits longer than it is told, whatever server, proxy or network do: libpq never blocks, `poll` does. (The one
/// exception is the look-up of a host's name, which is the system's.)
///
/// Statements are not prepared: a process answers one request, and PgBouncer in transaction mode, before 1.21, gives the next
/// transaction another server, which knows nothing of them.
@safe final class PostgreSQLConnection {
    private let library: UnsafePointer<PostgreSQLShimLibrary>
    private let handle: OpaquePointer
    /// Who opened it. After a fork both would read and write one stream.
    private let process = getpid()

    /// What a connection is made with unless the location says otherwise: no look for Kerberos, and a dead peer is noticed.
    private static func parameters(
        _ location: PostgreSQLLocation, _ limit: TimeLimit
    ) -> [(keyword: String, value: String)] {
        [
            ("fallback_application_name", "auth-apple"), ("gssencmode", "disable"), ("keepalives_idle", "30"),
            ("keepalives_interval", "10"), ("keepalives_count", "3"), ("tcp_user_timeout", String(max(1, limit.left))),
        ] + location.parameters + [("client_encoding", "UTF8")]
    }

    init(_ location: PostgreSQLLocation, until patience: TimeLimit) throws(PostgreSQLFailure) {
        guard let library = unsafe PostgreSQLLibrary.opened else {
            throw .unavailable("libpq.so.5 (14 or newer) cannot be opened: apt-get install libpq5, and leave it memory")
        }
        let connectSeconds = location.value("connect_timeout").flatMap { Int($0) } ?? 0
        let limit = patience.atMost(connectSeconds > 0 ? .seconds(connectSeconds) : nil)
        let parameters = Self.parameters(location, limit)
        let started = unsafe withCStrings(parameters.map(\.keyword)) { keywords in
            unsafe withCStrings(parameters.map(\.value)) { values in
                unsafe library.pointee.PQconnectStartParams(keywords, values, 0)
            }
        }
        guard let started = unsafe started else { throw .unavailable("there is no memory") }
        unsafe self.library = unsafe library
        unsafe handle = unsafe started
        unsafe postgresql_shim_silence(library, handle)
        try connect(until: limit)
        guard unsafe library.pointee.PQsetnonblocking(handle, 1) == 0,
            unsafe library.pointee.PQenterPipelineMode(handle) == 1
        else { throw .lost }
        guard status("server_encoding") ?? "UTF8" == "UTF8" else {
            throw .unusable(
                "the database does not hold UTF-8: make one with createdb --template=template0 --encoding=UTF8")
        }
    }

    deinit {
        if getpid() == process {
            unsafe library.pointee.PQfinish(handle)
        } else {
            // Saying goodbye would end the connection of the process that we come from.
            _ = close(unsafe library.pointee.PQsocket(handle))
        }
    }

    /// Whether it is this process's own, and was good when it was last used.
    var isOurs: Bool {
        getpid() == process && (unsafe library.pointee.PQstatus(handle)) == CONNECTION_OK
    }

    /// How the server is reached, for the operator.
    var protection: String {
        guard unsafe library.pointee.PQsslInUse(handle) == 1 else { return "no TLS" }
        return unsafe library.pointee.PQsslAttribute(handle, "protocol").map { unsafe String(cString: $0) } ?? "TLS"
    }

    private func status(_ name: String) -> String? {
        unsafe library.pointee.PQparameterStatus(handle, name).map { unsafe String(cString: $0) }
    }

    private func connect(until limit: TimeLimit) throws(PostgreSQLFailure) {
        var wanted = PGRES_POLLING_WRITING
        while true {
            if unsafe library.pointee.PQstatus(handle) == CONNECTION_BAD { throw .unreachable(refusal) }
            guard try wait(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT, until: limit) != 0 else {
                throw .unreachable("no answer in time")
            }
            wanted = unsafe library.pointee.PQconnectPoll(handle)
            switch wanted {
            case PGRES_POLLING_OK: return
            case PGRES_POLLING_FAILED: throw .unreachable(refusal)
            default: continue
            }
        }
    }

    /// Why libpq could not connect, in one line. It names host, user and database, and is dropped should it hold the password.
    private var refusal: String {
        guard let message = unsafe library.pointee.PQerrorMessage(handle) else { return "unknown" }
        let text = unsafe String(cString: message)
        if let password = unsafe library.pointee.PQpass(handle), unsafe password.pointee != 0,
            unsafe text.holds(String(cString: password))
        {
            return "refused"
        }
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return String(String.UnicodeScalarView(words.unicodeScalars.filter { $0.value >= 0x20 }.prefix(300)))
    }

    /// Waits until the socket can do one of `events`; those that it can, or 0 when the time is over.
    private func wait(_ events: Int32, until limit: TimeLimit) throws(PostgreSQLFailure) -> Int32 {
        let socket = unsafe library.pointee.PQsocket(handle)
        guard socket >= 0 else { throw .lost }
        while true {
            var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
            let count = unsafe poll(&descriptor, 1, limit.left)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .lost }
            return count == 0 ? 0 : Int32(descriptor.revents)
        }
    }

    // MARK: - Statements

    /// Sends all statements and reads all answers: one round trip. The first that fails is thrown; those after it were not
    /// carried out then. After any other failure than `state` the connection cannot be used again.
    func run(_ statements: [SQLStatement], until limit: TimeLimit) throws(PostgreSQLFailure) -> [SQLRows] {
        for statement in statements { try send(statement) }
        return try answers(to: statements.count, until: limit)
    }

    /// Lets the server look at a statement without running it: the types of the parameters, given these, and the columns.
    func describe(
        _ text: String, parameters: [UInt32], until limit: TimeLimit
    ) throws(PostgreSQLFailure) -> (parameters: [UInt32], columns: [SQLRows.Column]) {
        guard
            unsafe library.pointee.PQsendPrepare(handle, "", text, Int32(parameters.count), parameters) == 1,
            unsafe library.pointee.PQsendDescribePrepared(handle, "") == 1
        else { throw .lost }
        let rows = try answers(to: 2, until: limit)
        return (described, rows[1].columns)
    }

    /// The parameters of the statement that was described last.
    private var described: [UInt32] = []

    private func send(_ statement: SQLStatement) throws(PostgreSQLFailure) {
        let values = statement.parameters.map(\.encoded)
        let bytes: [UInt8] = Array(values.compactMap { $0 }.joined()) + [0]
        let sent = unsafe bytes.withUnsafeBytes { buffer in
            var pointers: [UnsafePointer<CChar>?] = unsafe []
            var lengths: [Int32] = []
            var offset = 0
            for value in values {
                let start = unsafe buffer.baseAddress.map { unsafe $0 + offset }
                unsafe pointers.append(
                    value == nil ? nil : unsafe start?.assumingMemoryBound(to: CChar.self))
                lengths.append(Int32(value?.count ?? 0))
                offset += value?.count ?? 0
            }
            let types = statement.parameters.map(\.typeID)
            let formats = [Int32](repeating: 1, count: values.count)
            return unsafe library.pointee.PQsendQueryParams(
                handle, statement.text, Int32(values.count), types, pointers, lengths, formats, 1)
        }
        guard sent == 1 else { throw .lost }
    }

    private func answers(to count: Int, until limit: TimeLimit) throws(PostgreSQLFailure) -> [SQLRows] {
        guard unsafe library.pointee.PQpipelineSync(handle) == 1 else { throw .lost }
        try flush(until: limit)
        var rows: [SQLRows] = []
        var failure: PostgreSQLFailure?
        while true {
            // Two in a row without an answer would be no protocol of ours.
            var answer = unsafe try next(until: limit)
            if unsafe answer == nil { unsafe answer = unsafe try next(until: limit) }
            guard let result = unsafe answer else { throw .lost }
            defer { unsafe library.pointee.PQclear(result) }
            switch unsafe library.pointee.PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK: unsafe rows.append(copy(result))
            case PGRES_PIPELINE_ABORTED: continue
            case PGRES_PIPELINE_SYNC:
                if let failure { throw failure }
                guard rows.count == count else { throw .lost }
                return rows
            default:
                let state = unsafe library.pointee.PQresultErrorField(result, Int32(UInt8(ascii: "C")))
                guard let state = unsafe state else { throw .lost }
                if failure == nil { failure = unsafe .state(String(cString: state)) }
                if failure?.isOfConnection == true, let failure { throw failure }
            }
        }
    }

    private func flush(until limit: TimeLimit) throws(PostgreSQLFailure) {
        while true {
            switch unsafe library.pointee.PQflush(handle) {
            case 0: return
            case 1:
                // What the server has to say is taken meanwhile, or both would wait for each other.
                let ready = try wait(POLLIN | POLLOUT, until: limit)
                guard ready != 0 else { throw .timedOut }
                if ready & POLLIN != 0, unsafe library.pointee.PQconsumeInput(handle) == 0 { throw .lost }
            default: throw .lost
            }
        }
    }

    private func next(until limit: TimeLimit) throws(PostgreSQLFailure) -> OpaquePointer? {
        while unsafe library.pointee.PQisBusy(handle) == 1 {
            guard try wait(POLLIN, until: limit) != 0 else { throw .timedOut }
            guard unsafe library.pointee.PQconsumeInput(handle) == 1 else { throw .lost }
            try flush(until: limit)
        }
        return unsafe library.pointee.PQgetResult(handle)
    }

    private func copy(_ result: OpaquePointer) -> SQLRows {
        let library = unsafe library.pointee
        let (parameterCount, columnCount, rowCount) = unsafe (
            library.PQnparams(result), library.PQnfields(result), library.PQntuples(result)
        )
        described = (0..<parameterCount).map { unsafe library.PQparamtype(result, $0) }
        let columns = (0..<columnCount).map { column in
            SQLRows.Column(
                name: unsafe library.PQfname(result, column).map { unsafe String(cString: $0) } ?? "",
                typeID: unsafe library.PQftype(result, column))
        }
        let values = (0..<rowCount).map { row in
            (0..<columnCount).map { column -> [UInt8]? in
                guard unsafe library.PQgetisnull(result, row, column) == 0 else { return nil }
                let length = unsafe Int(library.PQgetlength(result, row, column))
                return unsafe Array(
                    UnsafeRawBufferPointer(start: library.PQgetvalue(result, row, column), count: length))
            }
        }
        let changed = unsafe library.PQcmdTuples(result).flatMap { unsafe Int(String(cString: $0)) } ?? 0
        return SQLRows(columns: columns, values: values, changed: changed)
    }
}

/// Runs `body` with the strings as C has them, and a null at their end. Nil without memory for one of them: its null would be
/// taken for the end, and what follows, `sslmode` perhaps, for the default.
private func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> Result?
) -> Result? {
    let copies = unsafe strings.map { unsafe strdup($0) }
    defer { unsafe copies.withUnsafeBufferPointer { for index in $0.indices { unsafe free($0[index]) } } }
    guard unsafe copies.allSatisfy({ unsafe $0 != nil }) else { return nil }
    return unsafe body(copies.map { unsafe UnsafePointer($0) } + [nil])
}
#endif
