import AppleID
import Foundation
import JOSE
import Testing

@testable import KeyCache

@Suite struct KeyCacheTests {
    static let failure = KeyFetchFailure.noResponse(code: "timeout", words: "Timeout was reached")
    static let hour: Int64 = 3600

    @Test func withNothingRememberedTheKeysAreFetchedOnceForAllProcesses() {
        let stage = Stage()
        let first = stage.process()
        #expect(first.ask("A").isKnown)
        #expect(first.takeReport() == KeyCacheReport(outcome: .refreshed))
        let second = stage.process()
        #expect(second.ask("B").isKnown)
        #expect(second.takeReport() == KeyCacheReport(outcome: .hit))
        second.refreshIfStale()
        #expect(stage.requests.count == 1)
    }

    @Test func aReportIsGivenOnce() {
        let cache = Stage().process()
        _ = cache.ask("A")
        _ = cache.takeReport()
        #expect(cache.takeReport() == KeyCacheReport())
    }

    @Test func staleKeysAreUsedAndRenewedAfterwards() {
        let stage = Stage()
        _ = stage.process().ask("A")
        stage.advance(Self.hour)
        let cache = stage.process()
        #expect(cache.ask("A").isKnown)
        #expect(stage.requests.count == 1)
        #expect(cache.takeReport().outcome == .stale)
        cache.refreshIfStale()
        #expect(stage.requests.count == 2)
        #expect(cache.takeReport().notes == [.renewed])
        cache.refreshIfStale()
        #expect(stage.requests.count == 2)
        #expect(stage.process().ask("A").isKnown)
        #expect(stage.requests.count == 2)
    }

    @Test func aRenewalThatFailsIsNotTriedAgainForAMinute() {
        let stage = Stage()
        _ = stage.process().ask("A")
        stage.advance(Self.hour)
        stage.saying = .failure(Self.failure)
        for (wait, requests) in [(0, 2), (59, 2), (1, 3), (59, 3), (1, 4)] as [(Int64, Int)] {
            stage.advance(wait)
            let cache = stage.process()
            #expect(cache.ask("A").isKnown)
            cache.refreshIfStale()
            #expect(stage.requests.count == requests)
        }
    }

    @Test func keysAreServedForThreeDaysThroughAnOutageAndNotLonger() {
        let stage = Stage()
        _ = stage.process().ask("A")
        stage.saying = .failure(Self.failure)
        stage.advance(72 * Self.hour)
        #expect(stage.process().ask("A").isKnown)
        stage.advance(1)
        let cache = stage.process()
        let answer = cache.ask("A")
        #expect(answer.retryAfter == 10)
        #expect(cache.takeReport() == KeyCacheReport(outcome: .unavailable, notes: [.fetchFailed(Self.failure)]))
        stage.saying = .keys(Keys.set("A"))
        stage.advance(10)
        #expect(stage.process().ask("A").isKnown)
    }

    @Test func inAnOutageWithoutKeysOneRequestInTenSecondsWaitsForTheServer() {
        let stage = Stage(.failure(Self.failure))
        for (wait, requests, retry) in [(0, 1, 10), (1, 1, 9), (8, 1, 1), (1, 2, 10)] as [(Int64, Int, Int64)] {
            stage.advance(wait)
            let answer = stage.process().ask("A")
            #expect(answer.retryAfter == retry)
            #expect(stage.requests.count == requests)
        }
    }

    @Test func theReasonSaysWhatFailedAndWhenItIsTriedAgain() {
        let stage = Stage(.failure(Self.failure))
        let first = #expect(throws: KeysUnavailable.self) { try stage.process().keys(naming: "hunter2") }
        #expect(
            first?.reason
                == "fetching the keys failed: no response (timeout: Timeout was reached); the next is tried in 10 s")
        stage.advance(4)
        let second = #expect(throws: KeysUnavailable.self) { try stage.process().keys(naming: "hunter2") }
        #expect(second?.reason == "the last fetch of the keys failed; the next is tried in 6 s")
    }

    @Test func aKeyThatAppearedAfterTheLastFetchIsFoundAtTheFirstTry() {
        let stage = Stage()
        _ = stage.process().ask("A")
        stage.saying = .keys(Keys.set("B", "C"))
        let cache = stage.process()
        #expect(cache.ask("C").isKnown)
        #expect(cache.takeReport().outcome == .refreshed)
        #expect(stage.requests.count == 2)
        // The one that was withdrawn is gone with the same fetch.
        #expect(stage.process().ask("A").isUnknown)
    }

    @Test func unknownNamesCauseOneFetchAMinuteWhateverTheyAre() {
        let stage = Stage()
        _ = stage.process().ask("A")
        for second in 0..<180 {
            #expect(stage.process().ask("random-\(second)").isUnknown)
            #expect(stage.process().ask("A").isKnown)
            stage.advance(1)
        }
        #expect(stage.requests.count == 1 + 3)
    }

    @Test func unknownNamesOnAnEmptyCacheCauseOneFetchAMinuteToo() {
        let stage = Stage()
        for second in 0..<60 {
            #expect(stage.process().ask("random-\(second)").isUnknown)
            stage.advance(1)
        }
        #expect(stage.requests.count == 1)
    }

    @Test func anUnknownNameDuringAnOutageIsNotTheTokensFault() {
        let stage = Stage()
        _ = stage.process().ask("A")
        stage.saying = .failure(Self.failure)
        #expect(stage.process().ask("C").retryAfter == 60)
        stage.advance(30)
        let cache = stage.process()
        #expect(cache.ask("D").retryAfter == 30)
        #expect(cache.takeReport().outcome == .unavailable)
        #expect(stage.process().ask("A").isKnown)
        #expect(stage.requests.count == 2)
        stage.advance(30)
        stage.saying = .keys(Keys.set("A", "C"))
        #expect(stage.process().ask("C").isKnown)
    }

    @Test func theSameKeysSaidAnewAreFreshAgain() {
        let body = Keys.set("A").json.serialized()
        let stage = Stage(
            .response(KeyResponse(status: 200, cacheControl: "max-age=600", entityTag: "\"v1\"", body: body)))
        _ = stage.process().ask("A")
        stage.advance(600)
        stage.saying = .response(KeyResponse(status: 304, cacheControl: "max-age=900"))
        let cache = stage.process()
        _ = cache.ask("A")
        cache.refreshIfStale()
        #expect(stage.requests == [nil, "\"v1\""])
        stage.advance(899)
        let next = stage.process()
        #expect(next.ask("A").isKnown)
        #expect(next.takeReport().outcome == .hit)
        // Their age begins anew as well.
        stage.advance(72 * Self.hour - 899)
        #expect(stage.process().ask("A").isKnown)
        #expect(stage.requests.count == 2)
    }

    @Test func nothingHasNotChangedWhenThereWasNothing() {
        let stage = Stage(.response(KeyResponse(status: 304)))
        let cache = stage.process()
        #expect(cache.ask("A").retryAfter == 10)
        #expect(cache.takeReport().notes == [.fetchFailed(.status(304))])
    }

    static let bad: [(KeyResponse, KeyFetchFailure)] = [
        (KeyResponse(status: 403, body: Array("<html>".utf8)), .status(403)),
        (KeyResponse(status: 500, body: Keys.set("C").json.serialized()), .status(500)),
        (KeyResponse(status: 302, body: Keys.set("C").json.serialized()), .status(302)),
        (KeyResponse(status: 204), .status(204)),
        (KeyResponse(status: 200), .notKeySet),
        (KeyResponse(status: 200, body: Array("<html>".utf8)), .notKeySet),
        (KeyResponse(status: 200, body: Array("[]".utf8)), .notKeySet),
        (KeyResponse(status: 200, body: Array(#"{"keys":{}}"#.utf8)), .notKeySet),
        (KeyResponse(status: 200, body: [UInt8](repeating: UInt8(ascii: " "), count: 65_537)), .notKeySet),
        (KeyResponse(status: 200, body: Array(#"{"keys":[]}"#.utf8)), .noUsableKey),
        (KeyResponse(status: 200, body: Array(#"{"keys":[{"kty":"oct","k":"AA"}]}"#.utf8)), .noUsableKey),
        // Signs, but not as Apple signs.
        (
            KeyResponse(
                status: 200,
                body: Array(
                    #"{"keys":[{"kty":"EC","crv":"P-256","kid":"C","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#
                        .utf8)), .noUsableKey
        ),
    ]

    @Test(arguments: bad.indices) func aBadAnswerNeverReplacesGoodKeys(index: Int) {
        let (response, failure) = Self.bad[index]
        let stage = Stage()
        _ = stage.process().ask("A")
        stage.saying = .response(response)
        stage.advance(Self.hour)
        let cache = stage.process()
        #expect(cache.ask("A").isKnown)
        cache.refreshIfStale()
        #expect(cache.takeReport().notes == [.fetchFailed(failure)])
        #expect(stage.process().ask("B").isKnown)
        #expect(stage.process().ask("C").retryAfter == 60)
        let empty = Stage(.response(response))
        #expect(empty.process().ask("A").retryAfter == 10)
    }

    // MARK: The file

    @Test(
        arguments: [
            ("empty", ""), ("truncated", nil), ("corrupt", "{\"format\":1}"), ("binary", "\u{0}\u{1}"),
        ] as [(String, String?)])
    func aFileThatWeDidNotWriteSoIsFetchedAgain(kind: String, content: String?) throws {
        let stage = Stage()
        _ = stage.process().ask("A")
        let good = try Data(contentsOf: URL(fileURLWithPath: stage.path))
        let bad = content.map { Data($0.utf8) } ?? good.dropLast()
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: stage.path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: bad)
        let cache = stage.process()
        #expect(cache.ask("A").isKnown)
        #expect(cache.takeReport() == KeyCacheReport(outcome: .refreshed, notes: [.fileCorrupt]))
        #expect(stage.requests.count == 2)
        #expect(try Data(contentsOf: URL(fileURLWithPath: stage.path)) == good)
    }

    /// A wrong path: it was replaced by the first keys that were fetched, and `auth-apple check` fetches some. So went the signing keys,
    /// and the database with every account in it.
    @Test(arguments: [
        ("the database", "SQLite format 3\u{0}", 300_000), ("signing keys", #"{"keys":[{"kty":"EC"}]}"#, 0),
        ("a key of Apple's", "-----BEGIN PRIVATE KEY-----", 0), ("a letter", "x", 0),
    ])
    func aFileOfSomethingElseIsNeitherUsedNorReplaced(what: String, beginning: String, more: Int) throws {
        let stage = Stage()
        mkdir(stage.folder, 0o700)
        let content = Data(beginning.utf8) + Data(count: more)
        try content.write(to: URL(fileURLWithPath: stage.path))
        for requests in 1...2 {
            let cache = stage.process()
            #expect(cache.ask("A").isKnown)
            #expect(
                cache.takeReport().notes.last?.description
                    == "cache file is of something else: neither used nor replaced")
            #expect(stage.requests.count == requests)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: stage.path)) == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder) == ["keys.json"])
    }

    @Test func aFileThatOthersMayWriteIsFetchedAgain() {
        let stage = Stage()
        _ = stage.process().ask("A")
        chmod(stage.path, 0o666)
        let cache = stage.process()
        #expect(cache.ask("A").isKnown)
        #expect(cache.takeReport() == KeyCacheReport(outcome: .refreshed, notes: [.file(.writableByOthers(.file))]))
        let next = stage.process()
        #expect(next.ask("A").isKnown)
        #expect(next.takeReport() == KeyCacheReport(outcome: .hit))
    }

    @Test func aLinkInTheFilesPlaceIsFetchedAgain() throws {
        let stage = Stage()
        _ = stage.process().ask("A")
        rename(stage.path, stage.path + "-real")
        symlink(stage.path + "-real", stage.path)
        let cache = stage.process()
        #expect(cache.ask("A").isKnown)
        #expect(cache.takeReport() == KeyCacheReport(outcome: .refreshed, notes: [.file(.symbolicLink(.file))]))
        #expect(stage.process().ask("A").isKnown)
        #expect(stage.requests.count == 2)
    }

    @Test(.enabled(if: geteuid() == 0, "needs the right to give files away"))
    func aFileOfAnotherUserIsFetchedAgain() {
        let stage = Stage()
        _ = stage.process().ask("A")
        chown(stage.path, 65_534, 65_534)
        let cache = stage.process()
        #expect(cache.ask("A").isKnown)
        #expect(cache.takeReport() == KeyCacheReport(outcome: .refreshed, notes: [.file(.foreignOwner(.file))]))
        #expect(stage.process().ask("A").isKnown)
        #expect(stage.requests.count == 2)
    }

    @Test func inAFolderThatOthersMayWriteEveryProcessFetchesForItself() {
        let stage = Stage()
        _ = stage.process().ask("A")
        chmod(stage.folder, 0o777)
        for requests in 2...3 {
            let cache = stage.process()
            #expect(cache.ask("A").isKnown)
            #expect(
                cache.takeReport() == KeyCacheReport(outcome: .refreshed, notes: [.file(.writableByOthers(.folder))]))
            // But once in its life.
            #expect(cache.ask("B").isKnown)
            #expect(stage.requests.count == requests)
        }
    }

    @Test func withoutAPlaceForTheFileTheKeysAreServedAllTheSame() {
        let stage = Stage()
        let cache = stage.process(path: "/proc/nowhere/keys.json")
        #expect(cache.ask("A").isKnown)
        let report = cache.takeReport()
        #expect(report.outcome == .refreshed)
        #expect(report.notes.contains { if case .file(.unwritable(.folder, _)) = $0 { true } else { false } })
        #expect(cache.ask("random").isUnknown)
        #expect(cache.ask("random").isUnknown)
        #expect(stage.requests.count == 2)
    }

    @Test func theKeysOfAnotherAddressAreNotUsed() {
        let stage = Stage()
        _ = stage.process().ask("A")
        stage.saying = .keys(Keys.set("C"))
        let cache = stage.process(url: "https://localhost/keys")
        #expect(cache.ask("A").isUnknown)
        #expect(cache.takeReport() == KeyCacheReport(outcome: .refreshed, notes: [.fileOfAnotherAddress]))
    }

    // MARK: The clock

    @Test func keysFromTheFutureAreRenewedAndDoNotLiveForEver() {
        let stage = Stage()
        stage.advance(30 * 24 * Self.hour)
        _ = stage.process().ask("A")
        stage.now = Stage.start
        stage.saying = .failure(Self.failure)
        let cache = stage.process()
        #expect(cache.ask("A").isKnown)
        #expect(cache.takeReport() == KeyCacheReport(outcome: .stale, notes: [.clockSetBack]))
        cache.refreshIfStale()
        #expect(stage.requests.count == 2)
        stage.advance(72 * Self.hour)
        #expect(stage.process().ask("A").isKnown)
        stage.advance(1)
        #expect(stage.process().ask("A").retryAfter == 10)
    }

    @Test func aCooldownFromTheFutureIsNotWaitedFor() {
        let stage = Stage()
        stage.advance(30 * 24 * Self.hour)
        _ = stage.process().ask("random")
        stage.now = Stage.start
        #expect(stage.process().ask("random").isUnknown)
        #expect(stage.requests.count == 2)
        #expect(stage.process().ask("random").isUnknown)
        #expect(stage.requests.count == 2)
    }

    // MARK: A process that lives long

    @Test func aLongLivedProcessSeesWhatAnotherFetched() {
        let stage = Stage()
        let long = stage.process()
        _ = long.ask("A")
        stage.saying = .keys(Keys.set("C"))
        #expect(stage.process().ask("C").isKnown)
        #expect(long.ask("C").isKnown)
        #expect(long.ask("A").isUnknown)
        #expect(stage.requests.count == 3)
    }

    @Test func aLongLivedProcessDoesNotReadTheSameFileTwice() throws {
        let stage = Stage()
        let long = stage.process()
        _ = long.ask("A")
        // Other bytes under the same inode, size and time: it would notice if it read them.
        var status = stat()
        stat(stage.path, &status)
        let size = try Data(contentsOf: URL(fileURLWithPath: stage.path)).count
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: stage.path))
        try handle.write(contentsOf: Data(repeating: 0, count: size))
        try handle.close()
        var times = [status.st_atim, status.st_mtim]
        utimensat(AT_FDCWD, stage.path, &times, 0)
        #expect(long.ask("A").isKnown)
        #expect(long.takeReport().notes.isEmpty)
        #expect(stage.process().ask("A").isKnown)
        #expect(stage.requests.count == 2)
    }

    @Test func aLongLivedProcessKeepsItsKeysWhenTheFileGoesBad() {
        let stage = Stage()
        let long = stage.process()
        _ = long.ask("A")
        unlink(stage.path)
        #expect(long.ask("A").isKnown)
        #expect(stage.requests.count == 1)
    }

    // MARK: Several at once

    /// "Not modified" would say nothing about a key that is not at hand.
    @Test func forAMissingKeyTheWholeSetIsAskedFor() {
        let stage = Stage(
            .response(
                KeyResponse(status: 200, entityTag: "\"1\"", body: Keys.set("A").json.serialized())))
        #expect(stage.process().ask("A").isKnown)
        stage.advance(61)
        #expect(stage.process().ask("C").isUnknown)
        #expect(stage.requests == [nil, nil])
    }

    @Test func whatAProcessFetchedAndCouldNotStoreIsNotLostToAnOlderFile() throws {
        let stage = Stage()
        let process = stage.process()
        #expect(process.ask("A").isKnown)
        chmod(stage.folder, 0o777)
        stage.saying = .keys(Keys.set("A", "B", "C"))
        stage.advance(61)
        #expect(process.ask("C").isKnown)
        chmod(stage.folder, 0o700)
        // The same file once more, as by a process that writes what it read before.
        let older = try Data(contentsOf: URL(filePath: stage.path))
        try #require(unlink(stage.path) == 0)
        #expect(
            FileManager.default.createFile(atPath: stage.path, contents: older, attributes: [.posixPermissions: 0o600]))
        let count = stage.requests.count
        #expect(process.ask("C").isKnown)
        #expect(stage.requests.count == count)
    }

    /// They are from the future, so they seem newer than all that another process brings.
    @Test func whatAProcessFetchedBeforeTheClockWasSetBackGivesWayToTheFile() {
        let stage = Stage()
        stage.advance(24 * Self.hour)
        let process = stage.process()
        #expect(process.ask("A").isKnown)
        stage.advance(-24 * Self.hour)
        stage.saying = .keys(Keys.set("A", "B", "C"))
        #expect(stage.process().ask("C").isKnown)
        let count = stage.requests.count
        #expect(process.ask("C").isKnown)
        #expect(stage.requests.count == count)
    }

    @Test func whileAnotherFetchesTheUsableKeysAreUsed() throws {
        let stage = Stage()
        _ = stage.process().ask("A")
        stage.advance(Self.hour)
        let first = stage.process()
        _ = first.ask("A")
        // Else the stage would hold itself, and its folder would stay.
        defer { stage.duringFetch = {} }
        stage.duringFetch = {
            let second = stage.process()
            #expect(second.ask("A").isKnown)
            second.refreshIfStale()
        }
        first.refreshIfStale()
        #expect(stage.requests.count == 2)
    }

    @Test func aReaderThatNeedsTheKeysTakesWhatTheHolderOfTheLockFetched() throws {
        let stage = Stage()
        let file = try #require(KeyFile(path: stage.path, maximumSize: KeyRecord.maximumSize))
        var record = KeyRecord(url: Stage.url)
        try record.accept(KeyResponse(status: 200, body: Keys.set("A").json.serialized()), at: stage.now)
        let bytes = record.serialized()
        let isHeld = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            guard let lock = try? file.lock() else { return }
            isHeld.signal()
            usleep(200_000)
            _ = try? lock.replace(with: bytes)
            usleep(200_000)
        }
        isHeld.wait()
        let cache = stage.process()
        #expect(cache.ask("A").isKnown)
        #expect(cache.takeReport().outcome == .refreshed)
        #expect(stage.requests.isEmpty)
    }

    /// Between the decision to fetch and the lock, another process may have come and gone.
    @Test func whoeverGetsTheLockLooksAgainBeforeItFetches() throws {
        let stage = Stage()
        var looks = 0
        let late = try #require(
            KeyCache(
                path: stage.path, url: Stage.url,
                now: {
                    looks += 1
                    if looks == 2 { _ = stage.process().ask("A") }
                    return stage.now
                }, fetch: { _ in KeyResponse(status: 500) }))
        #expect(late.ask("A").isKnown)
        #expect(looks > 2)
        #expect(late.takeReport() == KeyCacheReport(outcome: .refreshed))
        #expect(stage.requests.count == 1)
    }

    @Test func nobodyWaitsForEverForTheHolderOfTheLock() throws {
        let stage = Stage()
        let file = try #require(KeyFile(path: stage.path, maximumSize: KeyRecord.maximumSize))
        guard let held = try file.lock() else { throw KeyFileFault.unwritable(.lock, EWOULDBLOCK) }
        let start = Date()
        #expect(stage.process().ask("A").retryAfter == 1)
        #expect((5.5..<30).contains(Date().timeIntervalSince(start)))
        #expect(stage.requests.isEmpty)
        _ = consume held
    }
}
