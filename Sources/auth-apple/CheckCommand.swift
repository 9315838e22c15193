internal import Accounts
internal import AppleID
internal import AuthFunction
internal import JOSE
internal import KeyCache
internal import OpenSSLCrypto
internal import UserStores

/// `auth-apple check`: whether the function can serve, a line each, with the remedy.
enum CheckCommand {
    static func run() -> Int32 {
        let rooms: Rooms
        do throws(Configuration.Refusal) {
            rooms = try Rooms(System.environment())
        } catch {
            for problem in error.problems { line(false, "configuration", problem.line) }
            return ExitStatus.configuration
        }
        let audiences = rooms.configuration.policy.audiences.count
        line(true, "configuration", "\(rooms.configuration.mode.rawValue) mode, \(audiences) audience(s)")
        let results = [
            checkSigningKeys(rooms), checkStore(rooms), checkAppleKeys(rooms), checkAppleServer(rooms),
            checkOutbox(rooms),
        ]
        tellOfWebFlow(rooms)
        tellWhatIsOff(rooms)
        return results.allSatisfy { $0 } ? ExitStatus.success : ExitStatus.configuration
    }

    static func line(_ isGood: Bool, _ subject: String, _ text: String) {
        line(isGood ? "ok  " : "FAIL", subject, text)
    }

    /// What is not wrong, and not on.
    static func off(_ subject: String, _ text: String) {
        line("off ", subject, text)
    }

    private static func line(_ word: String, _ subject: String, _ text: String) {
        let padding = String(repeating: " ", count: max(1, 17 - subject.count))
        Descriptor.print("\(word)  \(subject)\(padding)\(text)")
    }

    /// Signs and verifies: a private key whose public half is another's would make tokens that nobody accepts.
    private static func checkSigningKeys(_ rooms: Rooms) -> Bool {
        let keys = rooms.configuration.signingKeys
        let message = Array("auth-apple check".utf8)
        let broken = keys.entries.first { entry in
            guard let signature = try? rooms.cryptography.sign(message[...], with: entry.key.privateKey) else {
                return true
            }
            return !rooms.cryptography.isValid(
                signature[...], over: message[...], by: entry.key.privateKey.publicKey,
                algorithm: entry.key.privateKey.algorithm)
        }
        if let broken {
            line(
                false, "signing keys",
                "the private and the public part of \(broken.key.keyID) do not belong together: restore the file")
            return false
        }
        line(true, "signing keys", "\(keys.current.keyID) signs, \(keys.entries.count) published")
        return true
    }

    private static func checkStore(_ rooms: Rooms) -> Bool {
        do throws(StoreError) {
            line(true, "store", try rooms.store.check())
            return true
        } catch {
            switch error {
            case .unavailable(let reason), .unusable(let reason): line(false, "store", reason)
            }
            return false
        }
    }

    /// Asks Apple itself, and the cache as a request would.
    private static func checkAppleKeys(_ rooms: Rooms) -> Bool {
        var fetched: KeySet?
        do throws(KeyFetchFailure) {
            let response = try AppleKeys(rooms.configuration).fetch(entityTag: nil)
            let keys = try? KeySet(parsing: response.body[...])
            if response.status == 200, let keys, keys.contains(.rs256) {
                line(true, "Apple's keys", "\(keys.keys.count) keys from \(rooms.configuration.keysURL)")
                fetched = keys
            } else {
                line(
                    false, "Apple's keys",
                    "status \(response.status) without a usable key set: check AUTH_APPLE_KEYS_URL")
            }
        } catch {
            line(
                false, "Apple's keys", "\(error): check AUTH_APPLE_KEYS_URL, the network and the system's certificates")
        }
        do throws(KeysUnavailable) {
            // Names a key that Apple has, since a name that it has not would start the cooldown.
            _ = try rooms.keyCache.keys(naming: fetched?.keys.first?.keyID ?? "")
            let notes = rooms.keyCache.takeReport().notes
            let remedy = "let AUTH_APPLE_KEY_CACHE name a file in a folder that only this user can write to"
            line(
                notes.isEmpty, "key cache",
                ([rooms.configuration.keyCachePath] + notes.map(\.description)).joined(separator: "; ")
                    + (notes.contains(where: \.isOfTheFile) ? ": \(remedy)" : ""))
            return fetched != nil && notes.isEmpty
        } catch {
            line(false, "key cache", error.reason)
            return false
        }
    }
}
