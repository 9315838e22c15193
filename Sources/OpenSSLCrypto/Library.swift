internal import JOSE
internal import OpenSSLShim

/// libcrypto as a whole: its start, and its way of reporting errors.
enum Library {
    /// Made ready once a process. When that fails every use of the library is refused.
    static let isReady = openssl_shim_start() == 1

    /// Ends the process when the library did not start, which only an exhausted memory or a broken installation can cause. An
    /// answer would be wrong in either case: a digest of zeros makes all things equal, and "not valid" would blame the token.
    static func require() {
        guard isReady else { fatalError("libcrypto cannot be started") }
    }

    /// SHA-256, fetched once. Kept for the life of the process, so there is nobody to free it; and one that was not found would be
    /// missing for as long.
    nonisolated(unsafe) static let sha256: OpaquePointer = unsafe kept(EVP_MD_fetch(nil, "SHA256", nil))

    /// What every use of the library needs, or the end of the process, as in `require`.
    static func kept(_ fetch: @autoclosure () -> OpaquePointer?) -> OpaquePointer {
        require()
        guard let fetched = unsafe fetch() else { fatalError("libcrypto gives no algorithm") }
        return unsafe fetched
    }

    /// What went wrong, taken at once and where it happened: OpenSSL queues its errors a thread, and one left behind would
    /// be blamed on whoever asks next. The earliest is the cause.
    static func error(_ operation: String) -> CryptographyError {
        let code = ERR_get_error()
        ERR_clear_error()
        return CryptographyError("\(operation): OpenSSL error \(String(code, radix: 16, uppercase: true))")
    }

    /// The error of a verification that failed: it is an answer and not worth a word.
    static func forgetErrors() {
        ERR_clear_error()
    }

    /// A no that libcrypto stands by. It says no as well when it gets no memory, and that no would blame a token for our want. So
    /// what it refuses it is asked once more; and then the process ends, as in `require`, if the cause is not in the arithmetic of
    /// RSA or the curve but in libcrypto's own works, or if there is no memory left: it does not always say why.
    static func affirmed<Answer>(_ ask: () -> Answer?) -> Answer? {
        // What others left, libcurl after a handshake say, is not the cause of this.
        forgetErrors()
        if let answer = ask() ?? ask() {
            forgetErrors()
            return answer
        }
        let cause = ERR_GET_LIB(ERR_get_error())
        forgetErrors()
        guard cause != ERR_LIB_EVP, cause != ERR_LIB_CRYPTO, let spare = unsafe CRYPTO_malloc(enough, nil, 0) else {
            fatalError("libcrypto fails: is it out of memory?")
        }
        unsafe CRYPTO_free(spare, nil, 0)
        return nil
    }

    /// More than any one question here takes of libcrypto, in bytes.
    private static let enough = 65_536
}
