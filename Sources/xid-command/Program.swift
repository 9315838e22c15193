internal import Glibc
internal import Xid

/// One run of `xid`: sign-in with an OpenID Connect provider from the command line, over the same types as an app.
///
/// What was asked for goes to standard output, all else to standard error, and a token to standard output only, when `xid token`
/// asks for it.
struct Program {
    private let arguments: ArraySlice<String>

    init(arguments: ArraySlice<String>) {
        self.arguments = arguments
    }

    private static var commands: [any Command.Type] {
        [LoginCommand.self, SessionCommand.self, TokenCommand.self, LogoutCommand.self]
    }

    func run() async -> Int32 {
        // A reader that is gone is no reason to die without a word.
        signal(SIGPIPE, SIG_IGN)
        guard let name = arguments.first else {
            Terminal.say(Self.help)
            return ExitStatus.usage.rawValue
        }
        if ["--help", "-h", "help"].contains(name) { return show(Self.help) }
        guard let command = Self.commands.first(where: { $0.name == name }) else {
            return end("there is no command \(Terminal.visible(name)); xid --help lists them", .usage)
        }
        if arguments.dropFirst().contains(where: { ["--help", "-h"].contains($0) }) {
            return show(command.help + "\n\n" + ExitStatus.help)
        }
        do {
            let options = try Options(arguments.dropFirst(), known: command.options + [.flag("json")])
            return try await command.init(options).run().rawValue
        } catch let error as UsageError {
            return end("\(name): \(error.reason); xid \(name) --help says more", .usage)
        } catch let error as Failure {
            return end(error.reason, error.status)
        } catch let error as Interrupted {
            Terminal.say("xid: cancelled")
            return 128 + error.signal
        } catch let error as XidError {
            let failure = Failure(error)
            return end(failure.reason, failure.status)
        } catch {
            return end("failed", .failure)
        }
    }

    private func show(_ text: String) -> Int32 {
        do throws(Failure) {
            try Terminal.print(text)
            return ExitStatus.success.rawValue
        } catch {
            return end(error.reason, error.status)
        }
    }

    private func end(_ reason: String, _ status: ExitStatus) -> Int32 {
        Terminal.say("xid: \(reason)")
        return status.rawValue
    }

    private static let help = """
        xid: sign in with an OpenID Connect provider

          xid login    sign in by the browser
          xid session  show who is signed in
          xid token    print the access token, renewed when it must be
          xid logout   forget the session, and have its tokens revoked

        xid COMMAND --help says more; every command takes --json. The provider and the client of the last login are
        remembered in $XDG_CONFIG_HOME/xid/client.json (~/.config/xid), the tokens are in $XDG_STATE_HOME/xid
        (~/.local/state/xid), closed to other users.
        \(ExitStatus.help)
        """
}

protocol Command {
    static var name: String { get }
    static var options: [Options.Option] { get }
    static var help: String { get }

    init(_ options: Options) throws
    func run() async throws -> ExitStatus
}
