internal import AuthFunction
internal import Glibc
internal import JOSE

/// One run of the program: which command, or which doorway.
struct Program {
    static let version = "0.1.0"

    private let arguments: [String]

    init(arguments: ArraySlice<String>) {
        self.arguments = Array(arguments)
    }

    /// The exit status (sysexits.h): 0, 64 for a command that does not exist, 78 for a configuration that does not serve.
    func run() -> Int32 {
        // First, since a web server makes arguments of the query string (RFC 3875 §4.4): a CGI program has none.
        if CGIDoorway.isOpen { return CGIDoorway.serve() }
        switch arguments {
        case []: return FunctionRuntime().serve()
        // Whoever asks so after a command's name means no file of that name.
        case let words where words.last == "--help" || words.last == "-h" || words == ["help"]: return say(Self.help)
        case ["lines"]: return EventLoop.serveLines()
        case ["keys", "new"], ["keys", "new", "ES256"]: return KeysCommand.new()
        case ["keys", "new", "RS256"]: return KeysCommand.new(.rs256)
        case ["keys", "rotate"]: return KeysCommand.rotate()
        case ["keys", "rotate", "--force"]: return KeysCommand.replaceAll()
        case ["keys", "show"]: return KeysCommand.show()
        case ["keys", "reseal"]: return ResealCommand.run()
        case ["check"]: return CheckCommand.run()
        case ["store", "migrate"]: return StoreCommand.migrate()
        case ["store", "purge"]: return StoreCommand.purge()
        case let words where words.count == 3 && words.starts(with: ["store", "export"]):
            return StoreExport.run(to: words[2])
        case let words where words.count == 3 && words.starts(with: ["store", "import"]):
            return StoreImport.run(from: words[2])
        case ["outbox", "run"]: return OutboxCommand.run()
        case ["outbox", "show"]: return OutboxCommand.show()
        case let words where words.first == "transfer":
            return TransferCommand(words.dropFirst())?.run() ?? unknownCommand()
        case let words where words.count == 3 && words[0] == "accounts":
            guard let action = AccountsCommand.Action(rawValue: words[1]) else { return unknownCommand() }
            return AccountsCommand.run(action, id: words[2])
        case ["--version"]: return say("auth-apple \(Self.version)")
        default:
            return unknownCommand()
        }
    }

    /// Says how the command is called, where the first word is one.
    private func unknownCommand() -> Int32 {
        var usage: [Substring] = []
        var isMeant = false
        for line in Self.help.split(separator: "\n") where line.hasPrefix("  ") {
            if line.hasPrefix("  auth-apple ") { isMeant = line.hasPrefix("  auth-apple \(arguments[0]) ") }
            if isMeant { usage.append(line) }
        }
        let remedy =
            usage.isEmpty
            ? "; auth-apple --help lists them" : "; of that name there are:\n" + usage.joined(separator: "\n")
        Descriptor.printError("auth-apple: no such command\(remedy)")
        return ExitStatus.usage
    }

    private func say(_ text: String) -> Int32 {
        Descriptor.print(text)
        return ExitStatus.success
    }

    private static let help = """
        auth-apple: the serverless function behind POST /auth/apple

          auth-apple                 answer one JSON event from standard input on standard output; or serve the function
                                     runtime that the environment names (AWS Lambda, OpenWhisk)
          auth-apple lines           one event a line, one response a line, until end of input
          auth-apple keys new [RS256]
                                     create the signing keys in the file AUTH_APPLE_SIGNING_KEYS_FILE names: ES256,
                                     or RS256 for gateways that verify nothing else
          auth-apple keys rotate     one step: publish the next key, or let it sign once it was published long enough
          auth-apple keys rotate --force
                                     after a leak: new keys at once, and none of the old ones is published any more
          auth-apple keys show       print the public key set
          auth-apple keys reseal     seal all of Apple's tokens under the first of AUTH_APPLE_ENCRYPTION_KEYS
          auth-apple check           check configuration, keys, store and Apple's keys, a line each
          auth-apple store migrate   create or upgrade the schema of the store
          auth-apple store purge     remove what has expired: sessions, receipts, counts, old audit entries
          auth-apple store export FILE|-
                                     all that the store holds, into a new file as secret as the store; stop the function
                                     first, since what comes later is not in it
          auth-apple store import FILE|-
                                     into another store; everybody stays signed in. Broken off, begin it again: what is
                                     there stays. Attempts and receipts stay behind, which live minutes
          auth-apple outbox run      tell Apple of deleted accounts that it was not told of yet; for a timer
          auth-apple outbox show     what waits for it
          auth-apple transfer export --to TEAMID [--again] [--client ID] [--rate N]
                                     before the app goes to another team: what Apple calls each person on the way, asked
                                     with this team's key, N times a second (10)
          auth-apple transfer import [--client ID] [--rate N]
                                     after that, with the new team's key: each account under its new sub
          auth-apple accounts show|sessions|export ID
                                     an account, its sessions, or all that is held about the person as JSON
          auth-apple accounts disable|enable|delete ID
                                     end its sessions and refuse it, take it back, or forget it
          auth-apple --version

        It is configured by environment variables AUTH_APPLE_…; README.md has the table.
        Exit status: 0 done, 64 no such command, 65 some could not be done, 66 no such account, 70 libcrypto failed or the
        runtime cannot be talked to, 73 a file cannot be made, 74 no event or no way out for the answer, 75 try again later,
        78 not configured.
        """
}

/// The values of sysexits.h that are used.
enum ExitStatus {
    static let success: Int32 = 0
    static let usage: Int32 = 64
    static let dataError: Int32 = 65
    static let noInput: Int32 = 66
    static let software: Int32 = 70
    static let cannotCreate: Int32 = 73
    static let inputOutput: Int32 = 74
    static let tryLater: Int32 = 75
    static let configuration: Int32 = 78
}
