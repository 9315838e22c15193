import Accounts
import JOSE
import Testing

struct PersonNameTests {
    static let objects: [(JSON, String?)] = [
        (["givenName": "Ana", "familyName": "Pérez"], "Ana Pérez"),
        (["given_name": "Ana", "family_name": "Pérez"], "Ana Pérez"),
        (["firstName": "Ana", "lastName": "Pérez"], "Ana Pérez"),
        (["first_name": "Ana", "last_name": "Pérez"], "Ana Pérez"),
        (["familyName": "Pérez", "givenName": "Ana"], "Ana Pérez"),
        (
            [
                "namePrefix": "Dra.", "givenName": "Ana", "middleName": "María", "familyName": "Pérez",
                "nameSuffix": "II", "nickname": "Anita",
            ], "Dra. Ana María Pérez II"
        ),
        (["givenName": "Ana"], "Ana"),
        (["familyName": " Pérez "], "Pérez"),
        (["givenName": .null, "familyName": "Pérez"], "Pérez"),
        (["givenName": "", "given_name": "Ana"], "Ana"),
        (["givenName": .integer(1), "familyName": "Pérez"], "Pérez"),
        (["nickname": "Anita"], "Anita"),
        ([:], nil),
        (["givenName": .null, "familyName": .null], nil),
        (["givenName": "", "familyName": " \t "], nil),
        (["givenName": ["value": "Ana"], "phoneticRepresentation": ["givenName": "Ana"]], nil),
        (["unknown": "Ana"], nil),
    ]

    @Test(arguments: objects)
    func `A name is put together from its parts, in every spelling`(_ json: JSON, _ name: String?) {
        #expect(PersonName.fullName(json) == name)
    }

    @Test(arguments: [
        JSON?.none, .null, "", "   ", "\n\t", "\u{0}\u{7F}", .integer(7), .decimal("1.5"), .bool(true), .array([]),
        .array(["Ana"]), .array([["givenName": "Ana"]]),
    ])
    func `Anything else is no name, and no error`(_ json: JSON?) {
        #expect(PersonName.fullName(json) == nil)
    }

    @Test(arguments: [
        ("Ana Pérez", "Ana Pérez"), ("  Ana  ", "Ana"), ("Ana\nPérez", "Ana Pérez"), ("Ana\u{3000}Pérez", "Ana Pérez"),
        ("A\u{0}n\u{1B}a\u{7F}\u{85}", "Ana"), ("null", "null"), ("O'Neill <b>", "O'Neill <b>"), ("李小龙", "李小龙"),
        ("e\u{301}", "e\u{301}"), ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"), ("🇪🇸", "🇪🇸"),
    ])
    func `A string is taken as it is, without control characters and outer white space`(_ text: String, _ name: String)
    {
        #expect(PersonName.fullName(.string(text)).map { Array($0.unicodeScalars) } == Array(name.unicodeScalars))
    }

    @Test(arguments: [0x061C, 0x200E, 0x200F] + Array(0x202A...0x202E) + Array(0x2066...0x2069))
    func `No mark that turns the direction of writing stays`(_ value: UInt32) throws {
        let mark = String(try #require(Unicode.Scalar(value)))
        #expect(PersonName.fullName(.string("Ana" + mark + "moc.live")) == "Anamoc.live")
        #expect(PersonName.fullName(.string(mark)) == nil)
    }

    @Test func `No control character stays, whichever it is`() {
        for value in Array(UInt32(0)...0x1F) + Array(0x7F...0x9F) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let name = PersonName.fullName(.string("a\(scalar)b"))
            #expect(name == ([0x09, 0x0A, 0x0D].contains(value) ? "a b" : "ab"))
        }
    }

    @Test(arguments: ["\u{200B}", "\u{2060}\u{FEFF}", "\u{AD}", "\u{3164}", "\u{200D} \u{200D}", "\u{E0041}"])
    func `A text of which nothing can be seen is no name`(_ text: String) {
        #expect(PersonName.fullName(.string(text)) == nil)
        #expect(PersonName.fullName(["givenName": .string(text), "familyName": "Pérez"]) == "Pérez")
    }

    @Test func `A name has 200 scalars at most, as a whole and in each part`() {
        func count(_ json: JSON) -> Int? { PersonName.fullName(json)?.unicodeScalars.count }
        func letters(_ count: Int) -> JSON { .string(String(repeating: "ñ", count: count)) }
        #expect(count(letters(199)) == 199)
        #expect(count(letters(200)) == 200)
        #expect(count(letters(201)) == 200)
        #expect(count(["givenName": letters(150), "familyName": letters(150)]) == 200)
        #expect(count(.string(String(repeating: "e\u{301}", count: 150))) == 200)
        #expect(count(.string(String(repeating: " ", count: 300) + "Ana")) == 3)
        #expect(count(.string(String(repeating: "a", count: 199) + "  b")) == 199)
    }
}
