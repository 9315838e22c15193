import Accounts
import AppleID
import Glibc
import JOSE
import TestSupport
import UserStores

/// One process of many on a store, for the tests: `store-probe URL COMMAND [ARGUMENT]`. It prints one line of what came out,
/// or the error, and then exits 1.
///
/// - `sign-in SUB`: signs in once: `account-id isNew session-id`.
/// - `apple`: signs in with a token of Apple's: `session-id isNew refresh-token access-token`. Standard input is
///   `{"token":…,"keys":…,"idempotency_key":…,"time":…}`.
/// - `exchange`: exchanges a code of the web flow: `session-id isNew refresh-token`. Standard input is
///   `{"code":…,"verifier":…,"device":…,"time":…}`.
/// - `refresh`, `logout`: with the refresh token on standard input: the successor, or `done`.
/// - `fork SUB`: signs in, and goes on as two processes, of which both sign in.
/// - `count KEY WINDOW TIMES`: counts attempts: a number each.
/// - `lives SUB`: signs in, refreshes twice and logs out, over and over, a line each, until it is killed. Every fourth session
///   is left alive.
///
/// - `--at-gate` says "ready" and waits for the end of standard input first, so that many begin at once.
/// - `--hold` prints "inside" in the middle of the transaction and waits for the end of standard input there.
/// - `--stay` waits to be killed after the result is printed.
/// - `--user ID` gives up the rights of root first.
/// - `--file-size BYTES` lets no file grow further: a disk that is full.
/// - `--umask BITS`, octal.
/// - `--patience MS`: how long to wait for others.
let arguments = CommandLine.arguments.dropFirst()

func option(_ name: String) -> String? {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: name), index + 1 < arguments.endIndex else { return nil }
    return arguments[index + 1]
}

func readInput() -> String {
    var bytes: [UInt8] = []
    while case let character = getchar(), character != EOF { bytes.append(UInt8(character)) }
    return String(decoding: bytes, as: UTF8.self)
}

/// In one piece and at once: what is printed is acknowledged.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

func now() -> UnixTime {
    var clock = timespec()
    clock_gettime(CLOCK_REALTIME, &clock)
    return UnixTime(milliseconds: Int64(clock.tv_sec) * 1000 + Int64(clock.tv_nsec) / 1_000_000)
}

/// Apple's keys as the test hands them over.
struct GivenKeys: AppleKeySource {
    let set: KeySet

    func keys(naming keyID: String) throws(KeysUnavailable) -> KeySet { set }
}

if let bits = option("--umask").flatMap({ mode_t($0, radix: 8) }) { umask(bits) }
if let user = option("--user").flatMap({ uid_t($0) }), setgid(user) != 0 || setuid(user) != 0 { exit(2) }
if let size = option("--file-size").flatMap({ rlim_t($0) }) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: size, rlim_max: size)
    guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(2) }
}
guard arguments.count >= 2, let url = arguments.first else { exit(2) }
let command = arguments[arguments.startIndex + 1]
let argument = arguments.count > 2 ? arguments[arguments.startIndex + 2] : ""
let patience = option("--patience").flatMap { Int($0) } ?? 20_000

func run() throws {
    let store = try UserStores.open(url, isDevelopment: true, patience: .milliseconds(patience))
    let service = TestService(users: store)
    if arguments.contains("--at-gate") { say("ready") }
    let input =
        arguments.contains("--at-gate") || ["apple", "exchange", "refresh", "logout"].contains(command)
        ? readInput() : ""
    switch command {
    case "sign-in":
        let made = try service.open(
            argument, profile: Profile(fullName: "Ana García", contactEmail: "canary-contact@example.com"),
            device: ["id": "canary-device", "platform": "ios"], at: now()
        ) {
            guard arguments.contains("--hold") else { return }
            say("inside")
            _ = readInput()
        }
        say("\(made.account.id) \(made.isNew) \(made.session.id)")
    case "apple":
        let request = try JSON(parsing: Array(input.utf8), limits: JSON.Limits(bytes: 65_536))
        guard let token = request["token"]?.string, let keys = request["keys"],
            let time = request["time"]?.integer
        else { exit(2) }
        let signIn = service.signIn(appleKeys: GivenKeys(set: try KeySet(keys)))
        let signedIn = try signIn(
            SignIn.Request(
                identityToken: Array(token.utf8)[...], nonce: nil,
                client: SignIn.Client(
                    deviceInfo: DeviceInfo(stored: [:]), idempotencyKey: request["idempotency_key"]?.string)),
            origin: TestService.origin, at: UnixTime(seconds: time))
        say(
            "\(signedIn.sessionID) \(signedIn.isNew) \(signedIn.tokens.refreshToken) \(signedIn.tokens.accessToken)")
    case "exchange":
        let request = try JSON(parsing: Array(input.utf8), limits: JSON.Limits(bytes: 65_536))
        guard let code = request["code"]?.string, let device = request["device"], let time = request["time"]?.integer,
            let verifier = request["verifier"]?.string.flatMap(CodeVerifier.init)
        else { exit(2) }
        let web = service.webSignIn(appleKeys: GivenKeys(set: KeySet(keys: [])))
        let signedIn = try web.exchange(
            code, verifier: verifier, client: SignIn.Client(deviceInfo: DeviceInfo(stored: device)),
            origin: TestService.origin, at: UnixTime(seconds: time)
        ).signedIn
        say("\(signedIn.sessionID) \(signedIn.isNew) \(signedIn.tokens.refreshToken)")
    case "refresh":
        say(try service.sessions.refresh(input, origin: TestService.origin, at: now()).tokens.refreshToken)
    case "logout":
        try service.sessions.logOut(refreshToken: input, origin: TestService.origin, at: now())
        say("done")
    case "fork":
        // As the CGI doorway does: a child goes on when the answer is written.
        _ = try service.open(argument, at: now())
        let child = fork()
        let made = try service.open(argument, at: now())
        guard child != 0 else { _exit(0) }
        var status: Int32 = 0
        waitpid(child, &status, 0)
        _ = try service.open(argument, at: now())
        say("\(made.account.id) \(status)")
    case "count":
        let words = arguments.dropFirst(2).prefix(3).map { $0 }
        guard words.count == 3, let window = Int64(words[1]), let times = Int(words[2]) else { exit(2) }
        let key = AttemptKey(
            kind: words[0], subject: [], secret: SecretBytes([1]), using: TokenForge.cryptography)
        for _ in 0..<times { say("\(try store.count(key, window: UnixTime(seconds: window), of: 60))") }
    case "lives":
        for life in 1... {
            let made = try service.open(argument, at: now())
            say("opened \(made.session.id) \(made.token.text) \(made.isNew)")
            var token = made.token.text
            for _ in 0..<2 {
                token = try service.sessions.refresh(token, origin: TestService.origin, at: now()).tokens.refreshToken
                say("refreshed \(made.session.id) \(token)")
            }
            guard life % 4 != 0 else { continue }
            try service.sessions.logOut(refreshToken: token, origin: TestService.origin, at: now())
            say("ended \(made.session.id)")
        }
    default:
        exit(2)
    }
    if arguments.contains("--stay") { pause() }
}

do {
    try run()
} catch {
    say("\(error)")
    exit(1)
}
