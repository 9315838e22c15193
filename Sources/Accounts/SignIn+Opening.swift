internal import AppleID
internal import JOSE

extension SignIn {
    /// A person whom Apple vouches for, and what their client said.
    struct Arrival {
        let identity: AppleIdentity
        /// What the client proved it with, and nobody can guess: the identity token, or the code that stands for one.
        let credential: ArraySlice<UInt8>
        let client: Client
        /// What must not have been used before.
        let marks: [Mark]
        /// What a retry has in common with the request whose answer was lost, where the credential is good only once.
        let retryKey: [UInt8]?
    }

    /// Opens a session for a person, on the account that the store finds for them or on a new one.
    ///
    /// - Parameter isFirst: whether a kept answer is looked for. It is not when the key that sealed it is gone: nobody stays
    ///   outside for that. Nor when its session has ended: a retry brings back no session that somebody has left.
    func open(
        _ arrival: Arrival, origin: AuditEntry.Origin, at now: UnixTime, isFirst: Bool = true
    ) throws(SignInFailure) -> SignedIn {
        let draft: SessionDraft
        do throws(CryptographyError) {
            draft = try SessionDraft(using: cryptography, at: now)
        } catch {
            throw .cryptography(error)
        }
        let repetition = repetition(of: arrival)
        var result: Result<SignedIn, SignInFailure> = .failure(.accountDisabled)
        let opening = { (known: Account?) -> Opening? in
            // Who may not come in changes nothing by knocking.
            if let known, known.isDisabled {
                result = .failure(.accountDisabled)
                return Opening(account: known, session: nil, audit: [refused(known, "disabled", origin, at: now)])
            }
            let (account, events) = arriving(arrival, as: known, newID: draft.accountID, at: now)
            var audit = events.map { AuditEntry($0, of: account, origin: origin, at: now) }
            let session = draft.session(
                of: account, clientID: arrival.identity.audience, client: arrival.client, policy: policy.sessions,
                using: cryptography)
            audit.append(AuditEntry(.signedIn, of: account, session: session.id, origin: origin, at: now))
            do throws(CryptographyError) {
                let signedIn = SignedIn(
                    account: account, isNew: known == nil, clientID: arrival.identity.audience, sessionID: session.id,
                    tokens: try issuer.tokens(
                        for: session, refreshToken: draft.refreshToken, id: draft.tokenID, at: now))
                result = .success(signedIn)
                return Opening(
                    account: account, session: session, audit: audit,
                    receipt: try repetition?.receipt(for: signedIn, at: now))
            } catch {
                result = .failure(.cryptography(error))
                return nil
            }
        }
        let outcome: SignInOutcome
        do throws(StoreError) {
            outcome = try users.signIn(
                lookup(of: arrival.identity), since: latestDeparture(before: arrival.identity),
                repeating: isFirst ? repetition?.name : nil, once: arrival.marks, at: now, opening)
            if case .repeated(let receipt) = outcome, let answer = repetition?.signedIn(from: receipt, at: now),
                try users.session(answer.sessionID) != nil
            {
                return answer
            }
            if case .departed = outcome { try audit(tokenOfBefore: arrival.identity, origin, at: now) }
        } catch {
            throw .store(error)
        }
        switch outcome {
        case .done, .nothing: return try result.get()
        case .spent: throw .spent
        case .departed: throw .verification(.refused(.tooOld))
        case .repeated: return try open(arrival, origin: origin, at: now, isFirst: false)
        }
    }

    /// Somebody came with a token of before the person left, who is here again: it may be in other hands.
    private func audit(
        tokenOfBefore identity: AppleIdentity, _ origin: AuditEntry.Origin, at now: UnixTime
    ) throws(StoreError) {
        _ = try users.change(account: .appleSubject(identity.subject), once: nil, at: now) { known, _ in
            .update(known, audit: [refused(known, "too_old", origin, at: now)])
        }
    }

    private func refused(
        _ known: Account, _ reason: String, _ origin: AuditEntry.Origin, at now: UnixTime
    ) -> AuditEntry {
        AuditEntry(.signInRefused, of: known, reason: reason, origin: origin, at: now)
    }

    private func latestDeparture(before identity: AppleIdentity) -> Mark {
        Departure.mark(latestBefore: identity, leewaySeconds: verifier.policy.leewaySeconds, using: cryptography)
    }

    private func lookup(of identity: AppleIdentity) -> AppleLookup {
        var lookup = AppleLookup(subject: identity.subject, transferSubject: identity.transferSubject)
        if policy.linksVerifiedEmail, let email = identity.email, email.isVerified == true, !email.isPrivate {
            lookup.verifiedEmail = email.address
        }
        return lookup
    }

    /// The account as it is from now on, and what the audit says of how it came to be so.
    private func arriving(
        _ arrival: Arrival, as known: Account?, newID: UUIDv7, at now: UnixTime
    ) -> (Account, [AuditEntry.Event]) {
        let identity = arrival.identity
        let profile = Profile(
            fullName: arrival.client.fullName, email: identity.email,
            contactEmail: identity.email == nil ? arrival.client.email : nil)
        guard let known else {
            let account = Account(
                id: newID, appleSubject: identity.subject, profile: profile, createdAt: now, updatedAt: now)
            return (account, [.accountCreated])
        }
        var account = known.learning(profile, at: now)
        var events: [AuditEntry.Event] = []
        if known.appleSubject?.isIdentical(to: identity.subject) != true {
            account = account.bound(to: identity.subject, at: now)
            events.append(known.appleSubject == nil ? .accountLinked : .accountTransferred)
        }
        if account.consentRevokedAt != nil {
            account.consentRevokedAt = nil
            events.append(.consentRestored)
        }
        return (account, events)
    }

    private func repetition(of arrival: Arrival) -> Idempotency? {
        let (key, seconds): ([UInt8], Int64)
        if let name = arrival.client.idempotencyKey {
            (key, seconds) = (Array(name.utf8), Idempotency.namedSeconds)
        } else if let retryKey = arrival.retryKey, policy.sessions.graceSeconds > 0 {
            (key, seconds) = (retryKey, policy.sessions.graceSeconds)
        } else {
            return nil
        }
        return Idempotency(
            key: key, credential: arrival.credential, seconds: seconds, keys: keys, cryptography: cryptography)
    }
}
