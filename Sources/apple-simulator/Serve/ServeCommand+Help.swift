extension ServeCommand {
    static let help = """
        apple-simulator serve [--port N] [--team TEAMID:KEYID=FILE]... [--client CLIENT_ID=TEAMID[,REDIRECT_URI...]]...
                              [--state FILE] [--max-age SECONDS] [--code-seconds N] [--key-file PATH]

        Answers on 127.0.0.1 and nowhere else. The first line on standard output is its address, once it answers; what is not
        checked is said after it. One line a request on standard error. Ends at SIGTERM or SIGINT.

          GET  /auth/keys               the public key set
          GET  /auth/authorize          the page on which a person signs in
          POST /auth/token              authorization_code, refresh_token, client_credentials
          POST /auth/revoke             revokes a token, and the consent with it
          POST /auth/usermigrationinfo  accounts of an app that goes to another team
          GET  /                        a page: who there is, and notifications to send
          /simulator/...                for tests: code, notify, people, transfer, faults, requests (see deploy/simulator)

          --port N            0 takes a free one (8410)
          --team T:K=FILE     a team's key: Team ID, Key ID, and a PEM file with the public key or Apple's .p8. Client secrets
                              must be signed by it. May be repeated. Without one signatures are not checked
          --client ID=T[,URI] a Bundle ID or Services ID, its team, and the return addresses of the web flow. May be repeated:
                              the same ID again adds a team that may migrate accounts. Without one any client is taken
          --state FILE        keep people, consents and what was issued there, for restarts and for several runs at once
          --max-age SECONDS   how long Cache-Control lets the keys be kept (3600)
          --code-seconds N    the life of an authorization code (300)
          --key-file PATH     where the private keys are; made if absent
        """
}
