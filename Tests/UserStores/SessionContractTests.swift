import Accounts
import AppleID
import JOSE
import TestSupport
import Testing
import UserStores

/// What every store must keep of sessions.
@Suite struct SessionContractTests {
    @Test(arguments: StoreUnderTest.all)
    func aSessionIsGivenWithItsAccount(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1", Profile(fullName: "Ana"))) { login(of: $0) }
            _ = try store.signIn(person("2")) { login(of: $0) }
            let (session, account) = try #require(try store.session(made.session.id))
            #expect(session == made.session)
            #expect(account == made.account)
            #expect(try store.session(person("3").id) == nil)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func aChangedSessionIsReadBackAsItWasWritten(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1")) { login(of: $0) }
            let other = try store.signIn(person("1")) { login(of: $0) }.session
            var changed = made.session
            changed.lastUsedAt = noon.adding(seconds: 5)
            changed.refresh.digest = randomBytes(32)
            changed.refresh.expiresAt = noon.adding(seconds: 40 * 86_400)
            changed.refresh.previous = RefreshState.Previous(
                digest: made.session.refresh.digest, rotatedAt: noon.adding(seconds: 5), keyID: "key-1")
            try store.change(session: made.session.id) { session, account in
                #expect(session == made.session)
                #expect(account == made.account)
                return .update(changed)
            }
            #expect(try store.session(changed.id)?.0 == changed)
            changed.refresh.previous = nil
            try store.change(session: made.session.id) { _, _ in .update(changed) }
            #expect(try store.session(changed.id)?.0 == changed)
            #expect(try store.session(other.id)?.0 == other, "the other session is as it was")
        }
    }

    /// A store that remembers what it read would let a session live on that another process has ended.
    @Test(arguments: StoreUnderTest.shared)
    func aChangeSeesWhatAnotherStoreDidAMomentAgo(_ subject: StoreUnderTest) throws {
        try subject.withURL { url in
            let (one, two) = (try UserStores.open(url), try UserStores.open(url))
            let made = try one.signIn(person("1")) { login(of: $0) }
            var changed = made.session
            changed.refresh.digest = randomBytes(32)
            try two.change(session: changed.id) { _, _ in .update(changed) }
            var seen: Session?
            try one.change(session: changed.id) { session, _ in
                seen = session
                return .keep
            }
            #expect(seen == changed)
            try two.change(session: changed.id) { _, _ in .end(entry(.loggedOut, made.account.id)) }
            try one.change(session: changed.id) { _, _ in
                Issue.record("it has ended")
                return .update(changed)
            }
            #expect(try one.session(changed.id) == nil)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func whatIsKeptIsNotTouchedAndWhatIsUnknownIsNotAskedAbout(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1")) { login(of: $0) }
            let audit = try store.audit(of: made.account.id)
            try store.change(session: made.session.id) { _, _ in .keep }
            #expect(try store.session(made.session.id)?.0 == made.session)
            try store.change(session: person("2").id) { _, _ in
                Issue.record("there is no such session")
                return .keep
            }
            #expect(try store.audit(of: made.account.id) == audit)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func anEndedSessionIsGoneAndItsEndIsInTheAudit(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1")) { login(of: $0) }
            let other = try store.signIn(person("1")) { login(of: $0) }.session
            let end = entry(.loggedOut, made.account.id, session: made.session.id, at: noon.adding(seconds: 9))
            for _ in 0..<2 { try store.change(session: made.session.id) { _, _ in .end(end) } }
            #expect(try store.session(made.session.id) == nil)
            #expect(try store.session(other.id) != nil)
            #expect(try store.audit(of: made.account.id).filter { $0.event == .loggedOut } == [end])
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func theListHasWhatHasNotExpiredAndTheYoungestFirst(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            var sessions: [Session] = []
            for index in 0..<6 {
                sessions.append(
                    try store.signIn(person("1")) {
                        login(of: $0, at: noon.adding(seconds: Int64(index)), days: Int64(10 * (index + 1)))
                    }.session)
                _ = try store.signIn(person("2")) { login(of: $0) }
            }
            let account = sessions[0].accountID
            #expect(try store.sessions(of: account, at: noon) == sessions.reversed())
            #expect(try store.sessions(of: account, at: sessions[1].expiresAt) == sessions[2...].reversed())
            let before = UnixTime(milliseconds: sessions[1].expiresAt.milliseconds - 1)
            #expect(try store.sessions(of: account, at: before) == sessions[1...].reversed())
            #expect(try store.sessions(of: person("3").id, at: noon).isEmpty)
        }
    }

    /// The smaller of both ends counts.
    @Test(arguments: StoreUnderTest.all)
    func theAbsoluteEndEndsASessionThatIsStillUsed(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let made = try store.signIn(person("1")) { login(of: $0, days: 400) }
            let end = noon.adding(seconds: 365 * 86_400)
            #expect(made.session.expiresAt == end)
            #expect(try store.sessions(of: made.account.id, at: end.adding(seconds: -1)).count == 1)
            #expect(try store.sessions(of: made.account.id, at: end).isEmpty)
            #expect(try store.purge(before: end.adding(seconds: -1)).sessions == 0)
            #expect(try store.purge(before: end).sessions == 1)
        }
    }

    @Test(arguments: StoreUnderTest.all)
    func allSessionsButOneEndWithAnEntryEach(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let sessions = try (0..<5).map { _ in try store.signIn(person("1")) { login(of: $0) }.session }
            let stranger = try store.signIn(person("2")) { login(of: $0) }.session
            let account = sessions[0].accountID
            let end = { (session: Session) in entry(.sessionEnded, account, session: session.id) }
            #expect(try store.endSessions(of: account, except: sessions[2].id, audit: end) == 4)
            #expect(try store.sessions(of: account, at: noon) == [sessions[2]])
            let ended = try store.audit(of: account).filter { $0.event == .sessionEnded }
            #expect(Set(ended.compactMap(\.sessionID)) == Set(sessions.map(\.id)).subtracting([sessions[2].id]))
            #expect(ended.count == 4)
            #expect(try store.endSessions(of: account, except: nil, audit: end) == 1)
            #expect(try store.endSessions(of: account, except: nil, audit: end) == 0)
            #expect(try store.session(stranger.id)?.0 == stranger)
        }
    }

    /// The use case over the store: rotation, forgiveness, reuse.
    @Test(arguments: StoreUnderTest.all)
    func aRefreshTokenIsRotatedForgivenAndItsReuseEndsTheSession(_ subject: StoreUnderTest) throws {
        try subject.withStore { store in
            let service = TestService(users: store, policy: SessionPolicy(graceSeconds: 10))
            let made = try service.open("1", at: noon)
            let origin = TestService.origin
            let first = try service.sessions.refresh(made.token.text, origin: origin, at: noon).tokens.refreshToken
            let grace = noon.adding(seconds: 10)
            let again = try service.sessions.refresh(made.token.text, origin: origin, at: grace).tokens.refreshToken
            #expect(again == first)
            let second = try service.sessions.refresh(first, origin: origin, at: grace).tokens.refreshToken
            #expect(second != first)
            #expect(throws: SessionFailure.refused(.refreshReused)) {
                try service.sessions.refresh(made.token.text, origin: origin, at: grace)
            }
            #expect(throws: SessionFailure.refused(.sessionUnknown)) {
                try service.sessions.refresh(second, origin: origin, at: grace)
            }
            let last = try #require(try store.audit(of: made.account.id).last)
            #expect(last.event == .refreshReused && last.sessionID == made.session.id && last.origin == origin)
        }
    }
}
