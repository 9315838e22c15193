internal import JOSE

/// A person with an Apple Account, as this simulator knows them.
struct Person: Hashable {
    /// What the control API and the pages call them: never said to an app.
    var id: String
    var firstName: String
    var lastName: String
    /// Nil for an account with a phone number only, as there are in China and India: its tokens carry no address.
    var email: String?

    /// Those who are there from the start, with the same subjects in every run.
    static let known = [
        Person(id: "ana", firstName: "Ana", lastName: "Ruiz", email: "ana.ruiz@example.com"),
        Person(id: "luis", firstName: "Luis", lastName: "Ortega", email: "luis.ortega@example.com"),
        Person(id: "mei", firstName: "Mei", lastName: "Chen", email: nil),
    ]

    var name: String { [firstName, lastName].filter { !$0.isEmpty }.joined(separator: " ") }

    /// A person made up by whoever uses the simulator; nil when that is none.
    init?(inventedAs id: String, firstName: String?, lastName: String?, email: String?) {
        let (firstName, lastName) = (firstName ?? "", lastName ?? "")
        guard !(firstName + lastName).isEmpty, Self.isText(firstName), Self.isText(lastName),
            email.map(Self.isAddress) ?? true
        else { return nil }
        self.init(id: id, firstName: firstName, lastName: lastName, email: email)
    }

    private init(id: String, firstName: String, lastName: String, email: String?) {
        self.id = id
        self.firstName = firstName
        self.lastName = lastName
        self.email = email
    }

    private static func isText(_ text: String) -> Bool {
        text.unicodeScalars.count <= 100 && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
    }

    /// No more than what keeps an address from being mistaken for something else.
    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return text.utf8.count <= 254 && parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}

extension Person {
    init?(_ json: JSON) {
        guard let id = json["id"]?.string, let firstName = json["first_name"]?.string,
            let lastName = json["last_name"]?.string
        else { return nil }
        self.init(id: id, firstName: firstName, lastName: lastName, email: json["email"]?.string)
    }

    var json: JSON {
        [
            "id": .string(id), "first_name": .string(firstName), "last_name": .string(lastName),
            "email": .string(orNull: email),
        ]
    }
}
