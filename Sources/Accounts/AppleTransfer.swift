package import AppleID
package import JOSE

/// Moves the accounts when the app goes to another developer team (TN3159). The old team asks what each person is called on the
/// way, before or within 60 days after the app has gone; the new team asks who that is. Both can be done again and go on where
/// they were: what is done shows in the account.
///
/// A person who signs in on the way, by a token with `transfer_sub`, is moved by that (`SignIn`).
package struct AppleTransfer {
    private let server: AppleServer
    private let users: any UserRepository
    private let clientID: String
    private var bearer: AppleMigrationToken?

    package init(server: AppleServer, users: any UserRepository, clientID: String) {
        self.server = server
        self.users = users
        self.clientID = clientID
    }

    /// What came of one account.
    package enum Step: Equatable, Sendable {
        case done
        /// There was nothing to do.
        case skipped
        case failed(TransferFailure)
    }

    /// Whether `export` would ask Apple about the account.
    ///
    /// - Parameter again: also where a name is kept already, as of a move to another team that came to nothing.
    package static func isExportable(_ account: Account, again: Bool) -> Bool {
        account.appleSubject != nil && (again || account.transferSubject == nil)
    }

    /// Whether `import` would.
    package static func isImportable(_ account: Account) -> Bool { account.transferSubject != nil }

    /// Keeps the person's name on the way to `team`. For the old team.
    package mutating func export(
        _ account: Account, to team: String, again: Bool, at now: UnixTime
    ) throws(StoreError) -> Step {
        guard Self.isExportable(account, again: again), let subject = account.appleSubject else { return .skipped }
        let identifier: String
        do throws(AppleServerFailure) {
            identifier = try server.transferIdentifier(
                sub: subject, target: team, clientID: clientID, token: try token(at: now), at: now)
        } catch {
            return .failed(.apple(error))
        }
        var step = Step.skipped
        _ = try users.change(account: .id(account.id), once: nil, at: now) { current, _ in
            guard current.appleSubject?.isIdentical(to: subject) == true else { return .keep }
            step = .done
            var changed = current
            changed.transferSubject = identifier
            return .update(changed, audit: [])
        }
        return step
    }

    /// Binds the account to the person as this team knows them. For the new team.
    package mutating func `import`(
        _ account: Account, origin: AuditEntry.Origin, at now: UnixTime
    ) throws(StoreError) -> Step {
        guard let identifier = account.transferSubject else { return .skipped }
        let person: TransferredPerson
        do throws(AppleServerFailure) {
            person = try server.person(
                transferIdentifier: identifier, clientID: clientID, token: try token(at: now), at: now)
        } catch {
            return .failed(.apple(error))
        }
        if let holder = try holder(of: person.subject, at: now), holder != account.id {
            return .failed(.subjectTaken(by: holder))
        }
        var step = Step.skipped
        _ = try users.change(account: .id(account.id), once: nil, at: now) { current, _ in
            guard current.transferSubject?.isIdentical(to: identifier) == true else { return .keep }
            step = .done
            return .update(
                current.moved(to: person, at: now),
                audit: [AuditEntry(.accountTransferred, of: current, reason: "import", origin: origin, at: now)])
        }
        return step
    }

    private func holder(of subject: String, at now: UnixTime) throws(StoreError) -> UUIDv7? {
        var holder: UUIDv7?
        _ = try users.change(account: .appleSubject(subject), once: nil, at: now) { account, _ in
            holder = account.id
            return .keep
        }
        return holder
    }

    /// One for many requests, as long as it is good for the next.
    private mutating func token(at now: UnixTime) throws(AppleServerFailure) -> AppleMigrationToken {
        if let bearer, now.adding(seconds: 30) < bearer.expiresAt { return bearer }
        let fresh = try server.migrationToken(clientID: clientID, at: now)
        bearer = fresh
        return fresh
    }
}

extension Account {
    /// The relay's addresses change with the team; one that stays the same keeps what Apple said of it.
    fileprivate func moved(to person: TransferredPerson, at now: UnixTime) -> Account {
        let account = bound(to: person.subject, at: now)
        guard let email = person.email, profile.email?.address.isIdentical(to: email.address) != true else {
            return account
        }
        return account.learning(Profile(email: email), at: now)
    }
}

/// Why an account was not moved.
package enum TransferFailure: Error, Hashable, Sendable {
    case apple(AppleServerFailure)
    /// The person has an account under the new `sub` already; accounts are never merged.
    case subjectTaken(by: UUIDv7)

    /// Words for the operator, without anything personal.
    package var words: String {
        switch self {
        case .apple(let failure): failure.word + (failure.detail.map { " (\($0))" } ?? "")
        case .subjectTaken(let holder): "the person has another account under the new sub: \(holder)"
        }
    }

    /// Whether every other account would fail as well.
    package var concernsAll: Bool {
        switch self {
        case .apple(.unavailable), .apple(.refused(.invalidClient)), .apple(.refused(.unauthorizedClient)),
            .apple(.refused(.invalidScope)), .apple(.refused(.unsupportedGrantType)):
            true
        case .apple(.refused(.invalidRequest)), .apple(.refused(.invalidGrant)), .apple(.refused(.other)),
            .subjectTaken:
            false
        }
    }

    /// Whether waiting may help.
    package var isOutage: Bool {
        if case .apple(.unavailable) = self { true } else { false }
    }
}
