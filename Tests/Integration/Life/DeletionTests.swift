#if SQLite
import Foundation
import TestSupport
import Testing

/// Codes, deletion and the outbox through the program itself, against the simulator: each request a process of its own.
@Suite struct DeletionTests {
    @Test func aCodeIsExchangedAndTheDeletionRevokesIt() throws {
        try LifeSite.run { life in
            let first = try life.signIn("ana", ["full_name": "Ana"])
            #expect(first.status == 201 && first.reason("apple_exchange") == "kept", "\(first.log)")
            #expect(first.errand("apple_exchange")?["sub_hash"] as? String == first.log[0]["sub_hash"] as? String)
            #expect(try life.grants(first.accountID) == 1)
            let second = try life.signIn("ana")
            #expect(second.status == 200 && second.reason("apple_exchange") == "kept")
            #expect(try life.grants(first.accountID) == 1, "one a person and client")

            let deleted = try life.delete(second.accessToken)
            #expect(deleted.status == 204 && deleted.text.isEmpty)
            #expect(deleted.reason("apple_revoke") == "revoked", "\(deleted.log)")
            #expect(try life.requests("/auth/revoke") == 1)
            #expect(try life.site.run("accounts", "show", first.accountID).status == 66)
            #expect(try life.site.run("outbox", "show").text == "The outbox is empty.\n")
            for token in [first.accessToken, second.accessToken] {
                #expect(try life.delete(token).status == 401)
            }
            // The person is a new one, to Apple as well: it says the name again.
            let person = try life.person("ana")
            #expect(person["user"] as? [String: Any] != nil)
            let again = try life.site.send(LifeSite.event(person))
            #expect(again.status == 201 && again.accountID != first.accountID)
        }
    }

    /// Who had got hold of a token undid the deletion with it.
    @Test(arguments: ["person", "operator", "apple"])
    func noTokenOfBeforeTheDeletionMakesThePersonAnew(_ deleter: String) throws {
        try LifeSite.run { life in
            let sub = "001.deleted.\(deleter)"
            let old = try life.site.event(token: life.site.token("--subject", sub, "--issued-at", "-3600"))
            let first = try life.site.send(old)
            #expect(first.status == 201)
            switch deleter {
            case "person": #expect(try life.delete(first.accessToken).status == 200)
            case "operator": #expect(try life.site.run("accounts", "delete", first.accountID).status == 0)
            default:
                let event = try life.notification("--type", "account-delete", "--sub", sub)
                #expect(try life.site.send(event).status == 200)
            }
            for _ in 0..<2 {
                let late = try life.site.send(old)
                #expect(late.status == 401 && late.body["code"] as? String == "invalid_token", "\(late.text)")
                #expect(late.log[0]["reason"] as? String == "too_old")
            }
            #expect(try life.site.run("check").text.contains("0 accounts, 0 sessions"))
            let fresh = try life.site.send(life.site.event(token: life.site.token("--subject", sub)))
            #expect(fresh.status == 201 && fresh.accountID != first.accountID)
            // Nor is the person who is back reached by it.
            #expect(try life.site.send(old).status == 401)
            #expect(try life.events(fresh.accountID) == ["account_created", "signed_in", "sign_in_refused"])
        }
    }

    @Test func anExchangeThatFailsIsNoLoginsFaultAndTheNextMakesUpForIt() throws {
        try LifeSite.run { life in
            try life.fail("/auth/token", status: 503)
            let first = try life.signIn()
            #expect(first.status == 201 && first.reason("apple_exchange") == "apple_status", "\(first.log)")
            #expect(first.errand("apple_exchange")?["detail"] as? String == "status 503")
            #expect(try life.grants(first.accountID) == 0)
            try life.repair()
            // A code of somebody else's, slipped into a sign-in whose token names none.
            let (ana, luis) = (try life.person("ana"), try life.person("luis"))
            let token = try life.site.token("--subject", ana["sub"] as? String ?? "", "--without", "c_hash")
            let mixed = try life.site.send(
                LifeSite.event(["identity_token": token, "code": luis["code"] ?? ""]))
            #expect(mixed.status == 200 && mixed.reason("apple_exchange") == "code_of_another_person", "\(mixed.log)")
            #expect(try life.grants(first.accountID) == 0)
            #expect(try life.signIn().reason("apple_exchange") == "kept")
            #expect(try life.grants(first.accountID) == 1)
        }
    }

    @Test func aCodeThatIsNotTheTokensIsRefusedOrDropped() throws {
        try LifeSite.run { life in
            let (ana, luis) = (try life.person("ana"), try life.person("luis"))
            let event = try LifeSite.event(ana, ["authorization_code": luis["code"] ?? ""])
            let refused = try life.site.send(event)
            #expect(refused.status == 401 && refused.body["code"] as? String == "invalid_token")
            #expect(refused.log.count == 1 && refused.log[0]["reason"] as? String == "code_mismatch")
            life.site.environment["AUTH_APPLE_CODE_MISMATCH"] = "ignore"
            let dropped = try life.site.send(event)
            #expect(dropped.status == 201 && dropped.log[0]["reason"] as? String == "code_dropped")
            #expect(dropped.log.count == 1, "nothing was asked of Apple: \(dropped.log)")
            #expect(try life.requests("/auth/token") == 0)
        }
    }

    @Test func whenAppleIsDownTheDeletionStandsAndTheOutboxTellsItLater() throws {
        try LifeSite.run { life in
            let people = try ["ana", "luis", "mei"].map { try life.signIn($0) }
            try life.fail("/auth/revoke")
            for person in people {
                let deleted = try life.delete(person.accessToken)
                #expect(deleted.status == 204 && deleted.reason("apple_revoke") == "apple_no_answer", "\(deleted.log)")
                #expect(try life.site.run("accounts", "show", person.accountID).status == 66)
            }
            let shown = try life.site.run("outbox", "show").text
            #expect(shown.hasPrefix("3 waiting, ") && people.allSatisfy { shown.contains($0.accountID) }, "\(shown)")

            try life.letOutboxPass(seconds: 3600)
            let down = try life.site.run("outbox", "run")
            #expect(down.status == 75 && down.text.contains("Revoked 0 at Apple, 1 failed; 3 waiting."), "\(down.text)")

            // Two timers at once: each entry goes to one of them.
            try life.repair()
            try life.letOutboxPass(seconds: 3600)
            let before = try life.requests("/auth/revoke")
            let ran = try Ran(
                "/bin/sh", "-c", "seq 2 | xargs -P 2 -I{} auth-apple outbox run", environment: life.site.environment)
            #expect(ran.status == 0, "\(ran.text)")
            #expect(try life.requests("/auth/revoke") == before + 3)
            #expect(try life.site.run("outbox", "show").text == "The outbox is empty.\n")
            let none = try life.site.run("outbox", "run")
            #expect(none.status == 0 && none.text.hasPrefix("Revoked 0 at Apple, 0 failed; 0 waiting."))
        }
    }

    @Test func whenAppleIsBackTheNextSignInTellsItOfOldDeletions() throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            try life.fail("/auth/revoke", status: 500)
            #expect(try life.delete(ana.accessToken).reason("apple_revoke") == "apple_status")
            try life.repair()
            try life.letOutboxPass(seconds: 60)
            let luis = try life.signIn("luis")
            #expect(luis.reason("apple_exchange") == "kept" && luis.reason("apple_revoke") == "revoked", "\(luis.log)")
            #expect(try life.site.run("outbox", "show").text == "The outbox is empty.\n")
        }
    }

    @Test func credentialsThatAppleDoesNotKnowKeepTheEntryAndSayWhatToDo() throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            life.site.environment["AUTH_APPLE_KEY_ID"] = "WRONG12345"
            let deleted = try life.delete(ana.accessToken)
            #expect(deleted.status == 204 && deleted.reason("apple_revoke") == "apple_invalid_client")
            let remedy = deleted.errand("apple_revoke")?["remedy"] as? String
            #expect(remedy?.contains("AUTH_APPLE_KEY_ID") == true)
            let checked = try life.site.run("check")
            #expect(
                checked.status == 78 && checked.text.contains("Apple does not know us by it (apple_invalid_client)"))
            #expect(checked.text.contains("1 to be revoked at Apple"))
            life.site.environment["AUTH_APPLE_KEY_ID"] = LifeSite.keyID
            try life.letOutboxPass(seconds: 60)
            #expect(try life.site.run("outbox", "run").status == 0)
            let good = try life.site.run("check")
            #expect(good.status == 0 && good.text.contains("Apple knows the team and its key"), "\(good.text)")
        }
    }

    @Test func whoseTokenIsNotHeldIsToldHowToRevokeByHand() throws {
        try LifeSite.run { life in
            for (language, phrase) in [("es", "Ajustes"), ("en", "Settings")] {
                let signedIn = try life.site.send(
                    life.site.event(token: life.site.token("--subject", "001.by-hand.\(language)")))
                let deleted = try life.delete(signedIn.accessToken, language: language)
                #expect(deleted.status == 200 && deleted.body["code"] as? String == "revoke_by_hand")
                #expect((deleted.body["detail"] as? String)?.contains(phrase) == true)
                #expect((deleted.body["url"] as? String) == "https://account.apple.com")
                #expect(deleted.log.count == 1)
                #expect(try life.site.run("accounts", "show", signedIn.accountID).status == 66)
            }
        }
    }

    @Test func aSessionThatIsTooOldHasToSignInAgain() throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            try life.execute("UPDATE sessions SET created_at = created_at - 601000")
            let old = try life.delete(ana.accessToken)
            #expect(old.status == 403 && old.body["code"] as? String == "reauthentication_required")
            #expect(
                old.headers["www-authenticate"]
                    == #"Bearer error="insufficient_user_authentication", max_age="600""#)
            #expect(try life.site.run("accounts", "show", ana.accountID).status == 0)
            #expect(try life.delete(life.signIn("ana").accessToken).status == 204)
        }
    }

    @Test func whatTheOperatorDeletesIsRevokedByTheTimer() throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            let ran = try life.site.run("accounts", "delete", ana.accountID)
            #expect(ran.status == 0 && ran.text.contains("1 to be revoked at Apple by: auth-apple outbox run"))
            #expect(try life.requests("/auth/revoke") == 0)
            let told = try life.site.run("outbox", "run")
            #expect(told.status == 0 && told.text.contains("Revoked 1 at Apple, 0 failed; 0 waiting."))
            #expect(try life.requests("/auth/revoke") == 1)
            life.site.environment["AUTH_APPLE_TEAM_ID"] = nil
            let unset = try life.site.run("outbox", "run")
            #expect(unset.status == 78 && unset.text.contains("AUTH_APPLE_TEAM_ID is not set"))
        }
    }

    @Test func checkSaysWhatIsOnWhatIsOffAndHowToTurnItOn() throws {
        let site = try FunctionSite()
        for name in ["NOTIFICATIONS", "DELETION_SESSION_SECONDS"] { site.environment["AUTH_APPLE_\(name)"] = nil }
        let off = try site.run("check")
        #expect(off.status == 0, "what is off is no fault")
        let lines = off.text.split(separator: "\n").filter { $0.hasPrefix("off ") }
        for (subject, variable) in [
            ("Apple's API", "AUTH_APPLE_TEAM_ID"), ("deletion", "AUTH_APPLE_DELETION_SESSION_SECONDS=600"),
            ("notifications", "AUTH_APPLE_NOTIFICATIONS=true"), ("one-time tokens", "AUTH_APPLE_ONE_TIME_TOKENS=true"),
        ] { #expect(lines.contains { $0.contains("  \(subject) ") && $0.contains(variable) }, "\(off.text)") }
        site.environment["AUTH_APPLE_DELETION_SESSION_SECONDS"] = "600"
        #expect(try site.run("check").text.contains("people are told to revoke at Apple by hand"))

        try LifeSite.run { life in
            life.site.environment["AUTH_APPLE_ONE_TIME_TOKENS"] = "true"
            let on = try life.site.run("check")
            #expect(on.status == 0 && !on.text.contains("off "), "\(on.text)")
            #expect(on.text.contains("com.example.app: Apple knows the team and its key"))
            #expect(on.text.contains("2026-11 seals, 1 open"))
            #expect(try life.requests("/auth/token", status: 400) == 2, "a code that never was, for each audience")
            try life.fail("/auth/token", status: 503)
            let down = try life.site.run("check")
            #expect(down.status == 78 && down.text.contains("no usable answer (apple_status, status 503)"))
        }
    }

    @Test func manyDeletionsAtOnceDeleteOnce() throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            let answers = try life.site.atOnce(Array(repeating: LifeSite.deletion(ana.accessToken), count: 4))
            #expect(answers.map(\.status).sorted() == [204, 401, 401, 401])
            #expect(try life.requests("/auth/revoke") == 1)
        }
    }

    @Test func keysAreRotatedAndEverythingIsSealedUnderTheNewOne() throws {
        try LifeSite.run { life in
            let (ana, luis) = (try life.signIn("ana"), try life.signIn("luis"))
            try life.fail("/auth/revoke")
            _ = try life.delete(luis.accessToken)
            let file = life.site.folder.appending(path: "encryption-keys").path()
            let old = try String(contentsOfFile: file, encoding: .utf8)
            let new = "2027-01:" + String(repeating: "N", count: 42) + "A"
            try LifeSite.write("\(new),\(old)", to: file)
            let resealed = try life.site.run("keys", "reseal")
            #expect(resealed.status == 0 && resealed.text.hasPrefix("Sealed 2 token(s) anew under 2027-01; 0 had"))
            #expect(try life.site.run("keys", "reseal").text.hasPrefix("Sealed 0 token(s) anew under 2027-01; 2 had"))
            // The old key is not needed any more.
            try LifeSite.write(new, to: file)
            try life.repair()
            try life.letOutboxPass(seconds: 60)
            #expect(try life.site.run("outbox", "run").text.contains("Revoked 1 at Apple, 0 failed; 0 waiting."))
            #expect(try life.delete(ana.accessToken).reason("apple_revoke") == "revoked")

            let mei = try life.signIn("mei")
            try LifeSite.write(old, to: file)
            let lost = try life.site.run("keys", "reseal")
            #expect(lost.status == 65 && lost.text.contains("\(mei.accountID)  com.example.app  cannot be opened"))
            let deleted = try life.delete(mei.accessToken)
            #expect(deleted.status == 204 && deleted.reason("apple_revoke") == "cannot_be_opened")
        }
    }
}
#endif
