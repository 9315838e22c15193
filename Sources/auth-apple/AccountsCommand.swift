internal import Accounts
internal import AppleID
internal import AuthFunction
internal import JOSE
internal import OpenSSLCrypto
internal import UserStores

/// `auth-apple accounts`: what the operator can see of an account, and do with it.
enum AccountsCommand {
    enum Action: String {
        case show, export, sessions, disable, enable, delete
    }

    static func run(_ action: Action, id text: String) -> Int32 {
        guard let id = UUIDv7(text) else {
            Descriptor.printError(
                "auth-apple: that is no account id; ids are written as in the sub of our access tokens")
            return ExitStatus.usage
        }
        return StoreCommand.withStore { store throws(StoreError) in
            switch action {
            case .show: try show(id, in: store)
            case .export: try PersonalData(of: id, in: store)?.json(time: \.rfc3339).text
            case .sessions: try sessions(of: id, in: store)
            case .disable: try change(id, in: store, .accountDisabled) { $0.disabledAt = $1 }
            case .enable: try change(id, in: store, .accountEnabled) { account, _ in account.disabledAt = nil }
            case .delete: try delete(id, in: store)
            }
        }
    }

    private static func show(_ id: UUIDv7, in store: any UserStore) throws(StoreError) -> String? {
        guard let account = try store.account(id) else { return nil }
        let profile = account.profile
        let email = profile.email.map { email in
            let isVerified =
                email.isVerified.map { $0 ? "verified" : "not verified" } ?? "Apple does not say if verified"
            return "\(email.address) (\(isVerified)\(email.isPrivate ? ", Hide My Email" : ""))"
        }
        return """
            account     \(account.id)
            Apple sub   \(account.appleSubject ?? "none")
            name        \(profile.fullName ?? "unknown")
            e-mail      \(email ?? "unknown")
            contact     \(profile.contactEmail ?? "none")
            created     \(account.createdAt.rfc3339)
            updated     \(account.updatedAt.rfc3339)
            mail        \(account.forwarding.map { "Apple's forwarding is \($0.isOn ? "on" : "off")" } ?? "no word from Apple")
            consent     \(account.consentRevokedAt.map { "revoked \($0.rfc3339)" } ?? "not revoked")
            state       \(account.disabledAt.map { "disabled since \($0.rfc3339)" } ?? "active")
            """
    }

    private static func sessions(of id: UUIDv7, in store: any UserStore) throws(StoreError) -> String? {
        guard try store.account(id) != nil else { return nil }
        let sessions = try store.sessions(of: id, at: System.now())
        guard !sessions.isEmpty else { return "no sessions" }
        return sessions.map { session in
            let device = ["name", "model", "platform"].compactMap {
                session.deviceInfo.json[$0]?.string.flatMap { Text.cleaned($0, maximumScalars: 40) }
            }
            return "\(session.id)  last used \(session.lastUsedAt.rfc3339)  \(device.joined(separator: ", "))"
        }.joined(separator: "\n")
    }

    private static func change(
        _ id: UUIDv7, in store: any UserStore, _ event: AuditEntry.Event, _ body: (inout Account, UnixTime) -> Void
    ) throws(StoreError) -> String? {
        let now = System.now()
        let outcome = try store.change(account: .id(id), once: nil, at: now) { account, sessions in
            var changed = account
            body(&changed, now)
            return .update(
                changed, ending: changed.isDisabled ? sessions : [], audit: [entry(event, of: id, at: now)])
        }
        return outcome == .noAccount ? nil : "done: \(event.rawValue)"
    }

    private static func delete(_ id: UUIDv7, in store: any UserStore) throws(StoreError) -> String? {
        let now = System.now()
        switch try store.change(
            account: .id(id), once: nil, at: now,
            { account, _ in
                let mark = Departure.mark(of: account, at: now, using: OpenSSLCryptography())
                return .delete(revoking: true, remembering: mark, entry(.accountDeleted, of: id, at: now))
            })
        {
        case .noAccount, .spent: return nil
        case .done(revocations: 0): return "done: account_deleted"
        case .done(let revocations):
            return "done: account_deleted; \(revocations) to be revoked at Apple by: auth-apple outbox run"
        }
    }

    private static func entry(_ event: AuditEntry.Event, of id: UUIDv7, at now: UnixTime) -> AuditEntry {
        AuditEntry(
            time: now, event: event, accountID: id, reason: "operator",
            origin: AuditEntry.Origin(requestID: "auth-apple accounts"))
    }
}
