internal import JOSE

/// One item written, alone or with others as one transaction.
struct Write {
    private enum Action: String {
        case put = "Put"
        case update = "Update"
        case delete = "Delete"
        case check = "ConditionCheck"
    }

    private let action: Action
    private let members: JSON.Object
    /// What a put leaves there.
    let item: Item?

    /// In the place of what is there.
    static func put(_ item: Item, at key: Key, if condition: Condition? = nil) -> Write {
        let item = key.item.adding(item)
        return Write(.put, ["Item": item.json], condition, item: item)
    }

    /// Some attributes; the others stay, unknown ones too.
    static func update(
        _ key: Key, set item: Item, remove names: [String] = [], if condition: Condition?
    ) -> Write {
        let names = names.filter { item[$0] == nil }
        var text = "SET " + item.values.keys.sorted().map { "#\($0) = :set_\($0)" }.joined(separator: ", ")
        if !names.isEmpty { text += " REMOVE " + names.map { "#\($0)" }.joined(separator: ", ") }
        var values = Item()
        for (name, value) in item.values { values[":set_\(name)"] = value }
        return Write(
            .update, ["Key": key.item.json, "UpdateExpression": .string(text)], condition, text: text, values: values)
    }

    static func delete(_ key: Key, if condition: Condition? = nil) -> Write {
        Write(.delete, ["Key": key.item.json], condition)
    }

    /// Nothing is written, and the condition must hold.
    static func check(_ key: Key, _ condition: Condition) -> Write {
        Write(.check, ["Key": key.item.json], condition)
    }

    private init(
        _ action: Action, _ members: JSON.Object, _ condition: Condition?, text: String = "", values: Item = Item(),
        item: Item? = nil
    ) {
        self.action = action
        self.item = item
        var members = members
        if let condition { members["ConditionExpression"] = .string(condition.text) }
        let expression = Expression(
            text: text + " " + (condition?.text ?? ""), values: values.adding(condition?.values ?? Item()))
        expression.complete(&members)
        self.members = members
    }

    /// As a request of its own.
    func alone(in table: String) -> (operation: String, body: JSON.Object) {
        var body = members
        body["TableName"] = .string(table)
        // So that a write whose answer was lost is recognised when it is tried again.
        if members["ConditionExpression"] != nil { body["ReturnValuesOnConditionCheckFailure"] = .string("ALL_OLD") }
        return (action.rawValue + "Item", body)
    }

    /// How long it is in a request.
    var bytes: Int { JSON.object(members).serialized().count }

    /// As one of several.
    func part(in table: String) -> JSON {
        var body = members
        body["TableName"] = .string(table)
        return .object([action.rawValue: .object(body)])
    }
}

/// What must hold of an item for it to be written.
struct Condition {
    let text: String
    let values: Item

    init(_ text: String, _ values: [String: AttributeValue] = [:]) {
        self.text = text
        self.values = Item(values)
    }

    static let absent = Condition("attribute_not_exists(#pk)")
    static let present = Condition("attribute_exists(#pk)")

    /// That an attribute is as it was read, and so the item is there.
    static func unchanged(_ name: String, _ value: AttributeValue) -> Condition {
        Condition("#\(name) = :if_\(name)", [":if_\(name)": value])
    }

    /// That the item is as it was read, if it was there; each write of it gives it another version.
    static func unchanged(_ seen: Item?) -> Condition {
        guard let version = seen?["version"] else { return absent }
        return unchanged("version", version)
    }
}

/// The texts of a request, in which names begin with `#` and values with `:`. Names are never written plainly, as hundreds of
/// words are reserved.
struct Expression {
    let text: String
    let values: Item

    /// Adds what the text refers to.
    func complete(_ members: inout JSON.Object) {
        var names = JSON.Object()
        var rest = text[...]
        while let start = rest.firstIndex(of: "#") {
            let name = rest[rest.index(after: start)...].prefix { $0.isLetter || $0 == "_" }
            names["#\(name)"] = .string(String(name))
            rest = rest[name.endIndex...]
        }
        if !names.members.isEmpty { members["ExpressionAttributeNames"] = .object(names) }
        if !values.values.isEmpty { members["ExpressionAttributeValues"] = values.json }
    }
}
