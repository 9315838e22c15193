import Foundation
import TestSupport
import Testing

/// What the function has answered, and so must stand: accounts, sessions that live, sessions that have ended.
struct Ledger {
    private struct Login {
        let subject: String
        let session: String
        var token: String
    }

    private var accounts: [String: String] = [:]
    private var live: [Login] = []
    private var ended: [Login] = []
    private var tokens: [String: String] = [:]

    /// One request, chosen at random, by a process in trouble. Where that gives no answer the next process does.
    mutating func step(_ function: some TroubledFunction, people: Int) throws {
        switch live.isEmpty ? 0 : Int.random(in: 0..<5) {
        case 0, 1: try signIn("001.ledger.\(Int.random(in: 0..<people))", function)
        case 2: try logOut(function)
        default: try refresh(function)
        }
    }

    /// The request has a name, so that asking again asks for the same session and not for one more.
    mutating func signIn(_ subject: String, _ function: some TroubledFunction) throws {
        let token = try tokens[subject] ?? function.site.token("--subject", subject)
        tokens[subject] = token
        let event = try function.site.event(token: token, headers: ["idempotency-key": UUID().uuidString])
        let answer = try function.answerInTrouble(event) ?? function.answer(event)
        #expect(answer.status == (accounts[subject] == nil ? 201 : 200), "\(answer.text)")
        #expect(try function.answer(event).text == answer.text, "the same request opened another session")
        if let known = accounts[subject] { #expect(answer.accountID == known) }
        accounts[subject] = answer.accountID
        live.append(Login(subject: subject, session: answer.sessionID, token: answer.refreshToken))
    }

    /// Where the answer is lost, the same token is good for the same successor.
    mutating func refresh(_ function: some TroubledFunction) throws {
        let index = Int.random(in: live.indices)
        let event = try Self.event("/auth/refresh", live[index].token)
        let answer = try function.answerInTrouble(event) ?? function.answer(event)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.sessionID == live[index].session && answer.accountID == accounts[live[index].subject])
        live[index].token = answer.refreshToken
    }

    mutating func logOut(_ function: some TroubledFunction) throws {
        let login = live.remove(at: Int.random(in: live.indices))
        let event = try Self.event("/auth/logout", login.token)
        let answer = try function.answerInTrouble(event) ?? function.answer(event)
        #expect(answer.status == 204, "\(answer.text)")
        ended.append(login)
    }

    private static func event(_ path: String, _ token: String) throws -> Data {
        try FunctionSite.event("POST", path, body: ["refresh_token": token])
    }

    /// That the store holds what was answered, and nothing by half.
    func check(_ function: some TroubledFunction) throws {
        let lines = try function.run("store", "export", "-").output.split(separator: 0x0A)
        let held = try lines.compactMap { line in
            try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
        }.filter { $0["account"] != nil }
        #expect(held.count == accounts.count, "an account more, or less, than was answered")
        var (alive, over): (Set<String>, Set<String>) = ([], [])
        for entry in held { try check(entry, &alive, &over) }
        // Every sign-in was answered in the end, and so was every logout: there is nothing else.
        #expect(alive == Set(live.map(\.session)))
        #expect(over == Set(ended.map(\.session)))

        #expect(try function.run("check").status == 0)
        guard !live.isEmpty else { return }
        let refreshed = try function.answers(live.map { try Self.event("/auth/refresh", $0.token) })
        #expect(refreshed.count == live.count)
        for (answer, login) in zip(refreshed, live) {
            #expect(answer.status == 200 && answer.sessionID == login.session)
            #expect(answer.accountID == accounts[login.subject])
        }
        let refused = try function.answers(ended.map { try Self.event("/auth/refresh", $0.token) })
        #expect(refused.count == ended.count && refused.allSatisfy { $0.status == 401 })
    }

    /// Account, sessions and audit are written together, so each says what the others say.
    private func check(_ entry: [String: Any], _ alive: inout Set<String>, _ over: inout Set<String>) throws {
        let account = try #require(entry["account"] as? [String: Any])
        let subject = try #require(account["apple_sub"] as? String)
        #expect(accounts[subject] == account["id"] as? String, "two accounts for one sub")
        let sessions = try #require(entry["sessions"] as? [[String: Any]]).compactMap { $0["id"] as? String }
        let audit = try #require(entry["audit"] as? [[String: Any]])
        let said = { (event: String) in
            audit.filter { $0["event"] as? String == event }.map { $0["session"] as? String ?? "" }
        }
        let (opened, closed) = (said("signed_in"), said("logged_out"))
        #expect(said("account_created").count == 1 && audit.first?["event"] as? String == "account_created")
        #expect(audit.count == 1 + opened.count + closed.count)
        #expect(Set(opened).count == opened.count && Set(closed).count == closed.count)
        #expect(Set(opened) == Set(sessions + closed) && Set(sessions).isDisjoint(with: closed))
        alive.formUnion(sessions)
        over.formUnion(closed)
    }
}
