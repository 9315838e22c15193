import Accounts
import Glibc
import JOSE
import UserStores

/// One process of many on a store, for the tests: `store-probe URL sign-in SUB` signs in once and prints
/// `account-id isNew session-id`, or the error, and then exits 1.
///
/// - `--at-gate` waits for the end of standard input first, so that many begin at once.
/// - `--hold` prints "inside" in the middle of the transaction and waits for the end of standard input there.
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

func waitForEndOfInput() {
    while getchar() != EOF {}
}

func random(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255) }
}

if let bits = option("--umask").flatMap({ mode_t($0, radix: 8) }) { umask(bits) }
if let user = option("--user").flatMap({ uid_t($0) }), setgid(user) != 0 || setuid(user) != 0 { exit(2) }
if let size = option("--file-size").flatMap({ rlim_t($0) }) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: size, rlim_max: size)
    guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(2) }
}
guard arguments.count >= 3, let url = arguments.first else { exit(2) }
let subject = arguments[arguments.startIndex + 2]
let patience = option("--patience").flatMap { Int($0) } ?? 20_000

do {
    let store = try UserStores.open(url, patience: .milliseconds(patience))
    if arguments.contains("--at-gate") {
        print("ready")
        fflush(nil)
        waitForEndOfInput()
    }
    var clock = timespec()
    clock_gettime(CLOCK_REALTIME, &clock)
    let now = UnixTime(milliseconds: Int64(clock.tv_sec) * 1000 + Int64(clock.tv_nsec) / 1_000_000)
    let candidate = Account(
        id: UUIDv7(at: now, random: random(10)), appleSubject: subject,
        profile: Profile(fullName: "Ana García", contactEmail: "canary-contact@example.com"), createdAt: now,
        updatedAt: now)
    let (account, isNew, session) = try store.signIn(candidate) { account in
        if arguments.contains("--hold") {
            print("inside")
            fflush(nil)
            waitForEndOfInput()
        }
        return Session(
            id: UUIDv7(at: now, random: random(10)), accountID: account.id, clientID: "com.example.app",
            deviceInfo: DeviceInfo(stored: ["id": "canary-device", "platform": "ios"]),
            refreshDigest: random(32), createdAt: now,
            expiresAt: now.adding(seconds: 2_592_000))
    }
    print(account.id, isNew, session.id)
} catch {
    print(error)
    exit(1)
}
