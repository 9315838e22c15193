#if SQLite
import Foundation
import TestSupport
import Testing

/// An app goes to another team, and its people with it.
@Suite struct TransferTests {
    @Test func everybodyIsMovedAndFoundByTheNewTeam() throws {
        try LifeSite.run { life in
            let people = ["ana", "luis", "mei"]
            let before = try people.map { try life.signIn($0, ["full_name": $0]) }
            let exported = try life.site.run(
                "transfer", "export", "--client", LifeSite.client, "--to", LifeSite.newTeam, "--rate", "100")
            #expect(exported.status == 0 && exported.text == "Exported 3 account(s), 0 failed.\n", "\(exported.text)")
            let again = try life.site.run("transfer", "export", "--client", LifeSite.client, "--to", LifeSite.newTeam)
            let anew = try life.site.run(
                "transfer", "export", "--client", LifeSite.client, "--to", LifeSite.newTeam, "--again", "--rate", "100")
            #expect(anew.text == "Exported 3 account(s), 0 failed.\n")
            #expect(again.text == "Exported 0 account(s), 0 failed.\n", "what is done is not done again")

            try life.order("/simulator/transfer", ["client_id": LifeSite.client, "team": LifeSite.newTeam])
            life.becomeNewTeam()
            // One comes before the import: transfer_sub in the token moves them.
            let early = try life.signIn("ana")
            #expect(early.status == 200 && early.accountID == before[0].accountID, "\(early.log)")
            let imported = try life.site.run("transfer", "import", "--client", LifeSite.client, "--rate", "100")
            #expect(imported.status == 0 && imported.text == "Imported 2 account(s), 0 failed.\n", "\(imported.text)")
            #expect(
                try life.site.run("transfer", "import", "--client", LifeSite.client).text
                    == "Imported 0 account(s), 0 failed.\n")
            for (name, old) in zip(people, before) {
                let now = try life.signIn(name)
                #expect(now.status == 200 && now.accountID == old.accountID)
                #expect((now.body["user"] as? [String: Any])?["full_name"] as? String == name)
                #expect(try life.events(old.accountID).count { $0 == "account_transferred" } == 1)
            }
        }
    }

    @Test func theRelaysNewAddressIsKept() throws {
        try LifeSite.run { life in
            let ana = try life.site.send(LifeSite.event(life.person("ana", hidingEmail: true)))
            let old = try #require((ana.body["user"] as? [String: Any])?["email"] as? String)
            _ = try life.site.run("transfer", "export", "--client", LifeSite.client, "--to", LifeSite.newTeam)
            try life.order("/simulator/transfer", ["client_id": LifeSite.client, "team": LifeSite.newTeam])
            life.becomeNewTeam()
            #expect(try life.site.run("transfer", "import", "--client", LifeSite.client).status == 0)
            let account = try life.export(ana.accountID)["account"] as? [String: Any]
            let new = try #require(account?["email"] as? String)
            #expect(new != old && new.hasSuffix("@privaterelay.appleid.com"))
            #expect(account?["is_private_email"] as? Bool == true)
            #expect(try life.grants(ana.accountID) == 0, "they were the old team's")
        }
    }

    @Test func oneWhoHasAnotherAccountAlreadyIsReportedAndNotMerged() throws {
        try LifeSite.run { life in
            let (ana, luis) = (try life.signIn("ana"), try life.signIn("luis"))
            _ = try life.site.run("transfer", "export", "--client", LifeSite.client, "--to", LifeSite.newTeam)
            try life.order("/simulator/transfer", ["client_id": LifeSite.client, "team": LifeSite.newTeam])
            life.becomeNewTeam()
            // As after the 60 days: the token has the new sub and no transfer_sub.
            let sub = try #require(try life.person("ana")["sub"] as? String)
            let other = try life.site.send(life.site.event(token: life.site.token("--subject", sub)))
            #expect(other.status == 201)
            let imported = try life.site.run("transfer", "import", "--client", LifeSite.client)
            #expect(imported.status == 65 && imported.text.hasPrefix("Imported 1 account(s), 1 failed.\n"))
            #expect(
                imported.text.contains(
                    "\(ana.accountID)  the person has another account under the new sub: \(other.accountID)"))
            #expect(!imported.text.contains(sub) && !imported.text.contains("ana.ruiz"))
            #expect(try life.signIn("luis").accountID == luis.accountID)
        }
    }

    @Test func outagesAndStrangersStopTheRunAndItGoesOnLater() throws {
        try LifeSite.run { life in
            let ana = try life.signIn("ana")
            let luis = try life.site.send(life.site.event(token: life.site.token("--subject", "001.not-of-this-team")))
            try life.fail("/auth/usermigrationinfo", status: 503)
            let down = try life.site.run("transfer", "export", "--client", LifeSite.client, "--to", LifeSite.newTeam)
            #expect(down.status == 75 && down.text.contains("Run it again later"), "\(down.text)")
            try life.repair()
            life.site.environment["AUTH_APPLE_KEY_ID"] = "WRONG12345"
            let stranger = try life.site.run(
                "transfer", "export", "--client", LifeSite.client, "--to", LifeSite.newTeam)
            #expect(stranger.status == 78 && stranger.text.contains("apple_invalid_client"))
            life.site.environment["AUTH_APPLE_KEY_ID"] = LifeSite.keyID
            let exported = try life.site.run(
                "transfer", "export", "--client", LifeSite.client, "--to", LifeSite.newTeam)
            #expect(exported.status == 65 && exported.text.hasPrefix("Exported 1 account(s), 1 failed.\n"))
            #expect(exported.text.contains("\(luis.accountID)  apple_invalid_request"))
            #expect(try life.export(ana.accountID)["account"].map { "\($0)".contains("apple_transfer_sub") } == true)
        }
    }

    @Test func theWordsOfTheCommandAreJudged() throws {
        let site = try FunctionSite()
        for words in [
            ["export"], ["export", "--to", "team"], ["import", "--to", LifeSite.newTeam], ["import", "--rate", "0"],
            ["import", "--again"],
            ["import", "--rate"], ["export", "--to", LifeSite.newTeam, "--to", LifeSite.newTeam], ["away"], [],
        ] {
            let ran = try Ran(
                [Programs.built("auth-apple").path(), "transfer"] + words, environment: site.environment)
            #expect(ran.status == 64, "\(words)")
        }
        site.environment["AUTH_APPLE_AUDIENCES"] = "com.example.app,com.example.web"
        let unset = try site.run("transfer", "import")
        #expect(unset.status == 78)
        for name in ["TEAM_ID", "KEY_ID", "PRIVATE_KEY", "AUDIENCES"] {
            #expect(unset.text.contains("AUTH_APPLE_\(name) "))
        }
    }

    /// A run as a terminal sees it.
    @Test func aTerminalSeesABarAndAPipeNone() throws {
        try LifeSite.run { life in
            _ = try life.signIn("ana")
            let plain = try life.site.run("transfer", "export", "--client", LifeSite.client, "--to", LifeSite.newTeam)
            #expect(plain.errors.isEmpty)
            try life.execute("UPDATE accounts SET transfer_sub = NULL")
            let command =
                "\(try Programs.built("auth-apple").path()) transfer export --client \(LifeSite.client) --to \(LifeSite.newTeam)"
            let seen = try Ran("/usr/bin/script", "-qec", command, "/dev/null", environment: life.site.environment)
            #expect(seen.status == 0 && seen.text.contains("[##############################] 1 of 1"), "\(seen.text)")
        }
    }
}
#endif
