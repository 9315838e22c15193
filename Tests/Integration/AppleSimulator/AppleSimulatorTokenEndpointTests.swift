import AppleID
import Foundation
import JOSE
import OpenSSLCrypto
import TestSupport
import Testing

/// `POST /auth/token` and `POST /auth/revoke` of `apple-simulator serve`: what Apple checks, broken once each.
@Suite struct AppleSimulatorTokenEndpointTests {
    let simulator: AppleSimulator
    let server: AppsServer

    init() throws {
        simulator = try AppleSimulatorTokenTests.shared.get()
        server = try AppsServer(team: "TEAM000001", keyID: "KEY0000001")
    }

    @Test func aNativeCodeBecomesTokensThatVerifyAndBelongTogether() throws {
        try simulator.serving([server]) { address in
            let native = try address.code(["nonce": "n-1", "hide_email": .bool(true)])
            let code = try #require(native.json["code"]?.string)
            let first = try native.claims("identity_token")
            #expect(first["c_hash"]?.string == Self.leftHalf(code) && first["nonce"] == "n-1")
            #expect(first["real_user_status"] == .integer(2))

            let answer = try address.exchange(code, by: server)
            #expect(answer.status == 200 && answer.headers["cache-control"] == "no-store")
            #expect(answer.json["token_type"] == "Bearer" && answer.json["expires_in"] == .integer(3600))
            let access = try #require(answer.json["access_token"]?.string)
            let claims = try answer.claims("id_token")
            #expect(claims["at_hash"]?.string == Self.leftHalf(access) && claims["c_hash"] == nil)
            #expect(claims["sub"] == first["sub"] && claims["nonce"] == "n-1")
            #expect(claims["email"]?.string?.hasSuffix("@privaterelay.appleid.com") == true)
            #expect(claims["is_private_email"] == .bool(true))
            // By the same verifier that a login goes through.
            let keys = try AppleSimulatorTokenTests.PrintedKeys(simulator)
            for token in [native.json["identity_token"], answer.json["id_token"]] {
                let text = try #require(token?.string)
                let identity = try AppleSimulatorTokenTests.verify(text, keys: keys, nonce: "n-1").get()
                #expect(identity.subject == native.json["sub"]?.string)
            }
        }
    }

    private static func leftHalf(_ text: String) -> String {
        Base64URL.encode(AppsServer.cryptography.sha256(Array(text.utf8)[...]).prefix(16))
    }

    @Test func aCodeIsGoodOnce() throws {
        try simulator.serving([server]) { address in
            let code = try #require(try address.code().json["code"]?.string)
            #expect(try address.exchange(code, by: server).status == 200)
            let again = try address.exchange(code, by: server)
            #expect(again.status == 400 && again.error == "invalid_grant")
            #expect(again.json["error_description"]?.string?.contains("used before") == true)
            #expect(try address.exchange("cUnknown", by: server).error == "invalid_grant")
        }
    }

    @Test func aCodeExpires() throws {
        try simulator.serving([server], options: ["--code-seconds", "1"]) { address in
            let code = try #require(try address.code().json["code"]?.string)
            usleep(2_100_000)
            #expect(try address.exchange(code, by: server).error == "invalid_grant")
        }
    }

    /// Five minutes, unless told otherwise.
    @Test func theStateFileSaysWhenACodeExpires() throws {
        let file = simulator.folder.appending(path: "\(UUID().uuidString).json")
        try simulator.serving([server], options: ["--state", file.path()]) { address in
            _ = try address.code()
            let state = try JSON(parsing: Array(try Data(contentsOf: file)), limits: JSON.Limits(bytes: 65_536))
            let expires = try #require(state["grants"]?.array?.first?["expires"]?.integer)
            #expect(abs(expires - Int64(Date().timeIntervalSince1970) - 300) <= 2)
        }
    }

    @Test func theReturnAddressIsThatOfTheAuthorizeRequestAndNoneForANativeCode() throws {
        try simulator.serving([server]) { address in
            let native = try #require(try address.code().json["code"]?.string)
            let sent = try address.exchange(native, by: server, ["redirect_uri": "https://app.example/cb"])
            #expect(sent.error == "invalid_grant")
            // Refusing it for that has not used it up.
            #expect(try address.exchange(native, by: server).status == 200)

            let web = try address.form(
                "/auth/authorize",
                [
                    "client_id": AppsServer.clientID, "redirect_uri": "https://app.example/cb", "response_type": "code",
                    "person": "ana",
                ])
            let location = try #require(web.headers["location"])
            let code = String(location.dropFirst("https://app.example/cb?code=".count))
            for address in try [
                address.exchange(code, by: server),
                address.exchange(code, by: server, ["redirect_uri": "https://app.example/cb/"]),
                address.exchange(code, by: server, ["redirect_uri": "https://APP.example/cb"]),
            ] { #expect(address.error == "invalid_grant") }
            #expect(try address.exchange(code, by: server, ["redirect_uri": "https://app.example/cb"]).status == 200)
        }
    }

    @Test func theClientSecretIsCheckedClaimByClaim() throws {
        let now = Int64(Date().timeIntervalSince1970)
        let stranger = try AppsServer(team: "TEAM000001", keyID: "KEY0000001")
        try simulator.serving([server]) { address in
            let token = { (secret: String) in
                try address.form(
                    "/auth/token",
                    ["grant_type": "refresh_token", "refresh_token": "r", "client_id": AppsServer.clientID]
                        .merging(["client_secret": secret]) { $1 })
            }
            // A good one comes as far as the token.
            #expect(try token(server.secret()).error == "invalid_grant")
            #expect(try token(server.secret(claims: ["exp": .integer(now + 15_776_990)])).error == "invalid_grant")
            let bad: [(String, String)] = [
                ("none", ""), ("garbage", "a.b.c"), ("no JWT", "secret"),
                ("another's key", try server.secret(by: stranger.key)),
                ("alg", try server.secret(header: ["alg": "RS256"])),
                ("alg none", try server.secret(header: ["alg": "none"])),
                ("no kid", try server.secret(header: ["kid": nil as JSON?])),
                ("unknown kid", try server.secret(header: ["kid": "KEY0000002"])),
                ("iss", try server.secret(claims: ["iss": "TEAM000002"])),
                ("no iss", try server.secret(claims: ["iss": nil as JSON?])),
                ("sub", try server.secret(claims: ["sub": "com.example.another"])),
                ("no sub", try server.secret(claims: ["sub": nil as JSON?])),
                ("aud", try server.secret(claims: ["aud": "https://appleid.apple.com/"])),
                ("no aud", try server.secret(claims: ["aud": nil as JSON?])),
                ("two aud", try server.secret(claims: ["aud": .array(["https://appleid.apple.com", "x"])])),
                ("expired", try server.secret(claims: ["exp": .integer(now - 1)])),
                ("no exp", try server.secret(claims: ["exp": nil as JSON?])),
                ("exp as text", try server.secret(claims: ["exp": .string(String(now + 300))])),
                ("too long", try server.secret(claims: ["exp": .integer(now + 15_777_100)])),
                ("no iat", try server.secret(claims: ["iat": nil as JSON?])),
                ("iat ahead", try server.secret(claims: ["iat": .integer(now + 3600)])),
            ]
            for (name, secret) in bad {
                let answer = try token(secret)
                #expect(answer.status == 400 && answer.error == "invalid_client", "\(name): \(answer.text)")
            }
        }
    }

    @Test func withoutARegisteredTeamTheClaimsAreCheckedAndTheSignatureCannotBe() throws {
        let stranger = try AppsServer(team: "TEAM000009", keyID: "KEY0000009")
        let served = try simulator.serving { address in
            let code = try #require(try address.code().json["code"]?.string)
            let wrong = try stranger.secret(claims: ["sub": "com.example.another"])
            #expect(try address.exchange(code, by: stranger, ["client_secret": wrong]).error == "invalid_client")
            #expect(try address.exchange(code, by: stranger).status == 200)
        }
        #expect(served.exitStatus == 0)
    }

    @Test func aClientThatIsNotRegisteredIsUnknown() throws {
        try simulator.serving([server]) { address in
            #expect(try address.code(["client_id": "com.example.another"]).status == 400)
            let answer = try address.form(
                "/auth/token",
                [
                    "grant_type": "refresh_token", "refresh_token": "r", "client_id": "com.example.another",
                    "client_secret": server.secret(claims: ["sub": "com.example.another"]),
                ])
            #expect(answer.error == "invalid_client")
        }
    }

    @Test func aCodeOrTokenIsForTheClientThatItWasIssuedTo() throws {
        let other = "com.example.web"
        let options = ["--client", "\(other)=TEAM000001"]
        try simulator.serving([server], options: options) { address in
            let code = try #require(try address.code().json["code"]?.string)
            let asOther = [
                "client_id": other, "client_secret": try server.secret(claims: ["sub": .string(other)]),
            ]
            #expect(try address.exchange(code, by: server, asOther).error == "invalid_grant")
            let refresh = try #require(try address.exchange(code, by: server).json["refresh_token"]?.string)
            let stolen = ["grant_type": "refresh_token", "refresh_token": refresh].merging(asOther) { $1 }
            #expect(try address.form("/auth/token", stolen).error == "invalid_grant")
            #expect(try address.form("/auth/revoke", ["token": refresh].merging(asOther) { $1 }).status == 400)
            let own = try server.credentials(["grant_type": "refresh_token", "refresh_token": refresh])
            #expect(try address.form("/auth/token", own).status == 200)
        }
    }

    @Test func aRefreshGivesNoNewRefreshTokenAndARevocationEndsIt() throws {
        try simulator.serving([server]) { address in
            let first = try address.code(["person": "luis"])
            #expect(first.json["user"]?["name"]?["firstName"] == "Luis")
            #expect(try address.code(["person": "luis"]).json["user"] == .null)
            let code = try #require(first.json["code"]?.string)
            let refresh = try #require(try address.exchange(code, by: server).json["refresh_token"]?.string)
            let fields = try server.credentials(["grant_type": "refresh_token", "refresh_token": refresh])
            let again = try address.form("/auth/token", fields)
            #expect(again.status == 200 && again.json["refresh_token"] == nil)
            #expect(try again.claims("id_token")["sub"] == first.json["sub"])

            for token in [refresh, refresh, "rUnknown"] {
                let revoked = try address.form(
                    "/auth/revoke", server.credentials(["token": token, "token_type_hint": "refresh_token"]))
                #expect(revoked.status == 200 && revoked.text.isEmpty)
            }
            #expect(try address.form("/auth/token", fields).error == "invalid_grant")
            // The next sign-in is a first one again.
            #expect(try address.code(["person": "luis"]).json["user"]?["name"]?["lastName"] == "Ortega")

            let bad = try address.form("/auth/revoke", ["token": refresh, "client_id": AppsServer.clientID])
            #expect(bad.status == 400 && bad.error == "invalid_client")
            #expect(try address.form("/auth/revoke", server.credentials([:])).error == "invalid_request")
        }
    }

    @Test func aRequestOfAnotherFormIsSaidSo() throws {
        try simulator.serving([server]) { address in
            #expect(try address.control("/auth/token", ["grant_type": "refresh_token"]).error == "invalid_request")
            #expect(try address.form("/auth/token", server.credentials([:])).error == "invalid_request")
            let odd = try server.credentials(["grant_type": "password"])
            #expect(try address.form("/auth/token", odd).error == "unsupported_grant_type")
            let missing = try server.credentials(["grant_type": "authorization_code"])
            #expect(try address.form("/auth/token", missing).error == "invalid_request")
            let scope = try server.credentials(["grant_type": "client_credentials", "scope": "user"])
            #expect(try address.form("/auth/token", scope).error == "invalid_scope")
            let headers = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: "
            for body in ["grant_type=a&grant_type=b", "grant_type=%zz", "grant_type=%ff", "grant_type=%4"] {
                let answer = try address.exchange(
                    "POST /auth/token HTTP/1.1\r\nHost: 127.0.0.1:\(address.port)\r\n\(headers)\(body.utf8.count)\r\n\r\n\(body)"
                )
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("says a parameter twice"), "\(body)")
            }
        }
    }

    /// What Apple's console, `openssl ecparam` and `openssl pkey` write.
    @Test func aTeamsKeyIsReadInEveryFormOfPEM() throws {
        let simulator = try AppleSimulator()
        let plain = simulator.folder.appending(path: "sec1.pem")
        try Data(server.privatePEM.utf8).write(to: plain)
        let made = { (name: String, arguments: [String]) in
            let ran = try Ran(["/usr/bin/openssl"] + arguments + ["-in", plain.path()])
            try #require(ran.status == 0, "\(ran.text)")
            let file = simulator.folder.appending(path: name)
            try ran.output.write(to: file)
            return file
        }
        let files = try [
            plain, made("key.p8", ["pkcs8", "-topk8", "-nocrypt"]), made("public.pem", ["pkey", "-pubout"]),
        ]
        for file in files {
            let team = ["--team", "TEAM000001:KEY0000001=\(file.path())"]
            try simulator.serving(arguments: team) { address in
                let code = try #require(try address.code().json["code"]?.string)
                #expect(try address.exchange(code, by: server).status == 200, "\(file.lastPathComponent)")
            }
        }
        let wrong = simulator.folder.appending(path: "rsa.pem")
        try Data("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n".utf8).write(to: wrong)
        for option in [
            "T:K=\(wrong.path())", "T:K=/nonexistent", "T:K", "T=\(plain.path())", ":K=\(plain.path())", "",
        ] {
            #expect(try simulator.failingToServe(["--team", option]).exitStatus == 64, "\(option)")
        }
    }
}
