#if SQLite
import Foundation
import TestSupport
import Testing

/// Apple's notifications through the program itself.
@Suite struct NotificationTests {
    @Test func whoWithdrawsIsLoggedOutAndComesBackToTheSameAccount() throws {
        try LifeSite.run { life in
            let person = try life.person("ana")
            let ana = try life.site.send(LifeSite.event(person, ["full_name": "Ana"]))
            let sub = try #require(person["sub"] as? String)
            let told = try life.site.send(life.notification("--type", "consent-revoked", "--sub", sub))
            #expect(told.status == 200 && told.text == "{}", "\(told.text)")
            #expect(told.log[0]["reason"] as? String == "consent_revoked")
            #expect(told.log[0]["sub_hash"] as? String == ana.log[0]["sub_hash"] as? String)
            #expect(try life.grants(ana.accountID) == 0)
            #expect(try life.site.run("accounts", "sessions", ana.accountID).text == "no sessions\n")
            #expect(try life.site.run("accounts", "show", ana.accountID).text.contains("consent     revoked 2"))
            let again = try life.signIn("ana")
            #expect(again.status == 200 && again.accountID == ana.accountID)
            #expect(
                try life.events(ana.accountID) == [
                    "account_created", "signed_in", "session_ended", "consent_revoked", "consent_restored", "signed_in",
                ])
        }
    }

    @Test func anOldTokenDoesNotSignInWhoHasWithdrawn() throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            let sub = try #require(try life.person("ana")["sub"] as? String)
            let token = try life.site.token("--subject", sub, "--issued-at", "-3600")
            #expect(try life.site.send(life.site.event(token: token)).status == 200)
            #expect(try life.site.send(life.notification("--type", "consent-revoked", "--sub", sub)).status == 200)
            let late = try life.site.send(life.site.event(token: token))
            #expect(late.status == 401 && late.log[0]["reason"] as? String == "too_old", "\(late.text)")
            #expect(try life.site.run("accounts", "sessions", ana.accountID).text == "no sessions\n")
            #expect(try life.events(ana.accountID).last == "sign_in_refused")
            #expect(try life.signIn("ana").status == 200)
            // Whoever has it has it still when the person is back.
            #expect(try life.site.send(life.site.event(token: token)).status == 401)
            #expect(try life.events(ana.accountID).last == "sign_in_refused")
        }
    }

    @Test func theSameNotificationTwiceAtOnceHasOneEffect() throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            let sub = try #require(try life.person("ana")["sub"] as? String)
            let event = try life.notification("--type", "email-disabled", "--sub", sub)
            let answers = try life.site.atOnce(Array(repeating: event, count: 4))
            #expect(answers.allSatisfy { $0.status == 200 })
            #expect(
                answers.compactMap { $0.log[0]["reason"] as? String }.sorted() == [
                    "email_forwarding_off", "repeated", "repeated", "repeated",
                ])
            #expect(try life.events(ana.accountID).count { $0 == "email_forwarding_off" } == 1)
            // An older event comes late.
            let old = Int(Date().timeIntervalSince1970 * 1000) - 30_000
            let late = try life.site.send(
                life.notification("--type", "email-enabled", "--sub", sub, "--event-time", "\(old)"))
            #expect(late.status == 200 && late.log[0]["reason"] as? String == "outdated")
        }
    }

    @Test(arguments: ["account-delete", "account-deleted"])
    func whoDeletesTheirAppleAccountIsDeletedHere(type: String) throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            let sub = try #require(try life.person("ana")["sub"] as? String)
            let told = try life.site.send(life.notification("--type", type, "--sub", sub))
            #expect(told.status == 200 && told.log[0]["reason"] as? String == "account_deleted")
            #expect(told.log.count == 1, "there is nothing left to revoke")
            #expect(try life.site.run("accounts", "show", ana.accountID).status == 66)
            #expect(try life.site.run("outbox", "show").text == "The outbox is empty.\n")
        }
    }

    @Test func whatIsNotApplesChangesNothingAndWhatIsUnknownIsHeard() throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            let sub = try #require(try life.person("ana")["sub"] as? String)
            let unknown = try life.site.send(life.notification("--type", "consent-revoked", "--sub", "001.nobody"))
            #expect(unknown.status == 200 && unknown.log[0]["reason"] as? String == "unknown_subject")
            let kinds = try life.site.simulator("notification", "--bad", "list").text.split(separator: "\n")
                .compactMap { $0.split(separator: " ").first.map(String.init) }
                // Apple has sent, or may send, these as well.
                .filter { !["events-object", "event-time-seconds"].contains($0) }
            #expect(kinds.count > 8)
            var statuses: Set<Int> = []
            for kind in kinds {
                let event = try life.notification("--type", "account-delete", "--sub", sub, "--bad", kind)
                let answer = try life.site.send(event)
                statuses.insert(answer.status)
                let isHeard =
                    answer.status == 200 && answer.log[0]["reason"] as? String == "unknown_type: account-moved"
                #expect([400, 401].contains(answer.status) || isHeard, "\(kind): \(answer.status) \(answer.log)")
            }
            #expect(statuses.contains(401))
            #expect(try life.site.run("accounts", "show", ana.accountID).text.contains("consent     not revoked"))
            #expect(try life.grants(ana.accountID) == 1)
            // An identity token is Apple's, and no notification.
            let token = try life.site.token("--subject", sub)
            let identity = try life.site.send(
                FunctionSite.event("POST", "/auth/apple/notifications", body: ["payload": token]))
            #expect(identity.status == 400)
        }
    }

    @Test func anOutageOfTheStoreOrOfTheKeysIsSaidSoThatAppleTriesAgain() throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            let sub = try #require(try life.person("ana")["sub"] as? String)
            let event = try life.notification("--type", "consent-revoked", "--sub", sub)
            let store = life.site.environment["AUTH_APPLE_STORE"]
            life.site.environment["AUTH_APPLE_STORE"] = "sqlite:/proc/none/accounts.sqlite"
            let down = try life.site.send(event)
            #expect(down.status == 503 && down.body["code"] as? String == "store_unavailable")
            #expect(down.headers["retry-after"] != nil)
            life.site.environment["AUTH_APPLE_STORE"] = store
            try life.fail("/auth/keys", status: 500)
            life.site.environment["AUTH_APPLE_KEY_CACHE"] = life.site.folder.appending(path: "other/keys.json").path()
            let keyless = try life.site.send(event)
            #expect(keyless.status == 503 && keyless.body["code"] as? String == "keys_unavailable")
            try life.repair()
            life.site.environment["AUTH_APPLE_KEY_CACHE"] = life.site.folder.appending(path: "third/keys.json").path()
            #expect(try life.site.send(event).log[0]["reason"] as? String == "consent_revoked")
            #expect(try life.site.run("accounts", "sessions", ana.accountID).text == "no sessions\n")
        }
    }

    @Test func offIsNotThere() throws {
        let site = try FunctionSite()
        site.environment["AUTH_APPLE_NOTIFICATIONS"] = nil
        site.environment["AUTH_APPLE_DELETION_SESSION_SECONDS"] = nil
        let event = try FunctionSite.event("POST", "/auth/apple/notifications", body: ["payload": "x"])
        #expect(try site.send(event).status == 404)
        #expect(try site.send(FunctionSite.event("DELETE", "/auth/me", body: [:])).headers["allow"] == "GET, HEAD")
    }
}
#endif
