import Glibc

/// What libFuzzer calls, with each input (https://llvm.org/docs/LibFuzzer.html). The environment names the target, so that one
/// program serves all.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard count <= chosenTarget.maximumSize else { return -1 }
    let began = processorMilliseconds()
    do {
        let verdict = try chosenTarget.check(input)
        // libFuzzer's own limit is in whole seconds, and of the wall clock.
        let spent = processorMilliseconds() - began
        guard spent < 300 else { fatalError("took \(spent) ms of the processor for \(count) bytes") }
        return verdict == .interesting ? 0 : -1
    } catch {
        fatalError("\(error)")
    }
}

private let chosenTarget: FuzzTarget = {
    guard let name = getenv("FUZZ_TARGET"), let target = FuzzTarget.named(String(cString: name)) else {
        fatalError("FUZZ_TARGET is none of: \(FuzzTarget.all.map(\.name).joined(separator: " "))")
    }
    return target
}()

private func processorMilliseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}
