#if os(Linux)
@unsafe @preconcurrency internal import Glibc
internal import JOSE
internal import OpenSSLCrypto

extension Platform {
    /// libcurl, OpenSSL, a loopback listener with xdg-open, and a file closed to others.
    package static var linux: Platform {
        Platform(
            transport: CurlTransport(), cryptography: OpenSSLCryptography(), agent: LoopbackAgent(),
            defaultStorage: { try FileTokenStorage() }, now: now)
    }

    private static func now() -> UnixTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return UnixTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
#endif
