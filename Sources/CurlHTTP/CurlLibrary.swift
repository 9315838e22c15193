internal import CurlShim
internal import Glibc

/// libcurl, opened and initialised at the first request of the process and never closed.
enum CurlLibrary {
    /// Nil when it is not installed. Swift initialises it once, whichever thread comes first, as `curl_global_init` wants:
    /// https://curl.se/libcurl/c/curl_global_init.html
    nonisolated(unsafe) static let opened: UnsafePointer<CurlShimLibrary>? = {
        let library = UnsafeMutablePointer<CurlShimLibrary>.allocate(capacity: 1)
        guard unsafe curl_shim_open(library),
            unsafe library.pointee.curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
        else {
            unsafe library.deallocate()
            return nil
        }
        // With CURLOPT_NOSIGNAL libcurl leaves SIGPIPE to the program, and a peer that closes while we write to it would
        // end the process: https://curl.se/libcurl/c/CURLOPT_NOSIGNAL.html
        signal(SIGPIPE, SIG_IGN)
        return unsafe UnsafePointer(library)
    }()

    /// As in 0x075800 for 7.88.0; zero without a library.
    static var version: UInt32 {
        guard let library = unsafe opened, let information = unsafe library.pointee.curl_version_info(CURLVERSION_FIRST)
        else { return 0 }
        return unsafe information.pointee.version_num
    }
}
