#if PostgreSQL
internal import Accounts
internal import JOSE

/// A statement and what is bound to $1, $2, … of it. No value ever becomes part of the text.
struct SQLStatement {
    let text: String
    let parameters: [SQLParameter]

    init(_ text: String, _ parameters: [SQLParameter] = []) {
        self.text = text
        self.parameters = parameters
    }
}

/// What a statement gave.
struct SQLRows {
    struct Column {
        let name: String
        let typeID: UInt32
    }

    let columns: [Column]
    fileprivate let values: [[[UInt8]?]]
    /// How many rows a statement without rows changed.
    let changed: Int

    init(columns: [Column], values: [[[UInt8]?]], changed: Int) {
        self.columns = columns
        self.values = values
        self.changed = changed
    }

    var count: Int { values.count }
    var first: SQLRow? { values.isEmpty ? nil : SQLRow(columns: columns, values: values[0]) }
    var all: [SQLRow] { values.map { SQLRow(columns: columns, values: $0) } }
}

/// A row, read by the names of its columns and by their types: what is of another type was not written by us.
struct SQLRow {
    fileprivate let columns: [SQLRows.Column]
    fileprivate let values: [[UInt8]?]

    func text(_ name: String) throws(PostgreSQLFailure) -> String? {
        guard let bytes = try value(name, SQLParameter.TypeID.text, SQLParameter.TypeID.varchar) else { return nil }
        guard let text = StoredText.decode(bytes) else { throw .unusable("\(name) is not UTF-8") }
        return text
    }

    func bytes(_ name: String) throws(PostgreSQLFailure) -> [UInt8]? {
        try value(name, SQLParameter.TypeID.bytes)
    }

    func id(_ name: String) throws(PostgreSQLFailure) -> UUIDv7? {
        try value(name, SQLParameter.TypeID.uuid).flatMap { UUIDv7(bytes: $0) }
    }

    func bool(_ name: String) throws(PostgreSQLFailure) -> Bool? {
        try value(name, SQLParameter.TypeID.bool).map { $0 == [1] }
    }

    func time(_ name: String) throws(PostgreSQLFailure) -> UnixTime? {
        try value(name, SQLParameter.TypeID.time).map { Timestamp.decode(Self.integer($0)) }
    }

    func integer(_ name: String) throws(PostgreSQLFailure) -> Int64? {
        try value(name, SQLParameter.TypeID.integer).map(Self.integer)
    }

    private static func integer(_ bytes: [UInt8]) -> Int64 {
        Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    private func value(_ name: String, _ types: UInt32...) throws(PostgreSQLFailure) -> [UInt8]? {
        guard let index = columns.firstIndex(where: { $0.name == name }) else {
            throw .unusable("a row has no column \(name)")
        }
        guard types.contains(columns[index].typeID) else {
            throw .unusable("\(name) is of another type than it should")
        }
        return values[index]
    }
}
#endif
