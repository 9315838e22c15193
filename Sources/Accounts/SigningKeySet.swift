package import JOSE

/// Our own signing keys, and the moments at which each of them took its state.
///
/// A key is published before it signs and stays published after it has signed: next → current → previous. So a verifier
/// that remembers our key set for less than the announcement never meets a key that it does not know.
package struct SigningKeySet: Sendable {
    package enum State: String, Sendable {
        case next, current, previous
    }

    package struct Entry: Sendable {
        package var key: SigningKey
        package var state: State
        package var since: UnixTime
    }

    package internal(set) var entries: [Entry]

    /// A new set: the key that signs, and the one that will.
    package init(current: SigningKey, next: SigningKey, at now: UnixTime) {
        entries = [
            Entry(key: current, state: .current, since: now), Entry(key: next, state: .next, since: now),
        ]
    }

    /// The key that signs; every way to make or change a set leaves exactly one.
    package var current: SigningKey {
        guard let entry = entries.first(where: { $0.state == .current }) else { preconditionFailure() }
        return entry.key
    }

    /// What is published: every key, so that tokens signed before and after a rotation verify.
    package var publicKeys: KeySet {
        KeySet(keys: entries.map(\.key.jwk))
    }

    /// Why a text is not a set of signing keys; the words are for the operator and hold nothing of the keys.
    package struct Refusal: Error, Hashable {
        package var reason: String
    }

    /// Reads the private JWK set of the key file, or one plain private JWK. One key needs no `state`; of more, exactly one must
    /// be `current`, and one at most `next`.
    package init(parsing bytes: ArraySlice<UInt8>, using cryptography: any Cryptography) throws(Refusal) {
        let json: JSON
        do {
            json = try JSON(parsing: bytes, limits: JSON.Limits(bytes: 65_536, depth: 4))
        } catch {
            throw Refusal(reason: "is not a JSON text")
        }
        let members = json["keys"]?.array ?? [json]
        var entries: [Entry] = []
        for (index, member) in members.enumerated() {
            let key: SigningKey
            do {
                key = try SigningKey(member, using: cryptography)
            } catch {
                throw Refusal(reason: "key \(index + 1) is not an EC P-256 or RSA private key for signing")
            }
            let stateName = member["state"] ?? (members.count == 1 ? "current" : .null)
            guard let state = stateName.string.flatMap(State.init) else {
                throw Refusal(reason: "key \(index + 1) has no \"state\": next, current or previous")
            }
            guard let since = (member["since"] ?? .integer(0)).integer else {
                throw Refusal(reason: "key \(index + 1) has a \"since\" that is not a whole number of seconds")
            }
            entries.append(Entry(key: key, state: state, since: UnixTime(seconds: since)))
        }
        guard entries.count(where: { $0.state == .current }) == 1 else {
            throw Refusal(reason: "has not exactly one key whose \"state\" is \"current\"")
        }
        // A rotation would make both of them current.
        guard entries.count(where: { $0.state == .next }) <= 1 else {
            throw Refusal(reason: "has more than one key whose \"state\" is \"next\"")
        }
        guard Set(entries.map(\.key.keyID)).count == entries.count else {
            throw Refusal(reason: "has two keys of one \"kid\"")
        }
        self.entries = entries
    }

    /// The whole set, secret parts included: for the key file and nothing else.
    package var secretJSON: JSON {
        [
            "keys": .array(
                entries.map { entry in
                    var object = entry.key.secretJSON.object ?? [:]
                    object["state"] = .string(entry.state.rawValue)
                    object["since"] = .integer(entry.since.seconds)
                    return .object(object)
                })
        ]
    }
}
