import Foundation
import JOSE
import TestSupport
import Testing

/// `POST /auth/usermigrationinfo`, with two teams at once.
@Suite struct AppleSimulatorMigrationTests {
    let simulator: AppleSimulator
    let old: AppsServer
    let new: AppsServer

    init() throws {
        simulator = try AppleSimulatorTokenTests.shared.get()
        old = try AppsServer(team: "TEAM000001", keyID: "KEY0000001")
        // Teams name their keys without asking one another.
        new = try AppsServer(team: "TEAM000002", keyID: "KEY0000001")
    }

    private func bearer(_ server: AppsServer, _ address: SimulatorAddress) throws -> [(String, String)] {
        let fields = try server.credentials(["grant_type": "client_credentials", "scope": "user.migration"])
        let answer = try address.form("/auth/token", fields)
        #expect(answer.status == 200 && answer.json["refresh_token"] == nil && answer.json["id_token"] == nil)
        return [("Authorization", "Bearer \(try #require(answer.json["access_token"]?.string))")]
    }

    private func migrate(
        _ fields: [String: String], _ server: AppsServer, _ headers: [(String, String)], _ address: SimulatorAddress
    ) throws -> SimulatorAnswer {
        try address.form("/auth/usermigrationinfo", server.credentials(fields), headers: headers)
    }

    @Test func anAccountGoesFromTeamToTeamUnderAnotherName() throws {
        try simulator.serving([old, new]) { address in
            let before = try address.code(["hide_email": .bool(true)])
            let subject = try #require(before.json["sub"]?.string)
            let alias = try before.claims("identity_token")["email"]
            let (oldBearer, newBearer) = try (bearer(old, address), bearer(new, address))
            let left = try migrate(["sub": subject, "target": new.team], old, oldBearer, address)
            let transferSubject = try #require(left.json["transfer_sub"]?.string)
            #expect(left.status == 200 && transferSubject != subject)
            let arrived = try migrate(["transfer_sub": transferSubject], new, newBearer, address)
            let newSubject = try #require(arrived.json["sub"]?.string)
            #expect(arrived.status == 200 && newSubject != subject && arrived.json["is_private_email"] == .bool(true))
            #expect(arrived.json["email"] != alias)

            // The same again is the same; what is not so is refused.
            #expect(try migrate(["sub": subject, "target": new.team], old, oldBearer, address).text == left.text)
            let refused: [([String: String], AppsServer, [(String, String)])] = [
                (["sub": subject, "target": new.team], new, newBearer),
                (["sub": "001.x.1", "target": new.team], old, oldBearer),
                (["sub": subject, "target": old.team], old, oldBearer),
                (["sub": subject, "target": "TEAM000003"], old, oldBearer),
                (["sub": subject], old, oldBearer), ([:], old, oldBearer),
                (["transfer_sub": transferSubject], old, oldBearer), (["transfer_sub": "001.x.1"], new, newBearer),
                (["transfer_sub": transferSubject, "sub": subject, "target": new.team], new, newBearer),
            ]
            for (fields, server, headers) in refused {
                let answer = try migrate(fields, server, headers, address)
                #expect(answer.status == 400 && answer.error == "invalid_request", "\(fields)")
            }
            // Another team's leave, no leave, and a person's token instead of one.
            let code = try #require(before.json["code"]?.string)
            let access = try #require(try address.exchange(code, by: old).json["access_token"]?.string)
            for headers in [newBearer, [], [("Authorization", "Bearer \(access)")], [("Authorization", "Basic x")]] {
                let answer = try migrate(["sub": subject, "target": new.team], old, headers, address)
                #expect(answer.status == 400 && answer.error == "invalid_client")
            }

            // The app itself goes: the same person is the new team's from now on, and the token says who they were.
            let moved = try address.control(
                "/simulator/transfer", ["client_id": .string(AppsServer.clientID), "team": .string(new.team)])
            #expect(moved.status == 200)
            let after = try address.code()
            #expect(after.json["sub"]?.string == newSubject)
            let claims = try after.claims("identity_token")
            #expect(claims["transfer_sub"]?.string == transferSubject && claims["email"] == arrived.json["email"])
            let newCode = try #require(after.json["code"]?.string)
            #expect(try address.exchange(newCode, by: old).error == "invalid_client")
            #expect(try address.exchange(newCode, by: new).status == 200)
            // Who comes only now was never the old team's.
            #expect(try address.code(["person": "luis"]).claims("identity_token")["transfer_sub"] == nil)
        }
    }
}
