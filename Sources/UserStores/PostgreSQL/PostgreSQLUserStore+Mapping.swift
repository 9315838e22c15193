#if PostgreSQL
internal import Accounts
internal import AppleID
internal import JOSE

/// Whether the owner's statements keep the contract of `AccountQueries`: first what the server says of their parameters and
/// columns, then an account that is inserted, found, changed and deleted in a transaction that is taken back.
extension PostgreSQLUserStore {
    /// Returns what is to be said of the mapping: that it is good, and what it does not keep.
    func checkMapping(
        _ queries: AccountQueries, _ connection: PostgreSQLConnection, until limit: TimeLimit
    ) throws(PostgreSQLFailure) -> String {
        for purpose in AccountQueries.Purpose.allCases {
            guard let text = queries.texts[purpose] else { continue }
            try checkForm(purpose, text, connection, until: limit)
        }
        let settings = SQLStatement.settings(schema: location.schema, .synced, limit.leftForServer)
        _ = try connection.run([.begin, settings], until: limit)
        let result: Result<[String], PostgreSQLFailure>
        do throws(PostgreSQLFailure) {
            result = .success(try tryOut(queries, connection, until: limit))
        } catch {
            result = .failure(error)
        }
        _ = try connection.run([.rollBack], until: limit)
        let lost = try result.get()
        return "the users table is yours\(lost.isEmpty ? "" : " and does not keep \(lost.joined(separator: ", "))")"
    }

    private func checkForm(
        _ purpose: AccountQueries.Purpose, _ text: String, _ connection: PostgreSQLConnection, until limit: TimeLimit
    ) throws(PostgreSQLFailure) {
        let settings = SQLStatement.settings(schema: location.schema, .synced, limit.leftForServer)
        _ = try connection.run([.begin, settings], until: limit)
        let form: (parameters: [UInt32], columns: [SQLRows.Column])
        do throws(PostgreSQLFailure) {
            form = try connection.describe(text, parameters: purpose.parameters, until: limit)
        } catch {
            if case .state(let state) = error, !error.isOfConnection {
                throw .mapping(purpose, "is refused by the server (SQLSTATE \(state)): run it in psql")
            }
            throw error
        }
        _ = try connection.run([.rollBack], until: limit)
        guard form.parameters == purpose.parameters else {
            throw .mapping(purpose, "wants other parameters than \(purpose.parameters.count), or of other types")
        }
        if purpose.isFinding {
            // The server tells nobody whether a statement holds rows.
            guard text.lowercased().holds("for update") || text.lowercased().holds("for no key update") else {
                throw .mapping(purpose, "does not hold the row: end it with FOR UPDATE")
            }
        }
        guard purpose.isFinding || purpose == .list else {
            guard purpose != .insert || form.columns.contains(where: { $0.name == "id" }) else {
                throw .mapping(purpose, "gives no column id: end it with RETURNING id")
            }
            return
        }
        for column in AccountQueries.Column.allCases {
            let found = form.columns.filter { $0.name == column.rawValue }
            guard found.count == 1 else {
                throw .mapping(purpose, "must give one column \(column.rawValue), and gives \(found.count)")
            }
            let isText = column.typeID == SQLParameter.TypeID.text && found[0].typeID == SQLParameter.TypeID.varchar
            guard found[0].typeID == column.typeID || isText else {
                throw .mapping(purpose, "gives \(column.rawValue) in another type than \(column.typeName): cast it")
            }
        }
    }

    /// Returns the columns that came back otherwise than they were written, and may.
    private func tryOut(
        _ queries: AccountQueries, _ connection: PostgreSQLConnection, until limit: TimeLimit
    ) throws(PostgreSQLFailure) -> [String] {
        let run = {
            (purpose: AccountQueries.Purpose, parameters: [SQLParameter]) throws(PostgreSQLFailure) -> [Account] in
            do throws(PostgreSQLFailure) {
                guard let statement = queries.statement(purpose, parameters) else { return [] }
                let rows = try connection.run([statement], until: limit)[0]
                guard purpose.isFinding || purpose == .list else { return [] }
                return try rows.all.map { row throws(PostgreSQLFailure) in try row.account() }
            } catch {
                if case .state(let state) = error, !error.isOfConnection {
                    throw .mapping(purpose, "fails when it is tried (SQLSTATE \(state))")
                }
                throw error
            }
        }
        let subject = "auth-apple check \(UInt64.random(in: 0...UInt64.max))"
        let first = Account.trial(subject: subject)
        _ = try run(.insert, first.parameters)
        guard let inserted = try run(.findByID, [.uuid(first.id)]).first, inserted.id == first.id else {
            throw .mapping(.findByID, "does not find what insert.sql inserted")
        }
        guard try run(.findByAppleSubject, [.text(subject)]).map(\.id) == [first.id] else {
            throw .mapping(.findByAppleSubject, "does not find what insert.sql inserted")
        }
        let before = UUIDv7(
            at: UnixTime(milliseconds: first.createdAt.milliseconds - 1), random: Array(repeating: 0, count: 10))
        guard try run(.list, [.uuid(before), .integer(1_000_000)]).contains(where: { $0.id == first.id }) else {
            throw .mapping(.list, "does not list what insert.sql inserted")
        }
        let changed = first.changedForTrial(subject: subject + " again")
        _ = try run(.update, changed.parameters)
        guard let updated = try run(.findByID, [.uuid(first.id)]).first else {
            throw .mapping(.findByID, "does not find what update.sql changed")
        }
        guard updated.appleSubject == changed.appleSubject else { throw .mapping(.update, "does not keep apple_sub") }
        guard updated.disabledAt == changed.disabledAt else { throw .mapping(.update, "does not keep disabled_at") }
        guard try run(.findByAppleSubject, [.text(subject)]).isEmpty else {
            throw .mapping(.findByAppleSubject, "finds an account by a sub that it had before")
        }
        // Whom it must not link is the program's own affair; but it must see everybody, or two may look like one.
        if let email = changed.profile.email, queries.texts[.findByVerifiedEmail] != nil {
            guard try run(.findByVerifiedEmail, [.text(email.address)]).contains(where: { $0.id == first.id }) else {
                throw .mapping(
                    .findByVerifiedEmail, "must give every account with the address, whether it may be linked or not")
            }
        }
        _ = try run(.delete, [.uuid(first.id)])
        guard try run(.findByID, [.uuid(first.id)]).isEmpty else {
            throw .mapping(.delete, "leaves an account that find_by_id.sql still finds")
        }
        return zip(AccountQueries.Column.allCases, zip(changed.parameters, updated.parameters)).compactMap {
            column, pair in
            pair.0.encoded == pair.1.encoded ? nil : column.rawValue
        }
    }
}

extension PostgreSQLFailure {
    fileprivate static func mapping(_ purpose: AccountQueries.Purpose, _ fault: String) -> PostgreSQLFailure {
        .unusable("AUTH_APPLE_ACCOUNT_QUERIES: \(purpose.rawValue).sql \(fault)")
    }
}

extension AccountQueries.Column {
    fileprivate var typeName: String {
        switch typeID {
        case SQLParameter.TypeID.uuid: "uuid"
        case SQLParameter.TypeID.bool: "boolean"
        case SQLParameter.TypeID.time: "timestamptz"
        default: "text"
        }
    }
}

extension Account {
    /// Nobody. Its address is of a name that no mail goes to (RFC 2606 §2).
    fileprivate static func trial(subject: String) -> Account {
        let time = UnixTime(seconds: 1_700_000_000)
        return Account(
            id: UUIDv7(at: time, random: (0..<10).map { _ in UInt8.random(in: 0...255) }), appleSubject: subject,
            profile: Profile(
                email: AppleEmail(address: "check@auth-apple.invalid", isVerified: true, isPrivate: false)),
            createdAt: time, updatedAt: time)
    }

    /// The same with everything that came later, as it may be that the first answer was lost.
    fileprivate func changedForTrial(subject: String) -> Account {
        let later = createdAt.adding(seconds: 60)
        var account = bound(to: subject, at: later)
        account = account.learning(
            Profile(fullName: "auth-apple check", contactEmail: "contact@auth-apple.invalid"), at: later)
        account.transferSubject = subject + " moving"
        account.disabledAt = later
        account.consentRevokedAt = later.adding(seconds: 1)
        account.forwarding = EmailForwarding(isOn: false, since: later.adding(seconds: 2))
        return account
    }
}
#endif
