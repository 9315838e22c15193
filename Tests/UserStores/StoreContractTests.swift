import Accounts
import AppleID
import JOSE
import Testing
import UserStores

/// What every store must keep, whatever it is made of.
@Suite struct StoreContractTests {
    @Test(arguments: StoreUnderTest.all)
    func theFirstSignInInsertsAndTheSecondFinds(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let email = AppleEmail(address: "x@privaterelay.appleid.com", isVerified: true, isPrivate: true)
            let first = try store.signIn(person("1", Profile(fullName: "Ana", email: email))) { login(of: $0) }
            let second = try store.signIn(person("1", at: noon.adding(seconds: 60))) { login(of: $0) }
            #expect(first.isNew)
            #expect(!second.isNew)
            #expect(second.account == first.account)
            #expect(second.session.accountID == first.account.id)
            #expect(second.session.id != first.session.id)
            #expect(try store.account(first.account.id) == first.account)
            #expect(try store.session(first.session.id)?.0 == first.session)
            #expect(try store.session(second.session.id)?.0 == second.session)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func theSessionIsMadeForTheAccountThatTheStoreHolds(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let first = try store.signIn(person("1")) { login(of: $0) }
            var given: UUIDv7?
            _ = try store.signIn(person("1")) { account in
                given = account.id
                return login(of: account)
            }
            #expect(given == first.account.id)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func nothingNeverOverwritesSomethingAndTheEmptyIsFilledLater(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let later = noon.adding(seconds: 60)
            let email = AppleEmail(address: "ana@example.com", isVerified: nil, isPrivate: false)
            let first = try store.signIn(person("1", Profile(contactEmail: "c@example.com"))) { login(of: $0) }
            let filled = try store.signIn(person("1", Profile(fullName: "Ana", email: email), at: later)) {
                login(of: $0)
            }
            #expect(filled.account.profile == Profile(fullName: "Ana", email: email, contactEmail: "c@example.com"))
            #expect(filled.account.updatedAt == later)
            #expect(filled.account.createdAt == first.account.createdAt)
            let kept = try store.signIn(person("1", Profile(fullName: "Eva"), at: later.adding(seconds: 60))) {
                login(of: $0)
            }
            #expect(kept.account == filled.account)
            #expect(try store.account(first.account.id) == filled.account)
        }
    }

    @Test(arguments: StoreUnderTest.all, [true, false, nil] as [Bool?])
    func whatAppleSaysOfAnAddressIsKept(_ subject: StoreUnderTest, isVerified: Bool?) throws {
        try subject.withStore { store in
            for isPrivate in [true, false] {
                let email = AppleEmail(address: "a@example.com", isVerified: isVerified, isPrivate: isPrivate)
                let made = try store.signIn(person("\(isPrivate)", Profile(email: email))) { login(of: $0) }
                #expect(try store.account(made.account.id)?.profile.email == email)
            }
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func oneAddressUnderTwoSubjectsIsTwoAccounts(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let profile = Profile(email: AppleEmail(address: "a@example.com", isVerified: true, isPrivate: false))
            let one = try store.signIn(person("1", profile)) { login(of: $0) }
            let two = try store.signIn(person("2", profile)) { login(of: $0) }
            #expect(one.isNew && two.isNew)
            #expect(one.account.id != two.account.id)
        }
    }

    /// Swift's `==` holds the first two equal, and some databases fold case or trailing blanks.
    @Test(arguments: StoreUnderTest.all)
    func subjectsAreComparedByTheirBytes(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            for spelling in ["\u{E9}", "e\u{301}", "a", "A", "a ", "a\0", "a\0b", "0", "00", "0.0", "%", "_"] {
                let made = try store.signIn(person(spelling)) { login(of: $0) }
                #expect(made.isNew, "\(Array(spelling.utf8))")
            }
            #expect(try !store.signIn(person("a\0b")) { login(of: $0) }.isNew)
        }
    }

    @Test(
        arguments: StoreUnderTest.all,
        [
            String(repeating: "s", count: 255), String(repeating: "𝔘", count: 255), "a\0b\0", "\u{FEFF}x", "\u{202E}x",
            "'; DROP TABLE accounts; --", "\" OR 1=1 --", "?1", ":sub", "$1", "\\", "{\"S\":\"x\"}", "NULL",
        ])
    func textIsKeptByteForByte(_ subject: StoreUnderTest, text: String) throws {
        try subject.withStore { store in
            let email = AppleEmail(address: text, isVerified: true, isPrivate: false)
            let profile = Profile(fullName: String(text.prefix(200)), email: email, contactEmail: text)
            let made = try store.signIn(person(text, profile)) { account in
                login(of: account, on: .object([text: .string(text)]))
            }
            let account = try #require(try store.account(made.account.id))
            #expect(account.appleSubject.map { Array($0.utf8) } == Array(text.utf8))
            #expect(account.profile.fullName.map { Array($0.utf8) } == Array(text.prefix(200).utf8))
            #expect(account.profile.email.map { Array($0.address.utf8) } == Array(text.utf8))
            #expect(account.profile.contactEmail.map { Array($0.utf8) } == Array(text.utf8))
            #expect(try store.session(made.session.id)?.0.deviceInfo.json.text == made.session.deviceInfo.json.text)
            #expect(try !store.signIn(person(text)) { login(of: $0) }.isNew)
        }
    }

    /// An empty text is something, and is not the same as nothing.
    @Test(arguments: StoreUnderTest.all)
    func anEmptyTextComesBackEmpty(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1", Profile(fullName: "", contactEmail: ""))) { login(of: $0) }
            #expect(try store.account(made.account.id)?.profile == Profile(fullName: "", contactEmail: ""))
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func deviceInfoIsKeptAsItCame(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let text =
                #"{"z":1,"a":{"b":[null,true,-0,1e400,12345678901234567890,0.10]},"":"\u0000\b\/é😀","big":""#
                + String(repeating: "\\b", count: 1900) + #""}"#
            let device = try JSON(parsing: Array(text.utf8), limits: JSON.Limits(bytes: 4096))
            let made = try store.signIn(person("1")) { login(of: $0, on: device) }
            #expect(try store.session(made.session.id)?.0.deviceInfo.json.serialized() == device.serialized())
        }
    }

    @Test(arguments: StoreUnderTest.all, [nil, "", "Finnova/1.4 (iPhone; 𝔘) '; --"])
    func theUserAgentIsKeptAsItCame(_ subject: StoreUnderTest, userAgent: String?) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1")) { login(of: $0, userAgent: userAgent) }
            #expect(try store.session(made.session.id)?.0 == made.session)
            #expect(try store.session(made.session.id)?.0.userAgent == userAgent)
            #expect(try store.sessions(of: made.account.id, at: noon).map(\.userAgent) == [userAgent])
        }
    }

    /// A duplicate id means that the generator of random numbers is broken. No session is taken over then, and no account
    /// is left without its session.
    @Test(arguments: StoreUnderTest.all)
    func aSignInWhoseSessionCannotBeOpenedLeavesNothing(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let taken = try store.signIn(person("1")) { login(of: $0) }.session
            let candidate = person("2")
            #expect(throws: StoreError.self) {
                try store.signIn(candidate) { account in
                    Session(
                        id: taken.id, accountID: account.id, clientID: "com.example.app",
                        deviceInfo: DeviceInfo(stored: [:]), createdAt: noon, endsAt: noon,
                        refresh: RefreshState(salt: randomBytes(32), digest: randomBytes(32), expiresAt: noon),
                        lastUsedAt: noon)
                }
            }
            #expect(try store.session(taken.id)?.0 == taken)
            #expect(try store.account(candidate.id) == nil)
            #expect(try store.audit(of: candidate.id).isEmpty)
            #expect(try store.signIn(person("2")) { login(of: $0) }.isNew, "the store works on")
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aPurgeRemovesWhatHasExpiredAndNothingElse(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            // More than two of the batches in which it works, with long-lived ones in between.
            var short: [UUIDv7] = []
            var long: [UUIDv7] = []
            for index in 0..<(subject.bulk + 100) {
                let made = try store.signIn(person("\(index % 7)")) {
                    login(of: $0, at: noon.adding(seconds: Int64(index)), days: index % 3 == 0 ? 90 : 30)
                }
                if index % 3 == 0 { long.append(made.session.id) } else { short.append(made.session.id) }
            }
            #expect(try store.purge(before: noon).sessions == 0)
            let atTheFirst = noon.adding(seconds: 1 + 30 * 86400)
            #expect(try store.purge(before: UnixTime(milliseconds: atTheFirst.milliseconds - 1)).sessions == 0)
            #expect(try store.purge(before: atTheFirst).sessions == 1)
            #expect(try store.purge(before: noon.adding(seconds: 40 * 86400)).sessions == short.count - 1)
            #expect(try store.purge(before: noon.adding(seconds: 40 * 86400)).sessions == 0)
            for id in short { #expect(try store.session(id) == nil) }
            for id in long { #expect(try store.session(id) != nil) }
            #expect(try !store.signIn(person("0")) { login(of: $0) }.isNew, "accounts stay")
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func migratingAgainChangesNothing(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let first = try store.migrate()
            #expect(first.from == 0)
            let again = try store.migrate()
            #expect(again == SchemaChange(from: first.to, to: first.to))
            #expect(try store.signIn(person("1")) { login(of: $0) }.isNew)
            #expect(try store.migrate() == again)
            #expect(try store.check().contains("1 accounts, 1 sessions"))
        }
    }

    @Test(arguments: StoreUnderTest.shared)
    func whatWasAcknowledgedIsThereForTheNextProcess(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            let made = try UserStores.open(url).signIn(person("1", Profile(fullName: "Ana"))) { login(of: $0) }
            let again = try UserStores.open(url)
            #expect(try again.account(made.account.id) == made.account)
            #expect(try again.session(made.session.id)?.0 == made.session)
            #expect(try !again.signIn(person("1")) { login(of: $0) }.isNew)
        }
    }
}
