internal import Accounts
internal import JOSE

/// Where an item lies in the one table.
///
/// | `pk` | `sk` | holds |
/// |---|---|---|
/// | `account#ID` | `profile` | the account |
/// | `account#ID` | `session#ID` | a session of it |
/// | `account#ID` | `audit#NUMBER` | what one change had to say, from that number on |
/// | `account#ID` | `grant#CLIENT` | Apple's refresh token |
/// | `account#ID` | `erasure` | what is left of a deleted account has still to be swept |
/// | `session#ID` | `account` | whose session it is: a refresh token names no account |
/// | `subject#SUB`, `transfer#SUB` | `account` | whose it is, and so that it is one account's |
/// | `receipt#…`, `mark#…`, `attempts#…` | the kind | what their names say |
/// | `outbox` | `ID#CLIENT` | a grant to be revoked, by its time in the index `due` |
/// | `schema` | `schema` | the version of all this |
///
/// A person's items are one item collection, so that an account and its sessions are one strongly consistent query; `profile`
/// and `session#` are neighbours in it.
struct Key: Hashable {
    let partition: String
    let sort: String

    static func account(_ id: UUIDv7) -> Key { Key(partition: "account#\(id)", sort: "profile") }
    static func session(_ id: UUIDv7, of account: UUIDv7) -> Key {
        Key(partition: "account#\(account)", sort: "session#\(id)")
    }
    /// Twelve digits, so that the order of the texts is that of the numbers.
    static func audit(_ number: Int64, of account: UUIDv7) -> Key {
        let digits = String(number)
        let zeros = String(repeating: "0", count: max(0, 12 - digits.count))
        return Key(partition: "account#\(account)", sort: "audit#\(zeros)\(digits)")
    }
    static func grant(_ client: String, of account: UUIDv7) -> Key {
        Key(partition: "account#\(account)", sort: "grant#\(client)")
    }
    static func erasure(of account: UUIDv7) -> Key { Key(partition: "account#\(account)", sort: "erasure") }
    static func owner(ofSession id: UUIDv7) -> Key { Key(partition: "session#\(id)", sort: "account") }
    static func owner(ofSubject subject: String) -> Key { Key(partition: "subject#\(subject)", sort: "account") }
    static func owner(ofTransfer subject: String) -> Key { Key(partition: "transfer#\(subject)", sort: "account") }
    static func receipt(_ name: [UInt8]) -> Key {
        Key(partition: "receipt#\(Base64URL.encode(name))", sort: "receipt")
    }
    static func mark(_ name: [UInt8]) -> Key { Key(partition: "mark#\(Base64URL.encode(name))", sort: "mark") }
    static func attempts(_ key: AttemptKey) -> Key {
        Key(partition: "attempts#\(Base64URL.encode(key.bytes))", sort: "attempts")
    }
    static let outbox = "outbox"
    static func revocation(of grant: AppleGrant) -> Key {
        Key(partition: outbox, sort: "\(grant.accountID)#\(grant.clientID)")
    }
    static let schema = Key(partition: "schema", sort: "schema")

    var item: Item { Item(["pk": .string(partition), "sk": .string(sort)]) }

    init(partition: String, sort: String) {
        self.partition = partition
        self.sort = sort
    }

    /// That of an item that was read.
    init?(_ item: Item) {
        guard let partition = item.string("pk"), let sort = item.string("sk") else { return nil }
        self.init(partition: partition, sort: sort)
    }

    /// By bytes: Swift holds two spellings of one letter equal, DynamoDB does not.
    static func == (left: Key, right: Key) -> Bool {
        left.partition.isIdentical(to: right.partition) && left.sort.isIdentical(to: right.sort)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(Array(partition.utf8))
        hasher.combine(Array(sort.utf8))
    }
}
