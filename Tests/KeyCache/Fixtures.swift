import AppleID
import Foundation
import JOSE
import KeyCache

/// Key sets with keys of any name. The numbers in them are those of no real key, which nobody verifies by here.
enum Keys {
    static func set(_ names: String...) -> KeySet {
        KeySet(keys: names.map { JWK(keyID: $0, key: .rsa(rsa($0))) })
    }

    static func body(_ names: String...) -> String {
        KeySet(keys: names.map { JWK(keyID: $0, key: .rsa(rsa($0))) }).json.text
    }

    private static func rsa(_ name: String) -> PublicKey.RSA {
        let seed = Array(name.utf8) + [0]
        let modulus: [UInt8] = [0xC1] + (0..<254).map { seed[$0 % seed.count] ^ UInt8($0) } + [0x01]
        guard let key = PublicKey.RSA(modulus: modulus, exponent: [1, 0, 1]) else { fatalError("not a key") }
        return key
    }
}

/// A cache with a server that answers as told and a clock that stands until it is moved; "processes" are further caches
/// on the same file.
final class Stage {
    enum Saying {
        case keys(KeySet)
        case response(KeyResponse)
        case failure(KeyFetchFailure)
    }

    static let start = UnixTime(seconds: 1_800_000_000)
    static let url = "https://appleid.apple.com/auth/keys"

    let folder = FileManager.default.temporaryDirectory.path + "/key-cache-\(UUID().uuidString)"
    var path: String { folder + "/keys.json" }
    var now = Stage.start
    var saying: Saying
    /// The entity tag of every request that was made.
    var requests: [String?] = []
    var duringFetch: () -> Void = {}

    init(_ saying: Saying = .keys(Keys.set("A", "B"))) {
        self.saying = saying
    }

    deinit {
        chmod(folder, 0o700)
        try? FileManager.default.removeItem(atPath: folder)
    }

    func process(path: String? = nil, url: String = Stage.url) -> KeyCache {
        let cache = KeyCache(path: path ?? self.path, url: url, now: { self.now }, fetch: answer)
        guard let cache else { fatalError("no file") }
        return cache
    }

    func advance(_ seconds: Int64) {
        now = now.adding(seconds: seconds)
    }

    private func answer(to entityTag: String?) throws(KeyFetchFailure) -> KeyResponse {
        requests.append(entityTag)
        duringFetch()
        switch saying {
        case .keys(let keys): return KeyResponse(status: 200, body: keys.json.serialized())
        case .response(let response): return response
        case .failure(let failure): throw failure
        }
    }
}

extension KeyCache {
    /// How one request went: whether the key is known, or the error.
    func ask(_ keyID: String) -> Result<Bool, KeysUnavailable> {
        do throws(KeysUnavailable) {
            return .success(try keys(naming: keyID).contains(keyID))
        } catch {
            return .failure(error)
        }
    }
}

extension Result where Success == Bool, Failure == KeysUnavailable {
    var isKnown: Bool { (try? get()) == true }
    var isUnknown: Bool { (try? get()) == false }
    var retryAfter: Int64? {
        if case .failure(let error) = self { error.retryAfter } else { nil }
    }
}
