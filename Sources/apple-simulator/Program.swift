internal import JOSE
internal import OpenSSLCrypto

/// One run of the simulator: a stand-in for Apple on this machine, for development and tests.
///
/// It signs what no real Apple would sign, and nothing of it is part of `auth-apple`. A command is a type of its own with
/// its options and its help; a new one gets a line here.
struct Program {
    private let arguments: ArraySlice<String>

    init(arguments: ArraySlice<String>) {
        self.arguments = arguments
    }

    private static var commands: [any Command.Type] {
        [KeysCommand.self, TokenCommand.self, NotificationCommand.self, ServeCommand.self]
    }

    func run() -> Int32 {
        guard let name = arguments.first else {
            Descriptor.printError(Self.help)
            return ExitStatus.usage
        }
        if ["--help", "-h", "help"].contains(name) { return say(Self.help) }
        guard let command = Self.commands.first(where: { $0.name == name }) else {
            return refuse("there is no command \(name); apple-simulator --help lists them")
        }
        if arguments.dropFirst().contains(where: { ["--help", "-h"].contains($0) }) { return say(command.help) }
        do {
            let options = try Options(arguments.dropFirst(), known: command.options + KeyFile.options)
            try command.init(options).run()
            return ExitStatus.success
        } catch let error as UsageError {
            return refuse("\(name): \(error.reason); apple-simulator \(name) --help says more")
        } catch let error as Failure {
            Descriptor.printError("apple-simulator: \(error.reason)")
            return error.exitStatus
        } catch let error as CryptographyError {
            Descriptor.printError("apple-simulator: \(error.reason)")
            return ExitStatus.software
        } catch {
            Descriptor.printError("apple-simulator: failed")
            return ExitStatus.software
        }
    }

    private func say(_ text: String) -> Int32 {
        Descriptor.print(text)
        return ExitStatus.success
    }

    private func refuse(_ reason: String) -> Int32 {
        Descriptor.printError("apple-simulator: \(reason)")
        return ExitStatus.usage
    }

    private static let help = """
        apple-simulator: a stand-in for Sign in with Apple on this machine, for development and tests

          apple-simulator keys          print its public keys, as Apple does at /auth/keys
          apple-simulator token         print a signed identity token, good or bad in a named way
          apple-simulator notification  print a signed notification to a server, good or bad in a named way
          apple-simulator serve         answer on loopback as Apple's servers do

        apple-simulator COMMAND --help says more. Its private keys are made at the first use and kept in a file of its own:
        --key-file PATH, or APPLE_SIMULATOR_KEYS, or apple-simulator/keys.json in the XDG state folder.
        Exit status: 0 done, 64 wrong use, 70 libcrypto failed, 71 the network refused, 73 a file cannot be made,
        or is open to others.
        """
}

protocol Command {
    static var name: String { get }
    static var options: [Options.Option] { get }
    static var help: String { get }

    init(_ options: Options) throws
    func run() throws
}

/// The command was not used as its help says.
struct UsageError: Error {
    var reason: String
}

/// The command was understood and could not be carried out.
struct Failure: Error {
    var reason: String
    var exitStatus: Int32
}

/// The values of sysexits.h that are used.
enum ExitStatus {
    static let success: Int32 = 0
    static let usage: Int32 = 64
    static let software: Int32 = 70
    static let system: Int32 = 71
    static let cannotCreate: Int32 = 73
}
