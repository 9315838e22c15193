// One use of the key cache in a process of its own, for the tests that need many of them.
//
//     key-cache-probe CACHE_FILE URL CA_FILE KID [SECONDS_TO_ADD_TO_THE_CLOCK]

import AppleID
import CurlHTTP
import Glibc
import JOSE
import KeyCache
import TestSupport

let arguments = CommandLine.arguments
guard arguments.count >= 5 else { exit(64) }
let shift = arguments.count > 5 ? Int64(arguments[5]) ?? 0 : 0

let client = HTTPClient(userAgent: "auth-apple/probe", certificateAuthorities: arguments[3])
let url = try HTTPURL(arguments[2], allowing: .loopback)
let cache = KeyCache(
    path: arguments[1], url: url.text,
    now: {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
            .adding(seconds: shift)
    },
    fetch: { tag throws(KeyFetchFailure) in try client.fetchKeys(from: url, entityTag: tag) })
guard let cache else { exit(64) }

var found = "unavailable"
do {
    found = try cache.keys(naming: arguments[4]).contains(arguments[4]) ? "known" : "unknown"
} catch {
    found = "unavailable: \(error.reason)"
}
let outcome = cache.takeReport().outcome?.rawValue ?? "none"
cache.refreshIfStale()
let notes = cache.takeReport().notes.map { JSON.string($0.description) }
print((["found": .string(found), "outcome": .string(outcome), "notes": .array(notes)] as JSON).text)
